"""Equal keys of many texts get one number: their *group*. Numbers need no hashing when they are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, Int64s, UInt32s, UInt64s
from hybriddup.kernels.key_groups import (
    NO_GROUP,
    DealtKeys,
    close_gaps,
    deal_keys,
    find_groups,
    note_keys,
    number_keys,
    write_numbers,
)
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.parallel import map_threads

TEXTS_A_SLICE = 2**15
"""Texts whose keys are made at a time: all keys together, before they are numbered, take 12 bytes each."""
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
    """As `hybriddup.kernels.key_groups.note_keys` fills them."""

    def groups(self, keys: UInt64s) -> UInt32s:
        """Return uint32[n, m]: the group of each key, `NO_GROUP` where no text has it."""
        groups: UInt32s = find_groups(keys, self.keys, self.numbers)
        return groups


@dataclass(frozen=True)
class Groups:
    """The groups of all texts of a run."""

    own: UInt32s
    """uint32[n, n_keys]: those of each text, `NO_GROUP` for none, at the end where there is no table."""
    sizes: UInt32s
    """uint32[n_groups]: texts in each."""
    table: KeyTable | None = None
    """None = texts are looked up by their own keys."""
    scopes: Int64s | None = None
    """int64[n]: of each text; texts of several scopes share no key. None = all are of one."""


class KeyRoom:
    """Memory for the keys of all texts, in one piece where it is known how many there are.

    What is freed in many pieces stays with the process; one that is this large goes back to the system.
    """

    def __init__(self, n_texts: int, n_keys: int | None) -> None:
        self._n_keys = n_keys
        self._keys = np.empty(n_texts * (n_keys or 0), np.uint64)
        self._entries = np.empty(len(self._keys), np.uint32)

    def of(self, first: int, size: int) -> tuple[UInt64s, UInt32s]:
        """Return uint64[n], uint32[n]: room for so many keys of the texts from ``first`` on."""
        if self._n_keys is None:
            return np.empty(size, np.uint64), np.empty(size, np.uint32)
        part = slice(first * self._n_keys, first * self._n_keys + size)
        return self._keys[part], self._entries[part]


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

    A key that no other text has gets no group, unless texts are looked up by other keys than their own.

    Parameters
    ----------
    is_near
        bool[n]: which texts are to be compared; the others have no keys.
    scopes
        int64[n]: texts of several scopes share no key; None = all are of one.
    """

    def keys_of(first: int, last: int) -> UInt64s:
        part = slice(first, last)
        keys = within_scopes(index.keys(texts[part], bits[part]), None if scopes is None else scopes[part])
        return np.where(is_near[part, None], keys, np.uint64(NO_KEY))

    groups = group_keys(
        keys_of,
        len(texts),
        workers,
        is_probed=index.probes_others,
        n_keys=index.n_keys,
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
    n_keys
        As many keys as ``keys_of`` returns of each text; None = not the same number each time.
    """
    room = KeyRoom(n_texts, n_keys)
    bounds = [(first, min(first + texts_a_slice, n_texts)) for first in range(0, n_texts, texts_a_slice)]
    part_bits = min(max((8 * n_texts // KEYS_A_PART).bit_length(), 1), MOST_PART_BITS)

    def deal_slice(some: tuple[int, int]) -> tuple[DealtKeys, int]:
        keys = keys_of(*some)
        return deal_keys(keys, part_bits, *room.of(some[0], keys.size)), keys.shape[1]

    dealt = list(map_threads(deal_slice, bounds, workers))
    own, sizes = number_all(
        [part for part, _ in dealt],
        [(last - first, width) for (first, last), (_, width) in zip(bounds, dealt, strict=True)],
        workers,
        fewest=1 if is_probed else 2,
    )
    if not is_probed:
        return Groups(own, sizes)
    n_places = 1 << max(int(2 * len(sizes)).bit_length(), 1)
    table = KeyTable(np.full(n_places, NO_KEY, np.uint64), np.full(n_places, NO_GROUP, np.uint32))
    for some in bounds:
        keys = keys_of(*some)
        note_keys(keys, np.ascontiguousarray(own[slice(*some), : keys.shape[1]]), table.keys, table.numbers)
    return Groups(own, sizes, table)


def within_scopes(keys: UInt64s, scopes: Int64s | None) -> UInt64s:
    """Return keys uint64[n, m] such that texts of several scopes, int64[n] from 0, share none, but once in 2**64."""
    if scopes is None:
        return keys

    def mixed(numbers: UInt64s) -> UInt64s:
        products = numbers * MIXER
        return products ^ (products >> np.uint64(32))

    marks = mixed(mixed(scopes.astype(np.uint64) + np.uint64(1)))[:, None]
    return np.where(keys == np.uint64(NO_KEY), keys, mixed(keys ^ marks))


def number_all(
    dealt: list[DealtKeys], shapes: list[tuple[int, int]], workers: int, *, fewest: int
) -> tuple[UInt32s, UInt32s]:
    """Return the groups of all texts, uint32[n, n_keys], and their sizes, uint32[n_groups].

    Parameters
    ----------
    dealt
        The keys of each slice of the texts.
    shapes
        Texts of each slice, and keys of a text in it.
    fewest
        Keys that fewer texts have get no group. Where there can be such keys, these places stand at the end of a row.
    """
    n_parts = len(dealt[0].bounds) - 1 if dealt else 0
    n_before = np.cumsum([np.zeros(n_parts, np.int64), *(np.diff(slice_.bounds) for slice_ in dealt)], axis=0)
    ends_of_parts = np.cumsum([0, *n_before[-1]])
    numbers = np.empty(ends_of_parts[-1], np.uint32)

    def number_part(part: int) -> UInt32s:
        keys = [slice_.keys[slice_.bounds[part] : slice_.bounds[part + 1]] for slice_ in dealt]
        of_part, sizes = number_keys(np.concatenate(keys), fewest)
        numbers[ends_of_parts[part] : ends_of_parts[part + 1]] = of_part
        return sizes

    sizes = list(map_threads(number_part, range(n_parts), workers))
    first_groups = np.cumsum([0, *map(len, sizes)])
    first_rows = np.cumsum([0, *(n for n, _ in shapes)])
    own = np.full((first_rows[-1], max((width for _, width in shapes), default=1)), NO_GROUP, np.uint32)

    def write_slice(i: int) -> None:
        rows, width = own[first_rows[i] : first_rows[i + 1]], shapes[i][1]
        of_slice = np.ascontiguousarray(rows[:, :width])
        write_numbers(numbers, ends_of_parts[:-1] + n_before[i], first_groups, dealt[i], of_slice)
        if fewest > 1:
            close_gaps(of_slice)
        rows[:, :width] = of_slice

    list(map_threads(write_slice, range(len(shapes)), workers))
    return own, np.concatenate([np.zeros(0, np.uint32), *sizes])
