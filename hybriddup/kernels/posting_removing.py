"""Taking one text out of posting lists before it is forgotten."""

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import NO_KEY
from hybriddup.kernels.popcount import LOW_HALF
from hybriddup.kernels.posting_lists import BLOCK_BITS, NUMBER_MASK, Postings, read_header, word_of
from hybriddup.kernels.posting_table import IS_LIST, find_slot


@njit(cache=True, nogil=True)
def remove_number(postings: Postings, keys: UInt64s, number: int, first_live: int) -> None:
    """Put a dead number in place of a live one in the list of each key uint64[n]; older texts keep their order.

    Parameters
    ----------
    postings
        Changed in place.
    first_live
        Texts with smaller numbers are forgotten.
    """
    wanted, dead = np.uint64(number) & NUMBER_MASK, np.uint64(first_live - 1) & NUMBER_MASK
    if dead == 0:  # stands for no number
        dead = np.uint64(first_live - 2) & NUMBER_MASK
    for key in keys:
        if key == NO_KEY:
            continue
        at = find_slot(postings, key)
        value = postings.slots[at] & LOW_HALF
        if value & IS_LIST:
            remove_from_list(postings, value ^ IS_LIST, wanted, dead)
        elif value == wanted:
            postings.slots[at] = postings.slots[at] & ~LOW_HALF | dead


@njit(cache=True, nogil=True, inner=True)
def remove_from_list(postings: Postings, block: np.uint64, wanted: np.uint64, dead: np.uint64) -> None:
    """Move the numbers before the one that goes by one place, and write a dead one where the oldest was."""
    words, classes, start = postings.words, postings.length_classes, block << BLOCK_BITS
    _, n, oldest = read_header(words, start, postings.ring_size)
    place = np.uint64(0)
    while place < n and words[word_of(start, oldest + place, postings.ring_size)] != np.uint32(wanted):
        place += np.uint64(1)
    if place == n:
        return
    while place > np.uint64(0):
        at = word_of(start, oldest + place, postings.ring_size)
        before = word_of(start, oldest + place - np.uint64(1), postings.ring_size)
        words[at], classes[at] = words[before], classes[before]
        place -= np.uint64(1)
    words[word_of(start, oldest, postings.ring_size)] = np.uint32(dead)
