"""Which texts of a round meet: they share a key with an earlier text and are within its limits.

A task has all texts of some keys. A pair is *sure* where the earlier text is among the newest of the key when the later
one comes, whatever is kept of the round; and until the round ends, where copies will be looked up. Where texts that
share a key are near one another in masses, such as copies of a template, their pairs are not listed: the key is
*crowded*, and its texts are decided together.
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

SURE, UNSURE, CROWDED, CUT, MEMBER = range(5)
"""Kinds of what is noted: pairs, the earlier of which is or may not be looked at; that a text has a crowded key; in the
place of the earlier text, how many looks met keys of which more than ``max_bucket_size`` texts were kept before the
round, and in that of the key the part; and that a text can be found by a key of which it may matter what is kept."""
PAIRED = SURE, UNSURE
LATER, EARLIER = MEMBER + 1, MEMBER + 2
"""Kinds of notes: positions of texts that pairs need."""
ENTRIES_AT_A_TIME = 2**16
"""What is compared in one call, but for a key with more."""
FEWEST_CROWDED = 256
"""Texts of a round with a key, from which on it may be crowded."""
MOST_WITH_KEY = 2**16
"""A key of so many texts of a round is crowded, however few of them are near."""
MOST_NEAR = 64
"""A key is crowded where a text is near so many others that have it, on average."""
N_SAMPLED = 64
"""Texts of a key by which that is estimated."""


@dataclass(frozen=True)
class Entries:
    """Texts under their keys, by key, then by position."""

    keys: UInt64s
    positions: Int64s
    is_own: Bools
    is_probe: Bools
    is_repeated: Bools
    columns: TextColumns
    is_new: Bools
    """bool[n]: which are of the round; the others are kept texts of earlier ones."""

    @classmethod
    def of(cls, components: Components, table: pa.Table, first_new: int) -> Entries:
        """Return `ENTRIES`, given the position of the first post of the round."""
        keys, positions = longs(table, "key").view(np.uint64), longs(table, "position")
        order = np.lexsort((positions, keys))
        own, probe, repeated = (bools(table, name)[order] for name in ("is_own", "is_probe", "is_repeated"))
        columns, is_new = columns_of(components, table).take(order), positions[order] >= first_new
        return cls(keys[order], positions[order], own, probe, repeated & is_new, columns, is_new)

    def take(self, chosen: slice | Int64s) -> Entries:
        """Return some of them."""
        own, probe, repeated = (column[chosen] for column in (self.is_own, self.is_probe, self.is_repeated))
        columns = self.columns.take(chosen)
        return Entries(self.keys[chosen], self.positions[chosen], own, probe, repeated, columns, self.is_new[chosen])

    def key_bounds(self) -> Int64s:
        """Return int64[n_keys + 1]: where each key begins, and the end."""
        return np.concatenate([[0], np.flatnonzero(np.diff(self.keys)) + 1, [len(self.keys)]]).astype(np.int64)


def columns_of(components: Components, table: pa.Table) -> TextColumns:
    """Return what stage 1 goes by, given the columns ``length``, ``bits`` and ``sketch``."""
    lengths = ints(table, "length")
    n_words = components.settings.fingerprint.bits // 64
    bits = key_lists(table, "bits")[0].reshape(-1, n_words)
    sketches = NO_SKETCHES
    if counts_characters(components):
        sketches = key_lists(table, "sketch")[0].reshape(-1, SKETCH_WORDS)
    return text_columns(bits, components.bands.limits_of(lengths), sketches)


def find_meetings(components: Components, entries: pa.Table, earlier: Earlier, parts: Parts) -> pa.Table:
    """Return the `MEETINGS` of the texts of a round with each other and with those kept before.

    Parameters
    ----------
    entries
        `ENTRIES` of some keys, of this round and of all before.
    parts
        What pairs are dealt to, by earlier text.
    """
    some = that_may_meet(entries, earlier)
    own_part = longs(entries, "part")[:1].view(np.uint64)
    found = met(components, Entries.of(components, some, earlier.first), own_part)
    at = np.where(np.isin(longs(found, "kind"), PAIRED), longs(found, "earlier"), longs(found, "later"))
    return found.set_column(0, "part", pa.array(parts.of(at.view(np.uint64)), pa.int32()))


def that_may_meet(entries: pa.Table, earlier: Earlier) -> pa.Table:
    """Return the entries of the round, and those of kept texts under keys that some of the round has."""
    positions, keys = longs(entries, "position"), longs(entries, "key")
    is_new = positions >= earlier.first
    if is_new.all():
        return entries
    is_found = earlier.stay(positions) & bools(entries, "is_own")
    is_found[is_found] = is_among(keys[is_found], np.sort(keys[is_new]))
    return entries.filter(pa.array(is_new | is_found))


def met(components: Components, entries: Entries, part: UInt64s) -> pa.Table:
    """Return the `MEETINGS` of the entries of a part, uint64[1], dealt to no parts."""
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
    """Yield what the driver has to know of some `MEETINGS`, as `NOTES`.

    That is which texts pairs need: `LATER` and `EARLIER` ones; which texts have which `CROWDED` keys; and how often
    keys were `CUT`, in the place of a position, and in which part.
    """
    needed: dict[int, list[Int64s]] = {LATER: [], EARLIER: []}
    for batch in batches:
        kinds, later, earlier, keys = (longs(batch, name) for name in ("kind", "later", "earlier", "key"))
        is_pair, is_crowded, is_cut = np.isin(kinds, PAIRED), kinds == CROWDED, kinds == CUT
        needed[LATER].append(distinct(later[is_pair]))
        needed[EARLIER].append(distinct(earlier[is_pair]))
        yield _notes(CROWDED, later[is_crowded], keys[is_crowded])
        yield _notes(CUT, earlier[is_cut], keys[is_cut])
    for kind, found in needed.items():
        positions = distinct(np.concatenate([np.zeros(0, np.int64), *found]))
        yield _notes(kind, positions, np.zeros(len(positions), np.int64))


def _notes(kind: int, positions: Int64s, keys: Int64s) -> pa.RecordBatch:
    columns = np.full(len(positions), kind, np.int8), positions, keys
    return pa.record_batch([pa.array(column) for column in columns], schema=NOTES)


def members_of(keys: Int64s) -> Task:
    """Return what makes `MEMBERS` of `MEETINGS`: which texts can be found by some keys, int64[n] rising."""

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            is_wanted = (longs(batch, "kind") == MEMBER) & is_among(longs(batch, "key"), keys)
            some = batch.filter(pa.array(is_wanted))
            yield pa.record_batch([some.column("later"), some.column("key")], schema=MEMBERS)

    return pick


def without_oldest(entries: Entries, most: int) -> tuple[Entries, int]:
    """Return the entries without kept texts that are no longer looked at; and how many looks that concerns."""
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
    """Yield all entries, those of a key together."""
    bounds = entries.key_bounds()
    first = 0
    while first < len(entries.keys):
        at = int(np.searchsorted(bounds, first + ENTRIES_AT_A_TIME, side="right")) - 1
        last = int(bounds[at]) if bounds[at] > first else int(bounds[at + 1])
        yield entries.take(slice(first, last))
        first = last


def crowded_keys(entries: Entries) -> Bools:
    """Return bool[n]: which entries are of crowded keys."""
    crowded = np.zeros(len(entries.keys), np.bool_)
    bounds = entries.key_bounds()
    n_new = np.add.reduceat(entries.is_new.astype(np.int64), bounds[:-1]) if len(entries.keys) else bounds[:0]
    for key in np.flatnonzero(n_new > FEWEST_CROWDED).tolist():
        part = slice(int(bounds[key]), int(bounds[key + 1]))
        crowded[part] = n_new[key] > MOST_WITH_KEY or n_near_one(entries.take(part)) > MOST_NEAR
    return crowded


def may_be_cut(entries: Entries, most: int) -> Bools:
    """Return bool[n]: which entries are of keys with more texts than are looked at, if all of them are kept."""
    if not most or not len(entries.keys):
        return np.zeros(len(entries.keys), np.bool_)
    bounds = entries.key_bounds()
    n_own = np.add.reduceat(entries.is_own.astype(np.int64), bounds[:-1])
    return np.asarray(np.repeat(n_own > most, np.diff(bounds)))


def n_near_one(entries: Entries) -> float:
    """Return about how many entries of one key are near one of them, on average."""
    n = len(entries.keys)
    sampled = np.arange(min(N_SAMPLED, n)) * n // min(N_SAMPLED, n)
    return count_near(entries.columns.bits, entries.columns.max_distances, sampled) / len(sampled)


@njit(cache=True, nogil=True)
def count_near(bits: UInt64s, limits: Int32s, sampled: Int64s) -> int:
    """Return how many pairs of a sampled text and another are within the larger limit of the two."""
    n_near = 0
    for row in sampled:
        for other in range(len(bits)):
            n_near += differing_bits(bits, row, bits, other) <= max(limits[row], limits[other])
    return n_near - len(sampled)


def pairs_in(entries: Entries, most: int) -> pa.Table:
    """Return the pairs of entries that share a key, as `MEETINGS`."""
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
    near = group_batch(batch).pairs(rows, BlockReport(), 1)
    near = near.take(entries.positions[near.earlier] != entries.positions[near.later])
    is_sure = np.ones(len(near.later), np.bool_) if not most else n_between(entries, places, near) < most
    earlier, later = entries.positions[near.earlier], entries.positions[near.later]
    keys = entries.keys[near.later]
    return _meetings(later, earlier, keys, near.distances, np.where(is_sure, SURE, UNSURE))


class Places(NamedTuple):
    """Where entries stand under their keys, among those that others can find."""

    n_behind: Int64s
    """int64[n]: such entries behind each."""
    n_repeated_before: Int64s
    """int64[n]: such entries before each, of texts that come again in the round."""

    @classmethod
    def of(cls, entries: Entries) -> Places:
        """Return the places of entries, by key, then by position."""
        bounds = entries.key_bounds()
        firsts, sizes = bounds[:-1], np.diff(bounds)
        upto, repeated = np.cumsum(entries.is_own), entries.is_own & entries.is_repeated
        n_before: Int64s = np.cumsum(repeated) - repeated
        return cls(np.repeat(upto[bounds[1:] - 1], sizes) - upto, n_before - np.repeat(n_before[firsts], sizes))

    def take(self, order: Int64s) -> Places:
        """Return some of them."""
        return Places(self.n_behind[order], self.n_repeated_before[order])


def n_between(entries: Entries, places: Places, near: NearPairs) -> Int64s:
    """Return int64[n_pairs]: how many texts may be kept between the two of each pair, under the key that they share.

    Of a text that comes again, it may be a later copy that is kept. Where one of the two comes again, its copies meet
    the other one, or what it matches, where they stand: then all behind the earlier one counts.
    """
    behind_later = places.n_behind + entries.is_own
    is_repeated = entries.is_repeated[near.later] | entries.is_repeated[near.earlier]
    n_behind = places.n_behind[near.earlier] - np.where(is_repeated, 0, behind_later[near.later])
    return np.asarray(n_behind + places.n_repeated_before[near.earlier])


def _noted(entries: Entries, chosen: Bools, kind: int) -> pa.Table:
    """Return some entries, by their texts and keys, as `MEETINGS`."""
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
