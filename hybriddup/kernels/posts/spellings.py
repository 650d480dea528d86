"""Tells whether runs of words are spellings of the same words, or have the same letters but other vowel signs."""

import numpy as np

from hybriddup.data.records import UInt8s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE, popcount
from hybriddup.kernels.posts.parsing import ParsedPosts
from hybriddup.kernels.posts.tokens import EXTENDS, N_PLAIN
from hybriddup.kernels.text.lcs import ALL_ONES, next_state

SAME_SPELLING, MORE_LETTERS, LONG_WORD = 0.7, 4, 8
"""A word is another spelling of a word if it has all its letters in order, and at most this many more; if both words
have at least `LONG_WORD` letters, one letter may be another one (``apologise``, ``apologize``). At least this share of
the letters of both must be common. Of 52 judged pairs that differ only in more letters or in diacritics, all are
repeats; of 13 in which a letter replaces another one, four are not."""
LONGEST_SPELLING = 64
"""Maximum number of letters of a word that may be another spelling of a word; longer words count as different."""
FIRST_TONE, LAST_TONE = np.uint32(0x0E48), np.uint32(0x0E4B)
"""First and last code point of the tone marks of Thai, which people often omit."""


@njit(cache=True, nogil=True, inner=True)
def has_other_vowels(posts: ParsedPosts, kinds: UInt8s, of_a: tuple[int, int], of_b: tuple[int, int]) -> bool:
    """Return whether two words have the same letters but different vowel signs.

    They then differ only in combining marks, and at least one of these is not a tone mark. Folding has already removed
    optional marks, such as vowel points.
    """
    at, end = posts.starts[of_a[0]], posts.starts[of_a[1]]
    other, other_end = posts.starts[of_b[0]], posts.starts[of_b[1]]
    differs = False
    while at < end or other < other_end:
        one = posts.letters[at] if at < end else np.uint32(0)
        another = posts.letters[other] if other < other_end else np.uint32(0)
        if one == another:
            at, other = at + 1, other + 1
        elif kinds[one] & EXTENDS:
            at, differs = at + 1, differs or not FIRST_TONE <= one <= LAST_TONE
        elif kinds[another] & EXTENDS:
            other, differs = other + 1, differs or not FIRST_TONE <= another <= LAST_TONE
        else:
            return False
    return differs


@njit(cache=True, nogil=True, inner=True)
def is_respelled(posts: ParsedPosts, plain: UInt32s, of_a: tuple[int, int], of_b: tuple[int, int]) -> bool:
    """Return whether two runs of words are spellings of the same words, as `SAME_SPELLING` defines.

    ``of_a`` and ``of_b``: begin and end of the runs, as indices into the tokens of all posts. ``plain``:
    `Characters.plain`; a letter with a diacritic equals the plain letter.
    """
    start, n = posts.starts[of_a[0]], posts.starts[of_a[1]] - posts.starts[of_a[0]]
    other_start, n_other = posts.starts[of_b[0]], posts.starts[of_b[1]] - posts.starts[of_b[0]]
    least = min(n, n_other) - (1 if min(n, n_other) >= LONG_WORD else 0)
    if max(n, n_other) > min(LONGEST_SPELLING, least + MORE_LETTERS) or 2.0 * least < SAME_SPELLING * (n + n_other):
        return False
    state, n_lacking = ALL_ONES, n_other - least
    for n_read in range(1, n_other + 1):
        mask = np.uint64(0)
        for i in range(start + n - 1, start - 1, -1):
            letter = posts.letters[np.uint64(i)]
            mask = mask << ONE | np.uint64(is_same_letter(letter, posts.letters[other_start + n_read - 1], plain))
        state, _ = next_state(state, mask, np.uint64(0))
        if np.int64(popcount(~state)) + n_lacking < n_read:  # whatever follows, it has too few letters in common
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def is_same_letter(one: np.uint32, other: np.uint32, plain: UInt32s) -> bool:
    """Return whether two letters are equal, or one is a Latin letter and the other the same one with a diacritic."""
    if one == other:
        return True
    if one >= N_PLAIN or other >= N_PLAIN:
        return False
    return bool(plain[one] == other or plain[other] == one)
