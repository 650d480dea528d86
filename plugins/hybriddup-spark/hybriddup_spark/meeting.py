"""Find meetings: pairs of a text of the round and an earlier text that share a key and have near fingerprints.

A task has all texts of some keys. A pair is *sure* if it is compared no matter which posts of the round are kept: the
earlier text is certain to be among the newest of the key when the later one is decided, or, if one of the two has
copies in the round, even at the end of the round. If very many texts with one key are near each other, such as copies
of a template, the key is *crowded*: its pairs are not listed, and its texts are decided together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from hybriddup.data.records import NO_KEY, NO_SKETCHES, SKETCH_WORDS, Bools, Int32s, Int64s, NearPairs, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import differing_bits
from hybriddup.kernels.search.pair_limits import TextColumns, text_columns
from hybriddup.run.audit import COMMON_IN
from hybriddup.run.components import Components
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.steps.candidates.within_batch import group_batch
from hybriddup_spark.blocks import Batches, Task
from hybriddup_spark.columns import bools, distinct, ints, key_lists, longs, table_of
from hybriddup_spark.divided import Earlier
from hybriddup_spark.picking import Parts, is_among
from hybriddup_spark.preparing import counts_characters
from hybriddup_spark.schemas import MEETINGS, MEMBERS, NOTES

SURE, UNSURE, CROWDED, CUT, MEMBER, COMMON = range(6)
"""Kinds of rows in `MEETINGS`: a pair that is sure to be compared; a pair that may not be; a text with a crowded key;
the number of look-ups (as ``earlier``), in one part (as ``key``), of keys with more than ``max_bucket_size`` texts kept
before the round; a text stored under a key whose kept texts may decide which pairs are compared; a text with a key that
at least `hybriddup.run.audit.COMMON_IN` texts have."""
PAIRED = SURE, UNSURE
LATER, EARLIER = COMMON + 1, COMMON + 2
"""More kinds of rows, in `NOTES` only: the position of the later, or of the earlier text of a pair."""
ENTRIES_PER_CALL = 2**16
"""Maximum number of entries compared in one call, unless a single key has more."""
FEWEST_CROWDED = 64
"""A key with up to this many texts of the round is never crowded: all of its pairs are listed."""
MOST_WITH_KEY = 2**16
"""A key with more texts of the round than this is crowded, even if few of them are near each other."""
MOST_NEAR = 64
"""A key is crowded if its texts are near more than this many other texts with the key on average; for keys with few
texts of the round, if more than half as many. For 150,000 notifications from ten templates, a value of 256 would list
five times as many pairs."""
N_SAMPLED = 64
"""Number of texts sampled per key to estimate how many other texts each is near."""


@dataclass(frozen=True)
class Entries:
    """One entry for each text and key, ordered by key, then by position."""

    keys: UInt64s
    positions: Int64s
    is_own: Bools
    is_probe: Bools
    is_repeated: Bools
    columns: TextColumns
    is_new: Bools
    """bool[n]: whether the text is of the round, not a kept text of an earlier round."""

    @classmethod
    def of(cls, components: Components, table: pa.Table, first_new: int) -> Entries:
        """Build from `ENTRIES` and the position of the first post of the round."""
        keys, positions = longs(table, "key").view(np.uint64), longs(table, "position")
        order = np.lexsort((positions, keys))
        own, probe, repeated = (bools(table, name)[order] for name in ("is_own", "is_probe", "is_repeated"))
        columns, is_new = columns_of(components, table).take(order), positions[order] >= first_new
        return cls(keys[order], positions[order], own, probe, repeated & is_new, columns, is_new)

    def take(self, chosen: slice | Int64s) -> Entries:
        """Return the chosen entries."""
        own, probe, repeated = (column[chosen] for column in (self.is_own, self.is_probe, self.is_repeated))
        columns = self.columns.take(chosen)
        return Entries(self.keys[chosen], self.positions[chosen], own, probe, repeated, columns, self.is_new[chosen])

    def key_bounds(self) -> Int64s:
        """Return int64[n_keys + 1]: the index of the first entry of each key, then the number of entries."""
        return np.concatenate([[0], np.flatnonzero(np.diff(self.keys)) + 1, [len(self.keys)]]).astype(np.int64)


def columns_of(components: Components, table: pa.Table) -> TextColumns:
    """Convert the columns ``length``, ``bits`` and ``sketch`` of a table to the arrays that stage 1 compares."""
    lengths = ints(table, "length")
    n_words = components.settings.fingerprint.bits // 64
    bits = key_lists(table, "bits")[0].reshape(-1, n_words)
    sketches = NO_SKETCHES
    if counts_characters(components):
        sketches = key_lists(table, "sketch")[0].reshape(-1, SKETCH_WORDS)
    return text_columns(bits, components.bands.limits_of(lengths), sketches)


def find_meetings(
    components: Components, entries: pa.Table, earlier: Earlier, parts: Parts, *, is_last: bool
) -> pa.Table:
    """Pair the texts of a round with each other and with texts kept before; return `MEETINGS`.

    Parameters
    ----------
    entries
        `ENTRIES` of some keys, of this and all earlier rounds.
    parts
        Partitions the result: pairs by their earlier text, other rows by their text.
    is_last
        Whether no round follows; then the result includes `COMMON` texts.
    """
    some = with_keys_of_round(entries, earlier)
    own_part = longs(entries, "part")[:1].view(np.uint64)
    found = met(components, Entries.of(components, some, earlier.first), own_part)
    if is_last:
        common = with_common_keys(entries, earlier)
        found = pa.concat_tables([found, _meetings(common, common, np.zeros(len(common), np.uint64), common, COMMON)])
    at = np.where(np.isin(longs(found, "kind"), PAIRED), longs(found, "earlier"), longs(found, "later"))
    return found.set_column(0, "part", pa.array(parts.of(at.view(np.uint64)), pa.int32()))


def with_keys_of_round(entries: pa.Table, earlier: Earlier) -> pa.Table:
    """Return the entries of the round, and the entries of kept texts whose keys occur in the round."""
    positions, keys = longs(entries, "position"), longs(entries, "key")
    is_new = positions >= earlier.first
    if is_new.all():
        return entries
    is_found = earlier.stay(positions) & bools(entries, "is_own")
    is_found[is_found] = is_among(keys[is_found], np.sort(keys[is_new]))
    return entries.filter(pa.array(is_new | is_found))


def with_common_keys(entries: pa.Table, earlier: Earlier) -> Int64s:
    """Return the positions of texts with a key that `COMMON_IN` or more different texts have, without removed ones."""
    keys, is_own = longs(entries, "key"), bools(entries, "is_own")
    found, n_texts = np.unique(keys[is_own], return_counts=True)
    may_be_common = is_own & is_among(keys, found[n_texts >= COMMON_IN])
    own = entries.select(["key", "position", "bits"]).filter(pa.array(may_be_common))
    if not len(own):
        return np.zeros(0, np.int64)
    bits = key_lists(own, "bits")[0].reshape(len(own), -1)
    keys, positions = longs(own, "key"), longs(own, "position")
    order = np.lexsort((*bits.T, keys))
    is_other = np.ones(len(order), np.bool_)  # a removed text may come again in a later round
    is_other[1:] = (np.diff(keys[order]) != 0) | (bits[order][1:] != bits[order][:-1]).any(axis=1)
    found, n_texts = np.unique(keys[order][is_other], return_counts=True)
    is_common = is_among(keys, found[n_texts >= COMMON_IN])
    return distinct(positions[is_common & ((positions >= earlier.first) | earlier.stay(positions))])


def met(components: Components, entries: Entries, part: UInt64s) -> pa.Table:
    """Return the `MEETINGS` of the entries of one part, whose number is in ``part``, uint64[1]; not partitioned yet."""
    most = components.block_index.max_bucket_size
    entries, n_cut = without_oldest(entries, most)
    nothing = np.zeros(1, np.int64)
    found = [_meetings(nothing, nothing + n_cut, part, nothing, CUT)]
    for some in slices(entries):
        crowded = crowded_keys(some)
        found.append(_noted(some, crowded & some.is_new, CROWDED))
        found.append(_noted(some, (crowded | may_be_cut(some, most)) & some.is_own, MEMBER))
        found.append(pairs_in(some.take(np.flatnonzero(~crowded)) if crowded.any() else some, most))
    return pa.concat_tables(found)


def notes_of(batches: Batches) -> Batches:
    """Summarize `MEETINGS` for the driver, as `NOTES`.

    These are the `LATER` and `EARLIER` texts of pairs, the texts with `CROWDED` and with `COMMON` keys, and the number
    (as ``position``) of `CUT` look-ups in each part (as ``key``).
    """
    needed: dict[int, list[Int64s]] = {LATER: [], EARLIER: [], COMMON: []}
    for batch in batches:
        kinds, later, earlier, keys = (longs(batch, name) for name in ("kind", "later", "earlier", "key"))
        is_pair, is_crowded, is_cut = np.isin(kinds, PAIRED), kinds == CROWDED, kinds == CUT
        needed[LATER].append(distinct(later[is_pair]))
        needed[EARLIER].append(distinct(earlier[is_pair]))
        needed[COMMON].append(distinct(later[kinds == COMMON]))
        yield _notes(CROWDED, later[is_crowded], keys[is_crowded])
        yield _notes(CUT, earlier[is_cut], keys[is_cut])
    for kind, found in needed.items():
        positions = distinct(np.concatenate([np.zeros(0, np.int64), *found]))
        yield _notes(kind, positions, np.zeros(len(positions), np.int64))


def _notes(kind: int, positions: Int64s, keys: Int64s) -> pa.RecordBatch:
    columns = np.full(len(positions), kind, np.int8), positions, keys
    return pa.record_batch([pa.array(column) for column in columns], schema=NOTES)


def members_of(keys: Int64s) -> Task:
    """Return a task that selects from `MEETINGS` the texts stored under ``keys``, int64[n] ascending, as `MEMBERS`."""

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            is_wanted = (longs(batch, "kind") == MEMBER) & is_among(longs(batch, "key"), keys)
            some = batch.filter(pa.array(is_wanted))
            yield pa.record_batch([some.column("later"), some.column("key")], schema=MEMBERS)

    return pick


def without_oldest(entries: Entries, most: int) -> tuple[Entries, int]:
    """Drop kept texts that are not among the newest ``most`` of their key; also count the look-ups that this affects.

    If ``most`` is 0, nothing is dropped.
    """
    if not most or not len(entries.keys):
        return entries, 0
    bounds = entries.key_bounds()
    is_old = ~entries.is_new & entries.is_own
    n_of_key = np.repeat(np.add.reduceat(is_old.astype(np.int64), bounds[:-1]), np.diff(bounds))
    before_key: Int64s = np.repeat((np.cumsum(is_old) - is_old)[bounds[:-1]], np.diff(bounds))
    number: Int64s = np.cumsum(is_old) - before_key
    stays = entries.is_new | (n_of_key - number < most)
    n_cut = int((entries.is_new & entries.is_probe & (n_of_key > most)).sum())
    return entries if stays.all() else entries.take(np.flatnonzero(stays)), n_cut


def slices(entries: Entries) -> Iterator[Entries]:
    """Yield slices of up to `ENTRIES_PER_CALL` entries, without splitting a key; a larger key is a slice of its own."""
    bounds = entries.key_bounds()
    first = 0
    while first < len(entries.keys):
        at = int(np.searchsorted(bounds, first + ENTRIES_PER_CALL, side="right")) - 1
        last = int(bounds[at]) if bounds[at] > first else int(bounds[at + 1])
        yield entries.take(slice(first, last))
        first = last


def crowded_keys(entries: Entries) -> Bools:
    """Return bool[n]: whether each entry has a crowded key."""
    crowded = np.zeros(len(entries.keys), np.bool_)
    bounds = entries.key_bounds()
    n_new = np.add.reduceat(entries.is_new.astype(np.int64), bounds[:-1]) if len(entries.keys) else bounds[:0]
    for key in np.flatnonzero(n_new > FEWEST_CROWDED).tolist():
        part = slice(int(bounds[key]), int(bounds[key + 1]))
        most_near = min(MOST_NEAR, n_new[key] // 2)
        crowded[part] = n_new[key] > MOST_WITH_KEY or n_near_one(entries.take(part)) > most_near
    return crowded


def may_be_cut(entries: Entries, most: int) -> Bools:
    """Return bool[n]: whether each entry's key would have more than ``most`` texts if all of them were kept."""
    if not most or not len(entries.keys):
        return np.zeros(len(entries.keys), np.bool_)
    bounds = entries.key_bounds()
    n_own = np.add.reduceat(entries.is_own.astype(np.int64), bounds[:-1])
    return np.asarray(np.repeat(n_own > most, np.diff(bounds)))


