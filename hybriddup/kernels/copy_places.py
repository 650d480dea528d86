"""Where copies of posts begin in a file that holds them one after another."""

import numpy as np

from hybriddup.kernels.cache import njit
from hybriddup.records import Int64s, UInt32s

WORDS_OF_HEADER = 6
"""Words of 4 bytes: two of a checksum, two of the position, the lower first, the bytes of an id and those of a text."""
WORDS_OF_UNIT = 4
"""A copy begins at a multiple of so many words."""
LARGEST = np.int64(2**62)


@njit(cache=True, nogil=True)
def find_copies(words: UInt32s, after: int) -> tuple[Int64s, UInt32s]:
    """Return int64[n], uint32[n + 1]: the positions, and the units before each copy and before what is after them.

    It ends where no header can be: the positions rise, the first of them is larger than ``after``, and each copy is
    whole. What is in a copy is not looked at.
    """
    positions, bounds, n = np.empty(1024, np.int64), np.zeros(1025, np.uint32), 0
    place, before = np.int64(0), np.int64(after)
    while place + WORDS_OF_HEADER <= len(words):
        position = np.int64(words[place + 2]) | (np.int64(words[place + 3]) << np.int64(32))
        n_bytes = np.int64(words[place + 4]) + np.int64(words[place + 5])
        following = place + round_up(WORDS_OF_HEADER + (n_bytes + 3) // 4, WORDS_OF_UNIT)
        if position <= before or position > LARGEST or following > len(words):
            break
        if n == len(positions):
            positions, bounds = np.append(positions, positions), np.append(bounds, bounds)
        positions[n], bounds[n + 1] = position, following // WORDS_OF_UNIT
        n += 1
        place, before = following, position
    return positions[:n].copy(), bounds[: n + 1].copy()


@njit(cache=True, nogil=True)
def round_up(number: int, step: int) -> int:
    """Return the next multiple of a step."""
    return (number + step - 1) // step * step
