"""Equal keys of many texts get one number: their *group*. Numbers need no hashing when they are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

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

TEXTS_A_SLICE = 2**15
"""Texts whose keys are dealt at a time: all keys together, before they are numbered, take 8 or 12 bytes each."""
TEXTS_A_BATCH = 4096
"""Texts whose keys are made at a time where it is known how many there are: what that takes stays in the cache."""
FEWEST_A_SLICE = 512
"""Texts whose keys are worth a thread."""
KEYS_A_PART = 2**15
"""About so many keys are numbered at a time: their table stays in the cache, and calls take less than the work."""
MOST_PART_BITS = 14
MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number of many bits: numbers multiplied by it differ in their high bits too, by which keys are dealt out."""


@dataclass(frozen=True)
class KeyTable:
    """The group of each key, for texts that are looked up by other keys than their own."""

    keys: UInt64s
    numbers: UInt32s
    """As `hybriddup.kernels.search.key_groups.note_keys` fills them."""

    def groups(self, keys: UInt64s) -> UInt32s:
        """Return uint32[n, m]: the group of each key, `NO_GROUP` where no text has it."""
        groups: UInt32s = find_groups(keys, self.keys, self.numbers)
        return groups


@dataclass
class Groups:
    """The groups of all texts of a run."""

    own: UInt32s
    ends: UInt32s
    """Those of each text, as `hybriddup.kernels.search.key_groups.list_groups` returns them."""
    sizes: UInt32s
    """uint32[n_groups]: texts in each; of none once rings are laid out."""
    table: KeyTable | None = None
    """None = texts are looked up by their own keys."""
    scopes: Int64s | None = None
    """int64[n]: of each text; texts of several scopes share no key. None = all are of one."""

    def of(self, numbers: Int64s) -> UInt32s:
        """Return uint32[n, m]: the groups of some texts, `NO_GROUP` after those of each."""
        found: UInt32s = groups_of_texts(self.own, self.ends, numbers, self._width)
        return found

    def with_common_keys(self, common_in: int) -> Bools:
        """Return bool[n]: which texts have a key that ``common_in`` texts or more have; before rings are laid out."""
        return texts_in_marked(self.own, self.ends, self.sizes >= common_in)

    def lay_out(self, most: int) -> tuple[Rings, Bools]:
        """Return empty rings, one a group, and bool[n]: which texts have a group of more than ``most`` texts.

        No ring has room for more of them. From now on each group is numbered by the start of its ring, in place, since
        the groups of all texts are large.
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


class KeyRoom:
    """Memory for the keys of all texts, in one piece where it is known how many there are.

    What is freed in many pieces stays with the process; one that is this large goes back to the system.
    """

    def __init__(self, n_texts: int, n_keys: int | None, key_bits: int) -> None:
        self._n_keys = n_keys
        self._entries = np.empty((n_texts, n_keys or 0), np.uint32)
        self._keys: UInts = np.empty_like(self._entries)
        if key_bits > 32:
            self._keys = np.empty(self._keys.shape, np.uint64)

    def of(self, first: int, shape: tuple[int, ...]) -> tuple[UInts, UInt32s]:
        """Return room for ``shape`` keys of the texts from ``first`` on, and for as many uint32."""
        if shape[1] != self._n_keys:
            return np.empty_like(self._keys, shape=shape), np.empty(shape, np.uint32)
        texts = slice(first, first + shape[0])
        return self._keys[texts], self._entries[texts]

    def forget_keys(self) -> None:
        """Let go of the keys, which take as much memory as what is made of the groups next."""
        self._keys = self._keys[:0].copy()

    def joined(self, groups: list[UInt32s]) -> UInt32s:
        """Return the groups of all texts in one array, given those of each slice, which stand where its entries did."""
        if all(rows.shape[1] == self._n_keys for rows in groups):
            return self._entries
        widest = max(rows.shape[1] for rows in groups)
        wide = (np.pad(rows, [(0, 0), (0, widest - rows.shape[1])], constant_values=NO_GROUP) for rows in groups)
        return np.concatenate(list(wide))


def group_texts(
    index: BlockIndex,
    texts: Sequence[str],
    bits: UInt64s,
    is_near: Bools,
    workers: int,
    scopes: Int64s | None = None,
    *,
    texts_a_slice: int = TEXTS_A_SLICE,
) -> Groups:
    """Return the groups of texts with fingerprints ``bits`` uint64[n, words].

    A key that no other text has gets no group, unless texts are looked up by other keys than their own. ``is_near``
    bool[n] says which texts are to be compared; the others have no keys. Texts of several ``scopes``, int64[n], share
    no key.
    """

    def keys_of_batch(first: int, last: int) -> UInt64s:
        part = slice(first, last)
        keys = within_scopes(index.keys(texts[part], bits[part]), None if scopes is None else scopes[part])
        return keys if is_near[part].all() else np.where(is_near[part, None], keys, np.uint64(NO_KEY))

    def keys_of(first: int, last: int) -> UInt64s:
        if index.n_keys is None:
            return keys_of_batch(first, last)
        keys = np.full((last - first, index.n_keys), NO_KEY, np.uint64)
        for start in range(first, last, TEXTS_A_BATCH):
            some = keys_of_batch(start, min(start + TEXTS_A_BATCH, last))
            keys[start - first : start - first + len(some), : some.shape[1]] = some
        return keys

    groups = group_keys(
        keys_of,
        len(texts),
        workers,
        is_probed=index.probes_others,
        n_keys=index.n_keys,
        key_bits=64 if scopes is not None else index.key_bits,
        texts_a_slice=min(texts_a_slice, max(len(texts) // (2 * workers), FEWEST_A_SLICE)),
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
    texts_a_slice: int = TEXTS_A_SLICE,
) -> Groups:
    """Return the groups of texts, given what returns the keys of some that follow one another.

    Parameters
    ----------
    keys_of
        Returns uint64[n, m], the keys of the texts from the first number on and below the second; several threads ask
        it, and where texts are probed it is asked twice.
    is_probed
        Whether texts are looked up by other keys than their own. If not, a key that no other text has gets no group.
    n_keys, key_bits
        As many keys as ``keys_of`` returns of each text, None = not the same number each time; none but `NO_KEY` is as
        large as two to the power of ``key_bits``.
    """
    room = KeyRoom(n_texts, n_keys, key_bits)
    bounds = [(first, min(first + texts_a_slice, n_texts)) for first in range(0, n_texts, texts_a_slice)]
    part_bits = min(max((8 * n_texts // KEYS_A_PART).bit_length(), 1), MOST_PART_BITS)

    def deal_slice(some: tuple[int, int]) -> tuple[DealtKeys, UInt32s]:
        keys = keys_of(*some)
        dealt, entries = room.of(some[0], keys.shape)
        return deal_keys(keys, part_bits, dealt.ravel(), entries.ravel()), entries

    dealt = list(map_threads(deal_slice, bounds, workers))
    sizes = number_all(dealt, workers, fewest=1 if is_probed else 2)
    own = room.joined([groups for _, groups in dealt])
    dealt.clear()
    room.forget_keys()
    if not is_probed:
        return Groups(*list_groups(own), sizes)
    n_places = 1 << max(int(2 * len(sizes)).bit_length(), 1)
    table = KeyTable(np.full(n_places, NO_KEY, np.uint64), np.full(n_places, NO_GROUP, np.uint32))
    for some in bounds:
        keys = keys_of(*some)
        note_keys(keys, np.ascontiguousarray(own[slice(*some), : keys.shape[1]]), table.keys, table.numbers)
    return Groups(*list_groups(own), sizes, table)


def within_scopes(keys: UInt64s, scopes: Int64s | None) -> UInt64s:
    """Return keys uint64[n, m] such that texts of several scopes, int64[n] from 0, share none, but once in 2**64."""
    if scopes is None:
        return keys

    def mixed(numbers: UInt64s) -> UInt64s:
        products = numbers * MIXER
        return products ^ (products >> np.uint64(32))

    marks = mixed(mixed(scopes.astype(np.uint64) + np.uint64(1)))[:, None]
    return np.where(keys == np.uint64(NO_KEY), keys, mixed(keys ^ marks))


def number_all(dealt: list[tuple[DealtKeys, UInt32s]], workers: int, *, fewest: int) -> UInt32s:
    """Number the keys of all texts; return uint32[n_groups], the texts of each group.

    ``dealt`` has the keys of each slice of the texts, which are changed in place, and uint32[n_texts, n_keys], where
    their groups are written. Keys of fewer than ``fewest`` texts get no group.
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
