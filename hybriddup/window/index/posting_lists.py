"""Posting lists of a live window: the newest texts of each block key."""

from __future__ import annotations

from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Bools, Int32s, Int64s, NearPairs, UInt64s
from hybriddup.errors import WindowError
from hybriddup.kernels.live.changes import add_texts, count_crowded, remove_number
from hybriddup.kernels.live.lists import BLOCK_BITS, FRESH_BLOCK, FRESH_PAGE, LARGEST_RING, N_BOOK, Postings
from hybriddup.kernels.live.look_ups import depths_by_key, look_up
from hybriddup.kernels.live.table import PAGE_BITS, sweep_shards
from hybriddup.kernels.live.texts import LaterTexts
from hybriddup.window.index.text_ring import TextRing

KEYS_OF_SHARD = 2**13
"""Maximum number of keys per shard if the window has its expected size; rebuilding a shard then takes about 0.1 ms."""
MOST_SHARDS = 2**18
MOST_PAGES = 2**10
"""Initial maximum number of pages per shard; it grows in a window that is larger than expected."""
SWEEPS = 4
"""Number of times that each shard is cleared of forgotten texts in the time in which all texts of the window are
replaced. About a quarter of a shard's entries belong to forgotten texts just before each clearing, and an eighth on
average."""
FASTEST = 2
"""Maximum factor by which the removal of forgotten texts speeds up after many texts were forgotten at once."""
MOST_NUMBERS = 2**30
"""Largest span of the numbers of live texts: lists store only low bits of numbers, which must not be confused with the
numbers of forgotten texts that are still in the lists."""
FEWEST_WORDS, CLASS_GROWTH = 4, 1.5
"""Smallest size of a block of memory, in 32-bit words, and the approximate ratio of each size to the next smaller one.
Each list has one block. All sizes are multiples of the smallest."""
GROWTH = 1.5
"""Factor by which a full pool grows."""
BYTES_OF_NUMBER = 5
"""Bytes per entry of a list: four for the number of the text, one for its length class."""
Number = TypeVar("Number", bound=np.generic)


