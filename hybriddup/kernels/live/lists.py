"""Posting lists in an arena: for each key, the numbers of the newest texts with the key.

A list is one block of 32-bit words: a header, then the numbers, the oldest first. Blocks come in a few sizes, the
*classes*. A list of `ring_size` numbers is a ring: each new number replaces the oldest. The upper bits of the header
are the class. The lower bits are the number of entries; for a ring, `ring_size` plus the index of the oldest entry. A
free block holds the next free block of its class. Blocks are aligned to four words, and block 0 is never used.

A list stores the low 31 bits of each number, which must not be 0. A number that is older than the oldest live text is
*dead*: readers skip it, and it is removed when its list is rewritten. All numbers before a dead number are dead.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit

FRESH_PAGE, FREE_PAGE, FRESH_BLOCK, FREE_BLOCKS = 0, 1, 2, 3
"""Indices in `Postings.book`: the first page never used, the first free page (0 = none), the first block never used,
and from `FREE_BLOCKS` on, the first free block of each class."""
MOST_CLASSES = 64
N_BOOK = FREE_BLOCKS + MOST_CLASSES
BLOCK_BITS = np.uint64(2)
"""Binary logarithm of the unit of block sizes: every block has a multiple of ``1 << BLOCK_BITS`` 32-bit words."""
NUMBER_BITS = 31
NUMBER_MASK = np.uint64((1 << NUMBER_BITS) - 1)
SIZE_BITS = np.uint64(26)
"""Number of low bits of a list's header that hold its size; the bits above hold its block class."""
SIZE_MASK = np.uint64((1 << 26) - 1)
LARGEST_RING = 1 << 25
ANY_LENGTH = np.uint64(255)
"""Length class of texts of unknown length, and of the longest texts. It matches any range of lengths."""
ROOM_SHARE = 8
"""About 1 / `ROOM_SHARE` of a block is left free when a list is moved to it, to delay the next move."""


class Postings(NamedTuple):
    """A hash map from key to posting list (see `hybriddup.kernels.live.table`), and the memory of the lists."""

    slots: UInt64s
    """uint64[n_slots]: the slots of all shards, in pages of ``1 << PAGE_BITS`` slots."""
    uppers: UInt32s
    """uint32[n_slots]: the upper half of each slot's key; empty if all keys are below 2**32."""
    pages: UInt32s
    """uint32[most_pages, n_shards]: numbers of the pages of each shard, in order; one column per shard."""
    n_pages: Int32s
    """int32[n_shards]: number of pages of each shard."""
    n_keys: Int32s
    """int32[n_shards]: number of slots in use in each shard."""
    words: UInt32s
    """uint32[n]: the blocks of all lists."""
    length_classes: UInt8s
    """uint8[n]: for each element of ``words`` that is the number of a text, the length class of that text, as returned
    by `hybriddup.kernels.search.pair_limits.length_class`; `ANY_LENGTH` if unknown."""
    book: Int64s
    """int64[N_BOOK]: the free lists of pages and blocks; the indices are `FRESH_PAGE` and the constants next to it."""
    class_words: Int64s
    """int64[n_classes], ascending: size of the blocks of each class, in 32-bit words; the last class is for rings."""
    ring_size: int
    """Maximum number of texts in a list: one more than a look-up reads, to show whether there are more."""


class Age(NamedTuple):
    """The range of live numbers: the numbers of texts that have not expired."""

    next_number: np.uint64
    """The number that the next text will get, larger than all numbers in the lists."""
    span: np.uint64
    """How many numbers are live: ``next_number - span`` to ``next_number - 1``."""


@njit(cache=True, nogil=True, inner=True)
def is_dead(number: np.uint64, age: Age) -> bool:
    """Return whether a number, given by its low bits, belongs to an expired text."""
    return (age.next_number - number) & NUMBER_MASK > age.span


@njit(cache=True, nogil=True, inner=True)
def class_for(class_words: Int64s, n: np.uint64) -> np.uint64:
    """Return the smallest block class with space for ``n`` numbers and a few more, or the largest class."""
    last = np.uint64(len(class_words) - 1)
    chosen = np.uint64(0)
    while chosen < last:
        n_places = np.uint64(class_words[chosen]) - np.uint64(1)
        if n <= n_places - n_places // np.uint64(ROOM_SHARE):
            break
        chosen += np.uint64(1)
    return chosen


@njit(cache=True, nogil=True, inner=True)
def take_block(postings: Postings, its_class: np.uint64) -> np.uint64:
    """Allocate a block of a size class, reusing a free block if there is one; return 0 if the arena is full."""
    words, book = postings.words, postings.book
    at = np.uint64(FREE_BLOCKS) + its_class
    if book[at] != 0:
        block = np.uint64(book[at])
        book[at] = np.int64(words[block << BLOCK_BITS])
        return block
    fresh = np.int64(book[FRESH_BLOCK])
    following = fresh + (np.int64(postings.class_words[its_class]) >> np.int64(BLOCK_BITS))
    if following << np.int64(BLOCK_BITS) > len(words):
        return np.uint64(0)
    book[FRESH_BLOCK] = following
    return np.uint64(fresh)


@njit(cache=True, nogil=True, inner=True)
def free_block(postings: Postings, block: np.uint64, its_class: np.uint64) -> None:
    """Put a block on the free list of its class."""
    at = np.uint64(FREE_BLOCKS) + its_class
    postings.words[block << BLOCK_BITS] = np.uint32(postings.book[at])
    postings.book[at] = np.int64(block)