def n_near_one(entries: Entries) -> float:
    """Estimate how many other entries an entry is near, on average, if all have the same key."""
    n = len(entries.keys)
    sampled = np.arange(min(N_SAMPLED, n)) * n // min(N_SAMPLED, n)
    return count_near(entries.columns.bits, entries.columns.max_distances, sampled) / len(sampled)


@njit(cache=True, nogil=True)
def count_near(bits: UInt64s, limits: Int32s, sampled: Int64s) -> int:
    """Count the pairs of a text in ``sampled`` and another text whose distance is within the larger of their limits."""
    n_near = 0
    for row in sampled:
        for other in range(len(bits)):
            n_near += differing_bits(bits, row, bits, other) <= max(limits[row], limits[other])
    return n_near - len(sampled)


def pairs_in(entries: Entries, most: int) -> pa.Table:
    """Return the pairs of entries that share a key and have near fingerprints, as `MEETINGS`.

    Pairs are sure if fewer than ``most`` kept texts can be between them; with 0, all are.
    """
    if len(entries.keys) < 2:
        return _none()
    order = np.argsort(entries.positions, kind="stable")
    places, entries = Places.of(entries).take(order), entries.take(order)
    own = probed = entries.keys[:, None]
    if not (entries.is_own.all() and entries.is_probe.all()):
        own = np.where(entries.is_own[:, None], own, np.uint64(NO_KEY))
        probed = np.where(entries.is_probe[:, None], probed, np.uint64(NO_KEY))
    batch = Batch(entries.positions, own, probed, entries.columns, np.arange(len(order)))
    rows = np.flatnonzero(entries.is_new & entries.is_probe)
    if not len(rows):
        return _none()
    near = group_batch(batch).compare(rows, BlockReport(), 1)
    near = near.take(entries.positions[near.earlier] != entries.positions[near.later])
    is_sure = np.ones(len(near.later), np.bool_) if not most else n_between(entries, places, near) < most
    earlier, later = entries.positions[near.earlier], entries.positions[near.later]
    keys = entries.keys[near.later]
    return _meetings(later, earlier, keys, near.distances, np.where(is_sure, SURE, UNSURE))