class PostingLists:
    """Maps each block key to a list of the newest texts with this key.

    A look-up reads the newest ``max_bucket_size`` live texts of a key, 0 = all. The result depends only on the order of
    the texts: keys are compared exactly, and no key displaces texts of another. With more texts or keys than expected,
    pools of memory are copied to larger ones. With ``wide``, keys may be 2**32 or more, and each takes 4 more bytes;
    callers must not pass such keys to other lists.
    """

    def __init__(self, n_texts: int, n_keys: int, max_bucket_size: int, *, wide: bool = False) -> None:
        if not 0 <= max_bucket_size < LARGEST_RING:
            raise ValueError(f"max_bucket_size must be an int in [0, {LARGEST_RING - 1}]; got {max_bucket_size}")
        self.wide = wide
        self.max_bucket_size = max_bucket_size
        n_numbers = max(n_texts * n_keys, 1)
        n_shards = min(1 << max(n_numbers // KEYS_OF_SHARD, 1).bit_length(), MOST_SHARDS)
        ring_size = (max_bucket_size or LARGEST_RING - 1) + 1
        # room for keys that are all different, and lists of two; pages that are never written to take no memory
        n_slots = (n_numbers * 3 // 2 >> PAGE_BITS) + 2 * n_shards + 2 << PAGE_BITS
        self._postings = Postings(
            slots=np.zeros((n_slots,), np.uint64),
            uppers=np.zeros((n_slots if wide else 0,), np.uint32),
            pages=np.zeros((MOST_PAGES, n_shards), np.uint32),
            n_pages=np.zeros(n_shards, np.int32),
            n_keys=np.zeros(n_shards, np.int32),
            words=np.zeros((2 * n_numbers + 2 * FEWEST_WORDS,), np.uint32),
            length_classes=np.zeros((2 * n_numbers + 2 * FEWEST_WORDS,), np.uint8),
            book=np.zeros(N_BOOK, np.int64),
            class_words=block_classes(ring_size),
            ring_size=ring_size,
        )
        self._postings.book[FRESH_PAGE] = self._postings.book[FRESH_BLOCK] = 1
        self._next = self._first_live = 0
        self._swept = self._to_sweep = 0.0
        """``_swept``: the next shard from which to remove forgotten texts; ``_to_sweep``: number of shards to clear."""

    @property
    def n_bytes(self) -> int:
        """Memory in use, in bytes, without the parts of the pools that were never written to."""
        postings, book = self._postings, self._postings.book
        of_slots = (12 if self.wide else 8) * int(book[FRESH_PAGE]) << PAGE_BITS
        of_shards = 4 * len(postings.n_pages) * (int(postings.n_pages.max()) + 2)
        return of_slots + of_shards + BYTES_OF_NUMBER * int(book[FRESH_BLOCK] << np.int64(BLOCK_BITS))

    def add(self, keys: UInt64s, numbers: Int64s, lengths: Int32s, kept: Bools, first_live: int) -> int:
        """Add texts in order; return how many of their look-ups were crowded.

        The look-up of a key is crowded if more than ``max_bucket_size`` live texts with the key were added before the
        text, in this call or earlier. Texts that are not ``kept``, bool[n], are not added, but their look-ups count.
        Some of the forgotten texts are removed from the lists.

        Parameters
        ----------
        keys
            uint64[n, n_keys]: distinct keys of each text; `NO_KEY` = none.
        numbers
            int64[n]: the number of each text, ascending, and larger than in all earlier calls. The low 31 bits of a
            number are not 0. A text that is not kept may have the number of the next kept text.
        first_live
            Texts with smaller numbers are forgotten. The value must not decrease from call to call.
        """
        if not len(numbers):
            return 0
        keys = np.ascontiguousarray(keys)
        self._forget_before(first_live, int(numbers[-1]) + 1)
        done, n_crowded = add_texts(self._postings, keys, numbers, lengths, kept, first_live, 0)
        while done < keys.size:
            self._grow()
            done, n_more = add_texts(self._postings, keys, numbers, lengths, kept, first_live, done)
            n_crowded += n_more
        self._sweep(len(numbers))
        return int(n_crowded)

    def remove(self, keys: UInt64s, number: int, first_live: int) -> None:
        """Remove a live text, given by its number, from the lists of its keys, uint64[n_keys].

        If a list was full, the older texts that had been dropped from it do not come back.
        """
        remove_number(self._postings, np.ascontiguousarray(keys), number, first_live)

    def add_probing(
        self, keys: UInt64s, probes: UInt64s, numbers: Int64s, lengths: Int32s, kept: Bools, first_live: int
    ) -> int:
        """Add texts that are looked up by keys other than their own; return the number of crowded look-ups, as `add`.

        ``probes``, uint64[n, n_probes], has the keys that are looked up; the other parameters are as in `add`. Each
        text is added before the next one is looked up, so that a look-up counts all earlier texts.
        """
        probes, n_crowded = np.ascontiguousarray(probes), 0
        for row in range(len(numbers)):
            one = slice(row, row + 1)
            n_crowded += int(count_crowded(self._postings, probes[row], int(numbers[row]), first_live))
            self.add(keys[one], numbers[one], lengths[one], kept[one], first_live)
        return n_crowded

    def look_up(self, keys: UInt64s, later: LaterTexts, ring: TextRing) -> NearPairs:
        """Return the pairs of a later and a live text that share a key; see `hybriddup.kernels.live.look_ups`."""
        return look_up(self._postings, np.ascontiguousarray(keys), ring.live, later)

    def depths_by_key(self, keys: UInt64s, rows: Int64s, numbers: Int64s) -> Int32s:
        """Return int32[n, n_keys]: for each pair, the earlier text's rank in the list of each key of the later text.

        The parameters are as in `hybriddup.kernels.live.look_ups.depths_by_key`.
        """
        of_lists, live = (self._postings, np.ascontiguousarray(keys)), (self._next, self._first_live)
        return depths_by_key(*of_lists, rows, numbers, *live)

    def _forget_before(self, first_live: int, next_number: int) -> None:
        """Record that texts before ``first_live`` are forgotten, and how many shards must be cleared of them."""
        if next_number - first_live > MOST_NUMBERS:
            raise WindowError(
                f"posting lists hold at most {MOST_NUMBERS:,} texts at a time. Give the window a shorter horizon."
            )
        n_gone, span = first_live - self._first_live, max(next_number - first_live, 1)
        if self._next:
            n_shards = len(self._postings.n_pages)
            self._to_sweep = min(self._to_sweep + SWEEPS * n_shards * n_gone / span, float(n_shards))
        self._next, self._first_live = next_number, first_live

    def _sweep(self, n_texts: int) -> None:
        """Remove forgotten texts from some shards, in proportion to the ``n_texts`` texts just added."""
        n_shards, span = len(self._postings.n_pages), self._next - self._first_live
        step = min(self._to_sweep, FASTEST * SWEEPS * n_shards * n_texts / max(span, 1))
        first, last = int(self._swept), int(min(self._swept + step, n_shards))
        if last > first:
            sweep_shards(self._postings, first, last, self._next, self._first_live)
        self._to_sweep -= min(step, n_shards - self._swept)
        self._swept = 0.0 if last == n_shards else self._swept + step

    def _grow(self) -> None:
        """Enlarge the array that is full: the page numbers of the shards, the pool of pages, or the pool of lists."""
        postings, most_pages = self._postings, len(self._postings.pages)
        n_used, n_slots = int(postings.book[FRESH_PAGE]) << PAGE_BITS, len(postings.slots)
        n_more = int(n_slots * GROWTH) + (most_pages << PAGE_BITS)
        if int(postings.n_pages.max()) == most_pages:
            pages = np.zeros((2 * most_pages, len(postings.n_pages)), np.uint32)
            pages[:most_pages] = postings.pages
            self._postings = postings._replace(pages=pages)
        elif n_slots - n_used < int(postings.n_pages.max()) + 1 << PAGE_BITS:
            slots, uppers = longer(postings.slots, n_used, n_more), postings.uppers
            self._postings = postings._replace(
                slots=slots, uppers=longer(uppers, n_used, n_more) if self.wide else uppers
            )
        else:
            n_used = int(postings.book[FRESH_BLOCK]) << int(BLOCK_BITS)
            n_more = int(len(postings.words) * GROWTH) + int(postings.class_words[0])
            self._postings = postings._replace(
                words=longer(postings.words, n_used, n_more),
                length_classes=longer(postings.length_classes, n_used, n_more),
            )


def block_classes(ring_size: int) -> Int64s:
    """Return int64[n_classes]: the sizes of memory blocks for lists, in 32-bit words, ascending.

    The largest block fits a list of ``ring_size`` texts, the maximum.
    """
    last = round_up(ring_size + 1)
    words = [FEWEST_WORDS]
    while words[-1] * CLASS_GROWTH < last:
        words.append(round_up(int(words[-1] * CLASS_GROWTH)))
    if len(words) > 1 and words[-1] * sqrt(CLASS_GROWTH) > last:
        words.pop()
    if words[-1] < last:
        words.append(last)
    return np.array(words, np.int64)


def round_up(n_words: int) -> int:
    """Round a size in 32-bit words up to a multiple of `FEWEST_WORDS`."""
    return -(-n_words // FEWEST_WORDS) * FEWEST_WORDS


def longer(pool: NDArray[Number], n_used: int, n: int) -> NDArray[Number]:
    """Copy the first ``n_used`` elements of a pool to a new array of ``n`` elements, and fill the rest with zeros."""
    larger: NDArray[Number] = np.zeros((n,), pool.dtype)
    larger[:n_used] = pool[:n_used]
    return larger
