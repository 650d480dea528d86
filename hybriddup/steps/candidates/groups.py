"""Groups: the texts of a run with the same block key form a numbered group, so that a look-up needs no hashing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt32s, UInt64s, UInts
from hybriddup.kernels.search.key_groups import (
    NO_GROUP,
    DealtKeys,
    deal_keys,
    find_groups,
    groups_of_texts,
    list_groups,
    note_keys,
    number_keys,
    renumber_groups,
    texts_in_marked,
    write_groups,
)
from hybriddup.kernels.search.rings import Rings, make_rings
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.parallel import map_threads

TEXTS_PER_SLICE = 2**15
"""Number of texts whose keys are partitioned together."""
TEXTS_PER_BATCH = 4096
"""Number of texts whose keys are computed together if ``n_keys`` is fixed: few enough for the CPU cache."""
FEWEST_PER_SLICE = 512
"""Minimum number of texts for which one thread computes the keys."""
KEYS_PER_PART = 2**15
"""Approximate number of keys per radix partition: few enough that a partition's hash table fits into the CPU cache."""
MOST_PART_BITS = 14
MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier that spreads keys over the high bits, which select the partition of a key."""


class KeyTable(NamedTuple):
    """A hash map from key to group, used if texts are looked up by other keys than their own."""

    keys: UInt64s
    """uint64[n_slots]: the key in each slot, `NO_KEY` if the slot is empty."""
    numbers: UInt32s
    """uint32[n_slots]: the group of the key in each slot, `NO_GROUP` if the slot is empty."""


@dataclass
class Groups:
    """The groups of all texts of a run; a group is the texts with one block key."""

    own: UInt32s
    """uint32[n_listed]: the groups of all texts, concatenated."""
    ends: UInt32s
    """uint32[n + 1]: the groups of text ``i`` are ``own[ends[i]:ends[i + 1]]``."""
    sizes: UInt32s
    """uint32[n_groups]: number of texts in each group; empty after `lay_out`."""
    table: KeyTable | None = None
    """Maps keys to groups; None if texts are looked up by their own keys."""
    scopes: Int64s | None = None
    """int64[n]: scope of each text; texts of different scopes share no key. None = there is one scope."""

    def of(self, numbers: Int64s) -> UInt32s:
        """Return uint32[n, m]: the groups of the texts at the indices ``numbers``, int64[n], padded with `NO_GROUP`."""
        return groups_of_texts(self.own, self.ends, numbers, self._width)

    def probed(self, index: BlockIndex, numbers: Int64s, texts: Sequence[str], bits: UInt64s) -> UInt32s:
        """Return uint32[n, m]: the groups in which to search for candidates of each text.

        ``numbers``: int64[n], the indices of these texts among all grouped ones. ``bits``: their fingerprints.
        """
        if self.table is None:
            return self.of(numbers)
        scopes = None if self.scopes is None else self.scopes[numbers]
        return find_groups(within_scopes(index.probes(index.keys(texts, bits), bits), scopes), *self.table)

    def with_common_keys(self, common_in: int) -> Bools:
        """Return bool[n]: whether each text has a key that at least ``common_in`` texts have. Call before `lay_out`."""
        return texts_in_marked(self.own, self.ends, self.sizes >= common_in)

    def lay_out(self, most: int) -> tuple[Rings, Bools]:
        """Allocate an empty ring buffer for each group, with room for all texts of the group, but at most ``most``.

        Also return bool[n]: whether each text is in a group of more than ``most`` texts. To save memory, groups are
        renumbered in place: from now on, a group's number is the offset of its ring buffer.
        """
        n_texts, sizes = len(self.ends) - 1, self.sizes
        rings, starts = make_rings(sizes, n_texts, most)
        is_crowded = renumber_groups(self.own, self.ends, starts, sizes > most)
        if self.table is not None:
            of_keys = self.table.numbers
            of_keys[of_keys != NO_GROUP] = starts[of_keys[of_keys != NO_GROUP]]
        self.sizes = sizes[:0].copy()
        return rings, is_crowded

    @cached_property
    def _width(self) -> int:
        return int(np.diff(self.ends).max(initial=0))


def group_texts(
    index: BlockIndex,
    texts: Sequence[str],
    bits: UInt64s,
    is_near: Bools,
    workers: int,
    scopes: Int64s | None = None,
    *,
    texts_per_slice: int = TEXTS_PER_SLICE,
) -> Groups:
    """Compute the keys of texts and group them, in ``workers`` threads.

    ``bits``: uint64[n, words], the fingerprints. ``is_near``: bool[n], whether each text could be a near repeat; only
    these texts get keys. ``scopes``: int64[n]; two texts of different scopes share no key. A key that only one text has
    gets no group, unless ``index`` looks texts up by other keys than their own.
    """

    def keys_of_batch(first: int, last: int) -> UInt64s:
        part = slice(first, last)
        keys = within_scopes(index.keys(texts[part], bits[part]), None if scopes is None else scopes[part])
        return keys if is_near[part].all() else np.where(is_near[part, None], keys, np.uint64(NO_KEY))

    def keys_of(first: int, last: int) -> UInt64s:
        if index.n_keys is None:
            return keys_of_batch(first, last)
        keys = np.full((last - first, index.n_keys), NO_KEY, np.uint64)
        for start in range(first, last, TEXTS_PER_BATCH):
            some = keys_of_batch(start, min(start + TEXTS_PER_BATCH, last))
            keys[start - first : start - first + len(some), : some.shape[1]] = some
        return keys

    groups = group_keys(
        keys_of,
        len(texts),
        workers,
        is_probed=index.probes_others,
        n_keys=index.n_keys,
        key_bits=64 if scopes is not None else index.key_bits,
        texts_per_slice=min(texts_per_slice, max(len(texts) // (2 * workers), FEWEST_PER_SLICE)),
    )
    return replace(groups, scopes=scopes)


def group_keys(
    keys_of: Callable[[int, int], UInt64s],
    n_texts: int,
    workers: int,
    *,
    is_probed: bool,
    n_keys: int | None = None,
    key_bits: int = 64,
    texts_per_slice: int = TEXTS_PER_SLICE,
) -> Groups:
    """Group texts by key, calling ``keys_of`` for the keys of one slice of the texts at a time.

    Parameters
    ----------
    keys_of
        ``keys_of(first, last)`` returns uint64[n, m]: the keys of texts ``first`` to ``last - 1``. It is called from
        several threads, and twice for each slice if ``is_probed``.
    is_probed
        Whether texts are looked up by other keys than their own. If not, a key that only one text has gets no group.
    n_keys, key_bits
        Number of keys per text (None = varies between slices); all keys except `NO_KEY` are below ``2**key_bits``.
    """
    bounds = [(first, min(first + texts_per_slice, n_texts)) for first in range(0, n_texts, texts_per_slice)]
    part_bits = min(max((8 * n_texts // KEYS_PER_PART).bit_length(), 1), MOST_PART_BITS)
    if n_keys is None:
        keys_of, n_keys = with_one_width(keys_of, bounds, workers)
    # one large piece goes back to the system when it is freed; many small pieces would stay with the process
    own = np.empty((n_texts, n_keys), np.uint32)
    room: UInts = np.empty(own.shape, np.uint32 if key_bits <= 32 else np.uint64)

    def deal_slice(some: tuple[int, int]) -> tuple[DealtKeys, UInt32s]:
        groups = own[slice(*some)]
        return deal_keys(keys_of(*some), part_bits, room[slice(*some)].ravel(), groups.ravel()), groups

    dealt = list(map_threads(deal_slice, bounds, workers))
    sizes = number_all(dealt, workers, fewest=1 if is_probed else 2)
    dealt.clear()
    room = room[:0].copy()  # freed before the next step needs as much memory
    if not is_probed:
        return Groups(*list_groups(own), sizes)
    n_places = 1 << max(int(2 * len(sizes)).bit_length(), 1)
    table = KeyTable(np.full(n_places, NO_KEY, np.uint64), np.full(n_places, NO_GROUP, np.uint32))
    for some in bounds:
        note_keys(keys_of(*some), own[slice(*some)], *table)
    return Groups(*list_groups(own), sizes, table)


def with_one_width(
    keys_of: Callable[[int, int], UInt64s], bounds: Sequence[tuple[int, int]], workers: int
) -> tuple[Callable[[int, int], UInt64s], int]:
    """Compute all keys in advance, padded to the same number per text.

    Returns two values: a replacement for ``keys_of``, which returns the padded keys, and the number of keys per text.
    """
    made = list(map_threads(lambda some: keys_of(*some), bounds, workers))
    n_keys = max((keys.shape[1] for keys in made), default=0)
    pads = ([(0, 0), (0, n_keys - keys.shape[1])] for keys in made)
    padded = [np.pad(keys, pad, constant_values=np.uint64(NO_KEY)) for keys, pad in zip(made, pads, strict=True)]
    keys_from = {first: keys for (first, _), keys in zip(bounds, padded, strict=True)}
    return lambda first, _: keys_from[first], n_keys


def within_scopes(keys: UInt64s, scopes: Int64s | None) -> UInt64s:
    """Return uint64[n, m]: the keys of each text, mixed with its scope; without scopes, the keys unchanged.

    Keys of different scopes are equal only with probability 2**-64.
    """
    if scopes is None:
        return keys

    def mixed(numbers: UInt64s) -> UInt64s:
        products = numbers * MIXER
        return products ^ (products >> np.uint64(32))

    marks = mixed(mixed(scopes.astype(np.uint64) + np.uint64(1)))[:, None]
    return np.where(keys == np.uint64(NO_KEY), keys, mixed(keys ^ marks))


def number_all(dealt: list[tuple[DealtKeys, UInt32s]], workers: int, *, fewest: int) -> UInt32s:
    """Assign a group to each distinct key, and write the groups of all texts; return uint32[n_groups]: group sizes.

    ``dealt`` has, for each slice of the texts, the partitioned keys, which are overwritten, and the output array of
    groups, uint32[n_texts, n_keys]. Keys of fewer than ``fewest`` texts get no group.
    """

    def number_part(part: int) -> UInt32s:
        keys = [slice_.keys[slice_.bounds[part] : slice_.bounds[part + 1]] for slice_, _ in dealt]
        numbers, sizes = number_keys(np.concatenate(keys), fewest)
        first = 0
        for of_slice in keys:
            of_slice[:] = numbers[first : first + len(of_slice)]
            first += len(of_slice)
        return sizes

    n_parts = len(dealt[0][0].bounds) - 1 if dealt else 0
    sizes = list(map_threads(number_part, range(n_parts), workers))
    first_groups = np.cumsum([0, *map(len, sizes)])

    def write_slice(some: tuple[DealtKeys, UInt32s]) -> None:
        write_groups(some[0], first_groups, some[1])

    list(map_threads(write_slice, dealt, workers))
    return np.concatenate([np.zeros(0, np.uint32), *sizes])