class Places(NamedTuple):
    """Numbers of stored entries before and after each entry, within its key."""

    n_behind: Int64s
    """int64[n]: number of stored entries after each entry."""
    n_repeated_before: Int64s
    """int64[n]: number of stored entries before each entry whose texts have later copies in the round."""

    @classmethod
    def of(cls, entries: Entries) -> Places:
        """Count stored entries around each of ``entries``, which are ordered by key, then by position."""
        bounds = entries.key_bounds()
        firsts, sizes = bounds[:-1], np.diff(bounds)
        upto, repeated = np.cumsum(entries.is_own), entries.is_own & entries.is_repeated
        n_before: Int64s = np.cumsum(repeated) - repeated
        return cls(np.repeat(upto[bounds[1:] - 1], sizes) - upto, n_before - np.repeat(n_before[firsts], sizes))

    def take(self, order: Int64s) -> Places:
        """Return the numbers for the entries at ``order``."""
        return Places(self.n_behind[order], self.n_repeated_before[order])


def n_between(entries: Entries, places: Places, near: NearPairs) -> Int64s:
    """Return int64[n_pairs]: the maximum number of kept texts between the texts of each pair, under their shared key.

    A text with copies later in the round may be kept at the position of one of them. If either text of a pair has such
    copies, the copies may meet the other text at their own positions: then all entries after the earlier text count.
    """
    behind_later = places.n_behind + entries.is_own
    is_repeated = entries.is_repeated[near.later] | entries.is_repeated[near.earlier]
    n_behind = places.n_behind[near.earlier] - np.where(is_repeated, 0, behind_later[near.later])
    return np.asarray(n_behind + places.n_repeated_before[near.earlier])


def _noted(entries: Entries, chosen: Bools, kind: int) -> pa.Table:
    """Return the texts and keys of the chosen entries as rows of `MEETINGS` of the given kind."""
    nothing = np.full(int(chosen.sum()), -1)
    return _meetings(entries.positions[chosen], nothing, entries.keys[chosen], nothing, kind)


def _meetings(later: Int64s, earlier: Int64s, keys: UInt64s, distances: object, kinds: object) -> pa.Table:
    n = len(later)
    return table_of(
        MEETINGS,
        part=np.zeros(n, np.int32),
        later=later,
        earlier=earlier,
        key=keys.view(np.int64),
        distance=np.asarray(distances, np.int32),
        kind=np.broadcast_to(np.asarray(kinds, np.int8), n).copy(),
    )


def _none() -> pa.Table:
    return MEETINGS.empty_table()