@njit(cache=True, nogil=True, inner=True)
def read_header(words: UInt32s, start: np.uint64, ring_size: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Read a list's header, ``words[start]``; return its block class, its length, and the index of its oldest entry."""
    header, ring = np.uint64(words[start]), np.uint64(ring_size)
    size = header & SIZE_MASK
    is_ring = size >= ring
    return header >> SIZE_BITS, ring if is_ring else size, size - ring if is_ring else np.uint64(0)


@njit(cache=True, nogil=True, inner=True)
def number_at(words: UInt32s, start: np.uint64, place: np.uint64, ring_size: int) -> np.uint64:
    """Return the text number in entry ``place`` of the list with header ``words[start]``; see `word_of` for rings."""
    return np.uint64(words[word_of(start, place, ring_size)])


@njit(cache=True, nogil=True, inner=True)
def word_of(start: np.uint64, place: np.uint64, ring_size: int) -> np.uint64:
    """Return the index in `Postings.words` of entry ``place`` of the list that starts at ``start``.

    Indices past the end of a ring wrap around.
    """
    ring = np.uint64(ring_size)
    return np.uint64(start + np.uint64(1) + (place - ring if place >= ring else place))


@njit(cache=True, nogil=True, inner=True)
def count_dead(words: UInt32s, start: np.uint64, ring_size: int, age: Age) -> np.uint64:
    """Return how many entries of a list belong to expired texts, by binary search."""
    _, n, oldest = read_header(words, start, ring_size)
    low, high = np.uint64(0), n
    while low < high:
        middle = (low + high) >> np.uint64(1)
        if is_dead(number_at(words, start, oldest + middle, ring_size), age):
            low = middle + np.uint64(1)
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, inner=True)
def pair_up(postings: Postings, older: np.uint64, newer: np.uint64, class_of_length: np.uint64) -> np.uint64:
    """Create a list of the numbers ``older`` and ``newer``; return its block, or 0 if the arena is full.

    ``class_of_length`` is the length class of the newer text; for the older one, `ANY_LENGTH` is stored.
    """
    words, its_class = postings.words, class_for(postings.class_words, np.uint64(2))
    block = take_block(postings, its_class)
    if block != 0:
        start = block << BLOCK_BITS
        words[start] = np.uint32(its_class << SIZE_BITS | np.uint64(2))
        words[start + np.uint64(1)], words[start + np.uint64(2)] = np.uint32(older), np.uint32(newer)
        postings.length_classes[start + np.uint64(1)] = np.uint8(ANY_LENGTH)  # a slot has no room for it
        postings.length_classes[start + np.uint64(2)] = np.uint8(class_of_length)
    return block


@njit(cache=True, nogil=True, inner=True)
def append(postings: Postings, block: np.uint64, number: np.uint64, class_of_length: np.uint64, age: Age) -> np.uint64:
    """Append the number and the length class of a text to the list in ``block``.

    Return the list's block, which may be another one, or 0 if the arena is full.
    """
    words, ring = postings.words, np.uint64(postings.ring_size)
    start = block << BLOCK_BITS
    its_class, n, oldest = read_header(words, start, postings.ring_size)
    if n == ring:
        write_number(postings, start + np.uint64(1) + oldest, number, class_of_length)
        oldest = np.uint64(0) if oldest + np.uint64(1) == ring else oldest + np.uint64(1)
        words[start] = np.uint32(its_class << SIZE_BITS | (ring + oldest))
        return block
    if n + np.uint64(1) == np.uint64(postings.class_words[its_class]):
        n -= count_dead(words, start, postings.ring_size, age)
        block = rewrite(postings, block, n, class_for(postings.class_words, n + np.uint64(1)))
        if block == 0:
            return block
        start = block << BLOCK_BITS
        its_class = np.uint64(words[start]) >> SIZE_BITS
    write_number(postings, start + np.uint64(1) + n, number, class_of_length)
    words[start] = np.uint32(its_class << SIZE_BITS | (n + np.uint64(1)))
    return block


@njit(cache=True, nogil=True, inner=True)
def write_number(postings: Postings, at: np.uint64, number: np.uint64, class_of_length: np.uint64) -> None:
    """Write the number and the length class of a text to index ``at`` of ``words`` and ``length_classes``."""
    postings.words[at], postings.length_classes[at] = np.uint32(number), np.uint8(class_of_length)


@njit(cache=True, nogil=True, inner=True)
def rewrite(postings: Postings, block: np.uint64, n_kept: np.uint64, new_class: np.uint64) -> np.uint64:
    """Move the newest ``n_kept`` numbers of a list to a block of ``new_class``; return the block, 0 if none is free.

    ``n_kept`` is below ``ring_size``. A list that is not a ring stays in its block if the class stays the same.
    """
    words, ring_size = postings.words, postings.ring_size
    start = block << BLOCK_BITS
    old_class, n, oldest = read_header(words, start, ring_size)
    # a ring that stays in its block would overwrite numbers before they are read
    stays = new_class == old_class and n < np.uint64(ring_size)
    moved = block if stays else take_block(postings, new_class)
    if moved == 0:
        return moved
    target, first = moved << BLOCK_BITS, oldest + n - n_kept
    for i in range(n_kept):
        at, to = word_of(start, first + np.uint64(i), ring_size), target + np.uint64(1) + np.uint64(i)
        words[to], postings.length_classes[to] = words[at], postings.length_classes[at]
    words[target] = np.uint32(new_class << SIZE_BITS | n_kept)
    if not stays:
        free_block(postings, block, old_class)
    return moved


@njit(cache=True, nogil=True, inner=True)
def is_crowded(postings: Postings, block: np.uint64, age: Age) -> bool:
    """Return whether a list has more live texts than a look-up reads."""
    start = block << BLOCK_BITS
    _, n, oldest = read_header(postings.words, start, postings.ring_size)
    return n == np.uint64(postings.ring_size) and not is_dead(
        number_at(postings.words, start, oldest, postings.ring_size), age
    )
