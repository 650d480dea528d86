"""Copies of posts, as files hold them one after another: writing many, finding where each begins, and checking them.

A copy is a checksum of all that follows, the position of the post, the bytes of its id and those of its text, 32 bits
each, then the id and the text, and zeros up to a whole unit.
"""

import numpy as np

from hybriddup.data.records import Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.checksums import sum_words
from hybriddup.kernels.growing_arrays import with_room_for

BYTES_OF_WORD = 8
WORDS_OF_HEADER = 3
WORDS_OF_UNIT = 2
"""A copy begins at a multiple of so many words."""
HALF = np.uint64(32)
LARGEST = np.int64(2**62)
SEED = np.uint64(0)


@njit(cache=True, nogil=True)
def write_copies(
    positions: Int64s, ids: UInt8s, id_bounds: Int64s, texts: UInt8s, text_bounds: Int64s
) -> tuple[UInt8s, Int64s]:
    """Return the copies of some posts, one after another, and int64[n + 1]: the bytes before each and after the last.

    Parameters
    ----------
    positions
        int64[n].
    ids, id_bounds, texts, text_bounds
        uint8[n_bytes] and int64[n + 1]: the id of post ``i`` is ``ids[id_bounds[i] : id_bounds[i + 1]]``, and its text
        likewise.
    """
    n = len(positions)
    bounds = np.zeros(n + 1, np.int64)
    for i in range(n):
        n_bytes = id_bounds[i + 1] - id_bounds[i] + text_bounds[i + 1] - text_bounds[i]
        bounds[i + 1] = bounds[i] + BYTES_OF_WORD * words_of_copy(n_bytes)
    copies = np.zeros(bounds[n], np.uint8)
    for i in range(n):
        copy = copies[bounds[i] : bounds[i + 1]]
        post_id, text = ids[id_bounds[i] : id_bounds[i + 1]], texts[text_bounds[i] : text_bounds[i + 1]]
        id_at = BYTES_OF_WORD * WORDS_OF_HEADER
        text_at = id_at + len(post_id)
        copy[id_at:text_at] = post_id
        copy[text_at : text_at + len(text)] = text
        words = copy.view(np.uint64)
        words[1] = np.uint64(positions[i])
        words[2] = np.uint64(len(post_id)) | np.uint64(len(text)) << HALF
        words[0] = sum_words(words[1:], SEED)
    return copies, bounds


@njit(cache=True, nogil=True)
def find_copies(words: UInt64s, after: int) -> tuple[Int64s, UInt32s]:
    """Return int64[n], uint32[n + 1]: the positions, and the units before each copy and before what is after them.

    It ends where no header can be: the positions rise, the first of them is larger than ``after``, and each copy is
    whole. What is in a copy is not looked at.
    """
    positions, bounds, n = np.empty(1024, np.int64), np.zeros(1025, np.uint32), 0
    place, before = np.int64(0), np.int64(after)
    while place + WORDS_OF_HEADER <= len(words):
        position, following = np.int64(words[place + 1]), place + words_of_copy(n_bytes_of(words[place + 2]))
        if position <= before or position > LARGEST or following > len(words):
            break
        if n == len(positions):
            positions, bounds = with_room_for(positions, n, 1), with_room_for(bounds, n + 1, 1)
        positions[n], bounds[n + 1] = position, following // WORDS_OF_UNIT
        n += 1
        place, before = following, position
    return positions[:n].copy(), bounds[: n + 1].copy()


@njit(cache=True, nogil=True)
def sound_sizes(read: UInt8s, n_read: Int64s, positions: Int64s, rooms: Int64s) -> Int64s:
    """Return int64[n]: the bytes of each copy, 0 where it is not sound.

    One that is longer than what was read of it counts as sound: it has to be read whole, and checked again.

    Parameters
    ----------
    read
        uint8[n, size], whole words: what is where each copy is expected.
    n_read
        int64[n]: how many of these bytes there were.
    positions
        int64[n]: of their posts.
    rooms
        int64[n]: bytes of the file from where each begins.
    """
    sizes = np.zeros(len(read), np.int64)
    for i in range(len(read)):
        words = read[i].view(np.uint64)
        if n_read[i] < BYTES_OF_WORD * WORDS_OF_HEADER or np.int64(words[1]) != positions[i]:
            continue
        n_words = words_of_copy(n_bytes_of(words[2]))
        size = BYTES_OF_WORD * n_words
        if size <= rooms[i] and (n_words > len(words) or is_sound(words[:n_words], n_read[i])):
            sizes[i] = size
    return sizes


@njit(cache=True, nogil=True)
def is_sound(copy: UInt64s, n_read: int) -> bool:
    """Return whether all words of a copy were read, and are as they were written."""
    return len(copy) * BYTES_OF_WORD <= n_read and bool(copy[0] == sum_words(copy[1:], SEED))


@njit(cache=True, nogil=True)
def n_bytes_of(lengths: np.uint64) -> np.int64:
    """Return the bytes of id and text together, as the third word of a copy says."""
    return np.int64(lengths & np.uint64(2**32 - 1)) + np.int64(lengths >> HALF)


@njit(cache=True, nogil=True)
def words_of_copy(n_bytes: np.int64) -> np.int64:
    """Return the words of a copy with so many bytes of id and text."""
    n_words = WORDS_OF_HEADER + (n_bytes + BYTES_OF_WORD - 1) // BYTES_OF_WORD
    return (n_words + WORDS_OF_UNIT - 1) // WORDS_OF_UNIT * WORDS_OF_UNIT
