"""Splits texts into character n-grams (slices of code points), whose size depends on the script."""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt32s
from hybriddup.kernels.cache import njit

DENSE_RANGES = (
    (0x1100, 0x11FF),  # hangul jamo
    (0x2000, 0x206F),  # general punctuation
    (0x2600, 0x27BF),  # symbols and dingbats
    (0x2E80, 0x9FFF),  # CJK radicals, punctuation, kana, bopomofo, Han
    (0xAC00, 0xD7AF),  # hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF00, 0xFFEF),  # full-width and half-width forms
)
FIRST_DENSE_OF_HIGHER_PLANES = np.uint32(0x1F000)
"""Code point from which on all characters count as a dense script (see `is_dense_script`): emoji and rare Han."""


def mark_sixteens() -> Bools:
    """Return bool[4096]: for each block of 16 code points below 0x10000, whether it is in `DENSE_RANGES`.

    Each range consists of whole blocks.
    """
    dense = np.zeros(0x1000, np.bool_)
    for first, last in DENSE_RANGES:
        dense[first >> 4 : (last >> 4) + 1] = True
    return dense


IS_DENSE = mark_sixteens()


@njit(cache=True, nogil=True)
def is_dense_script(code_point: np.uint32) -> bool:
    """Return whether a character is of a dense script, in which one character means about as much as a word.

    Han, kana, hangul, emoji, full-width forms and CJK punctuation are dense. The general punctuation block counts as
    dense, too, because Chinese text uses its quotation marks and dashes.
    """
    group = np.uint64(min(code_point, np.uint32(0xFFFF))) >> np.uint64(4)
    return code_point >= FIRST_DENSE_OF_HIGHER_PLANES or (code_point < 0x10000 and IS_DENSE[group])


@njit(cache=True, nogil=True)
def find_runs(code_points: UInt32s, start: int, end: int) -> tuple[int, bool]:
    """Find the run that begins at ``start``: characters of dense scripts, such as Han, or characters of other scripts.

    Return the end of the run, and whether it is of dense scripts.
    """
    dense = is_dense_script(code_points[start])
    position = start + 1
    while position < end and is_dense_script(code_points[position]) == dense:
        position += 1
    return position, dense


@njit(cache=True, nogil=True)
def script_ngrams(code_points: UInt32s, offsets: Int64s, dense: Int64s, other: Int64s) -> tuple[Int64s, Int32s, Int64s]:
    """Split texts into character n-grams.

    Parameters
    ----------
    code_points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    dense, other
        int64[2], int64[2]: smallest and largest size of n-grams, in runs of dense scripts and in all other runs.

    Returns
    -------
    starts, lengths
        int64[n_tokens], int32[n_tokens]: index of the first code point of each n-gram, and number of code points.
    token_offsets
        int64[n_texts + 1]: index of the first n-gram of each text.

    Notes
    -----
    N-grams never cross from one kind of script into the other, so a Latin word in a Chinese post has the same tokens in
    any context. Within a run they are ordered by size, then by position.
    """
    most = len(code_points) * np.int64(max(dense[1] - dense[0], other[1] - other[0]) + 1)
    starts, lengths = np.empty(most, np.int64), np.empty(most, np.int32)
    token_offsets, n = np.zeros(len(offsets), np.int64), np.uint64(0)
    for text in range(len(offsets) - 1):
        position = offsets[text]
        while position < offsets[text + 1]:
            run_end, is_dense = find_runs(code_points, position, offsets[text + 1])
            n = write_ngrams(position, run_end, dense if is_dense else other, starts, lengths, n)
            position = run_end
        token_offsets[text + 1] = n
    return starts[:n], lengths[:n], token_offsets


@njit(cache=True, nogil=True, inner=True)
def write_ngrams(first: int, last: int, sizes: Int64s, starts: Int64s, lengths: Int32s, n: np.uint64) -> np.uint64:
    """Append the n-grams of the run ``first`` to ``last - 1`` to ``starts[:n]``, ``lengths[:n]``; return the new ``n``.

    A run shorter than the smallest size is a single n-gram.
    """
    length = last - first
    for size in range(min(sizes[0], length), min(sizes[1], length) + 1):
        for place in range(length - size + 1):
            starts[n + np.uint64(place)] = first + place
            lengths[n + np.uint64(place)] = size
        n += np.uint64(length - size + 1)
    return n
