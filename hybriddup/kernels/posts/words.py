"""Removes emoji, links and mentions from posts, before fingerprints and keys are computed."""

import numpy as np

from hybriddup.data.records import Bools, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.tokens import (
    AT,
    EMOJI,
    HTTP,
    KIND,
    NAME,
    OPEN,
    PICTURE,
    SPACE,
    Characters,
    Tokens,
    begins_with,
    make_tokens,
    read_tokens,
)
from hybriddup.kernels.text.words import mark_words


@njit(cache=True, nogil=True)
def may_have_more_than_words(points: UInt32s, offsets: Int64s, kinds: UInt8s) -> Bools:
    """Return bool[n_posts]: False for posts that certainly have no emoji, link or mention.

    ``points`` and ``offsets``: the posts, as in `hybriddup.data.records.EncodedTexts`; ``kinds``: `Characters.kinds`.
    """
    may_have = np.zeros(len(offsets) - 1, np.bool_)
    for post in range(len(may_have)):
        for at in range(offsets[post], offsets[post + 1]):
            point = points[at]
            is_sign = point in (AT, OPEN) or kinds[point] & KIND == PICTURE
            if is_sign or (point == HTTP[0] and begins_with(points, at, offsets[post + 1], HTTP)):
                may_have[post] = True
                break
    return may_have


@njit(cache=True, nogil=True)
def words_of_posts(points: UInt32s, offsets: Int64s, known: Characters) -> tuple[UInt32s, Int64s]:
    """Remove emoji, links and mentions from posts; a post with nothing else is unchanged.

    Posts are passed and returned as the two arrays of `hybriddup.data.records.EncodedTexts`.
    """
    n_posts = len(offsets) - 1
    begins, tokens = mark_words(points, offsets, known.word_classes), make_tokens(offsets)
    words, bounds = np.empty(len(points), np.uint32), np.zeros(n_posts + 1, np.int64)
    for post in range(n_posts):
        first, end = offsets[post], offsets[post + 1]
        found, start = read_tokens(points, first, end, begins, known, tokens), bounds[post]
        bounds[post + 1] = start + end - first
        words[start : bounds[post + 1]] = points[first:end]
        if has_words(tokens, found):
            bounds[post + 1] = copy_words(points, first, end, tokens, found, words, start)
    return words[: bounds[n_posts]], bounds


@njit(cache=True, nogil=True, inner=True)
def has_words(tokens: Tokens, n: int) -> bool:
    """Return whether any of the first ``n`` tokens is a word, character, number or hashtag."""
    for token in range(n):  # noqa: SIM110  (numba has no any)
        if tokens.kinds[token] not in (EMOJI, NAME):
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def copy_words(points: UInt32s, first: int, end: int, tokens: Tokens, n_tokens: int, words: UInt32s, n: int) -> int:
    """Append a post to ``words[:n]``, without emoji, links, mentions and repeated spaces; return the new ``n``."""
    start, at = n, first
    for token in range(n_tokens + 1):
        is_last = token == n_tokens
        if not is_last and tokens.kinds[token] not in (EMOJI, NAME):
            continue
        for place in range(at, end if is_last else tokens.bounds[token, 0]):
            if points[place] != SPACE or (n > start and words[n - 1] != SPACE):
                words[n] = points[place]
                n += 1
        at = end if is_last else tokens.bounds[token, 1]
    return n - 1 if n > start and words[n - 1] == SPACE else n
