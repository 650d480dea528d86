"""The words of posts and what stands beside them: hashtags, emoji, numbers, and the words of those who are quoted."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float32s, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.post_notes import IN_HEADLINE, N_NUMBERS, N_TAGS, N_WORDS, make_scratch
from hybriddup.kernels.post_reading import has_han, part_that_counts, read_post
from hybriddup.kernels.post_spans import DIGIT, HAN, POINT, SPACE, Dictionary, kind_of, rarity_of
from hybriddup.kernels.short_runs import sort_run


class PostWords(NamedTuple):
    """The words of some posts, one post after another."""

    offsets: Int64s
    """int64[n_posts + 1]: where the words of each begin."""
    keys: UInt64s
    """uint64[n_words]: hashes of stems, characters and values."""
    prefixes: UInt64s
    """uint64[n_words]: the same of the first letters of stems; that of all particles is one."""
    weights: Float32s
    rarities: Float32s
    """float32[n_words]: of `FrequentWords`; 0 in posts that have a Han character."""
    letter_offsets: Int64s
    letters: Int32s
    """int64[n_posts + 1], int32[n_letters]: code points of the words, with a space after each that is no Han
    character."""
    number_offsets: Int64s
    numbers: UInt64s
    """int64[n_posts + 1], uint64[n]: keys of the numbers in all of a post, rising, without one that counts posts."""
    tag_offsets: Int64s
    tags: UInt64s
    """int64[n_posts + 1], uint64[n]: hashes of the hashtags, rising, each once."""
    emoji: UInt64s
    """uint64[n_posts]: a hash of all emoji in order, without repeats one after another."""
    headlines: Int64s
    """int64[n_posts]: how many of the words stand before the end of the headline, as in ``【headline】text``."""
    is_han: Bools
    """bool[n_posts]: whether a post has a Han character."""


@njit(cache=True, nogil=True, inner=True)
def longest_of(offsets: Int64s) -> int:
    """Return the code points of the longest post."""
    longest = np.int64(0)
    for post in range(len(offsets) - 1):
        longest = max(longest, offsets[post + 1] - offsets[post])
    return longest


@njit(cache=True, nogil=True, inner=True)
def copy_letters(points: UInt32s, first: int, last: int, dictionary: Dictionary, letters: Int32s, n: int) -> int:
    """Write the letters of a word, and a space after it unless it is a Han character; return where they end."""
    kind = kind_of(dictionary, points[first])
    for at in range(first, last):
        if points[at] != POINT or kind == DIGIT:
            letters[n] = points[at]
            n += 1
    if last - first != 1 or kind != HAN:
        letters[n] = SPACE
        n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def copy_rising(values: UInt64s, n_values: int, into: UInt64s, n: int, only_distinct: bool) -> int:
    """Write some numbers in rising order; return where they end."""
    sort_run(values, 0, n_values)
    for i in range(n_values):
        if not only_distinct or i == 0 or values[i] != values[i - 1]:
            into[n] = values[i]
            n += 1
    return n


@njit(cache=True, nogil=True)
def parse_posts(points: UInt32s, offsets: Int64s, dictionary: Dictionary) -> PostWords:
    """Return the words of posts, and what stands beside them.

    The words of hashtags stand beside a post that has a Han character, as in ``#话题#我的看法``; they are words of any
    other post, as in ``#boston is strong``.

    Parameters
    ----------
    points, offsets
        The posts, as `hybriddup.data.records.EncodedTexts`.
    """
    n_posts, n = len(offsets) - 1, len(points)
    keys, prefixes, weights = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float32)
    rarities = np.zeros(n, np.float32)
    letters, numbers, tags = np.empty(2 * n, np.int32), np.empty(n, np.uint64), np.empty(n, np.uint64)
    ends, emoji = np.zeros((n_posts + 1, 4), np.int64), np.zeros(n_posts, np.uint64)
    headlines, is_han = np.zeros(n_posts, np.int64), np.zeros(n_posts, np.bool_)
    scratch = make_scratch(longest_of(offsets))
    for post in range(n_posts):
        is_han[post] = has_han(points, offsets[post], offsets[post + 1], dictionary)
        read_post(points, offsets[post], offsets[post + 1], dictionary, not is_han[post], scratch)
        part = part_that_counts(scratch)
        headlines[post] = scratch.n[IN_HEADLINE] if part < 0 else 0
        n_words, n_letters = ends[post, 0], ends[post, 1]
        for word in range(scratch.n[N_WORDS]):
            if part < 0 or scratch.parts[word] == part:
                keys[n_words], prefixes[n_words] = scratch.keys[word], scratch.prefixes[word]
                weights[n_words] = scratch.weights[word]
                if not is_han[post]:
                    rarities[n_words] = rarity_of(dictionary.frequent, scratch.keys[word])
                n_words += 1
                first, last = scratch.bounds[word, 0], scratch.bounds[word, 1]
                n_letters = copy_letters(points, first, last, dictionary, letters, n_letters)
        ends[post + 1, 0], ends[post + 1, 1] = n_words, n_letters
        ends[post + 1, 2] = copy_rising(scratch.numbers, scratch.n[N_NUMBERS], numbers, ends[post, 2], False)
        ends[post + 1, 3] = copy_rising(scratch.tags, scratch.n[N_TAGS], tags, ends[post, 3], True)
        emoji[post] = scratch.emoji[0]
    n_words, n_letters, n_numbers, n_tags = ends[n_posts, 0], ends[n_posts, 1], ends[n_posts, 2], ends[n_posts, 3]
    return PostWords(
        ends[:, 0].copy(),
        keys[:n_words].copy(),
        prefixes[:n_words].copy(),
        weights[:n_words].copy(),
        rarities[:n_words].copy(),
        ends[:, 1].copy(),
        letters[:n_letters].copy(),
        ends[:, 2].copy(),
        numbers[:n_numbers].copy(),
        ends[:, 3].copy(),
        tags[:n_tags].copy(),
        emoji,
        headlines,
        is_han,
    )
