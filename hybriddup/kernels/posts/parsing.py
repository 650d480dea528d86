"""Parses posts for comparison into content tokens, letters, and sets of numbers, hashtags and the like."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float32s, Float64s, Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import ONE
from hybriddup.kernels.posts.structure import OWN_WORDS, arrange, end_of_heading, start_of_label
from hybriddup.kernels.posts.tokens import (
    CHARACTER,
    CLUSTER,
    KIND,
    NAME,
    NUMBER,
    SPACE,
    WORD,
    Characters,
    Tokens,
    is_spelling,
    make_tokens,
    read_tokens,
)
from hybriddup.kernels.sorting import sort_run
from hybriddup.kernels.text.words import mark_words

NUMBERS, NAMES, TAGS, EMOJIS, SOURCES = range(5)
N_SETS = 5
"""Number of sets of keys of a post, in the order of the kinds of tokens from `NUMBER` on."""


class ParsedPosts(NamedTuple):
    """Parsed posts, concatenated."""

    offsets: Int64s
    """int64[n_posts + 1]: post ``p`` has the tokens ``offsets[p]`` to ``offsets[p + 1] - 1``."""
    keys: UInt64s
    kinds: UInt8s
    weights: Float32s
    """``keys``, uint64[n], ``kinds``, uint8[n], and ``weights``, float32[n]: the content tokens, as in `Tokens`."""
    is_own: Bools
    """bool[n]: whether the post quotes another one and the token is outside the quote."""
    bounds: Int32s
    """int32[n, 2]: begin and end of each token, as indices into the code points of all texts."""
    starts: Int32s
    """int32[n + 1]: index of each token's first letter in ``letters``."""
    letters: UInt32s
    """uint32[n_letters]: spelling of the tokens as code points, without spaces."""
    set_offsets: Int64s
    """int64[N_SETS * n_posts + 1]: set ``s`` of post ``p`` begins at ``set_keys[set_offsets[N_SETS * p + s]]``."""
    set_keys: UInt64s
    """uint64[n]: keys of the tokens in each set, ascending within a set; only the numbers may occur more than once."""
    is_cut: Bools
    """bool[n_posts]: whether each post ends in ``...`` or the like."""
    headings: Int64s
    """int64[n_posts]: number of letters of the heading of each cut post; 0 for a post without a heading."""


@njit(cache=True, nogil=True)
def parse_posts(points: UInt32s, offsets: Int64s, known: Characters) -> ParsedPosts:
    """Parse the posts, given as the two arrays of `hybriddup.data.records.EncodedTexts`."""
    n_posts, n_points = len(offsets) - 1, len(points)
    begins, tokens = mark_words(points, offsets, known.word_classes), make_tokens(offsets)
    keys, kinds, weights = np.empty(n_points, np.uint64), np.empty(n_points, np.uint8), np.empty(n_points, np.float32)
    bounds, starts = np.empty((n_points, 2), np.int32), np.empty(n_points + 1, np.int32)
    is_own = np.empty(n_points, np.bool_)
    letters, set_keys = np.empty(n_points, np.uint32), np.empty(2 * n_points, np.uint64)
    token_offsets, set_offsets = np.zeros(n_posts + 1, np.int64), np.zeros(N_SETS * n_posts + 1, np.int64)
    is_cut, headings = np.zeros(n_posts, np.bool_), np.zeros(n_posts, np.int64)
    n, n_letters, starts[0] = np.int64(0), np.int64(0), 0
    for post in range(n_posts):
        first_point, end = offsets[post], start_of_label(points, offsets[post], offsets[post + 1], known)
        found = read_tokens(points, first_point, end, begins, known, tokens)
        is_cut[post] = arrange(points, first_point, end, tokens, found)
        heading = end_of_heading(points, end, tokens, found) if is_cut[post] else 0
        has_quote, present, first_letter = begin_quote(tokens, found), ONE, n_letters
        for token in range(found):
            kind = tokens.kinds[token]
            present |= ONE << np.uint64(kind)
            if not WORD <= kind <= NAME or (has_quote < 0 and tokens.parts[token] == 0):
                continue
            keys[n], kinds[n], weights[n] = tokens.keys[token], kind, tokens.weights[token]
            first, last = tokens.bounds[token, 0], tokens.bounds[token, 1]
            bounds[n, 0], bounds[n, 1] = first, last
            is_own[n] = has_quote > 0 and tokens.parts[token] == 0
            n_letters = copy_letters(points, first, last, kind, known, letters, n_letters)
            n += 1
            starts[n] = n_letters
            if token < heading:
                headings[post] = n_letters - first_letter
        token_offsets[post + 1] = n
        for which in range(N_SETS):
            start = set_offsets[N_SETS * post + which]
            end = list_keys(tokens, found, present, NUMBER + which, set_keys, start)
            sort_run(set_keys, start, end)
            set_offsets[N_SETS * post + which + 1] = end if which == NUMBERS else drop_repeats(set_keys, start, end)
    return ParsedPosts(
        token_offsets,
        keys[:n],
        kinds[:n],
        weights[:n],
        is_own[:n],
        bounds[:n],
        starts[: n + 1],
        letters[: starts[n]],
        set_offsets,
        set_keys[: set_offsets[-1]],
        is_cut,
        headings,
    )


@njit(cache=True, nogil=True, inner=True)
def begin_quote(tokens: Tokens, n: int) -> int:
    """Return 0 if a post has no quote, -1 if the words outside its quote weigh less than `OWN_WORDS`, otherwise 1."""
    own, quoted = np.float32(0.0), np.float32(0.0)
    for token in range(n if n > 0 and tokens.parts[n - 1] > 0 else 0):
        if WORD <= tokens.kinds[token] <= NAME:
            own += tokens.weights[token] if tokens.parts[token] == 0 else np.float32(0.0)
            quoted += tokens.weights[token] if tokens.parts[token] > 0 else np.float32(0.0)
    if quoted == np.float32(0.0):
        return np.int64(0)
    return np.int64(1 if own >= OWN_WORDS else -1)


@njit(cache=True, nogil=True, inner=True)
def copy_letters(
    points: UInt32s, first: int, last: int, kind: np.uint8, known: Characters, letters: UInt32s, n: int
) -> int:
    """Append the spelling of a token to ``letters[:n]``; return the new ``n``."""
    for at in range(first, last):
        if kind == CHARACTER and at > first and points[at] == points[first]:
            return n  # a character repeated for emphasis
        if kind != WORD or is_spelling(points, first, at, last, known):
            letters[n] = points[at]
            n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def list_keys(tokens: Tokens, n_tokens: int, present: np.uint64, kind: int, set_keys: UInt64s, n: int) -> int:
    """Append the keys of a post's tokens of one kind to ``set_keys[:n]``; return the new ``n``.

    Bit ``k`` of ``present`` is set if any token is of kind ``k``.
    """
    for token in range(n_tokens if present >> np.uint64(kind) & ONE else 0):
        if tokens.kinds[token] == kind:
            set_keys[n] = tokens.keys[token]
            n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def drop_repeats(keys: UInt64s, first: int, last: int) -> int:
    """Drop repeated keys from ``keys[first:last]``, which is sorted; return the new ``last``."""
    n = first
    for i in range(first, last):
        if i == first or keys[i] != keys[i - 1]:
            keys[n] = keys[i]
            n += 1
    return n


@njit(cache=True, nogil=True)
def join_tokens(points: UInt32s, posts: ParsedPosts, known: Characters) -> tuple[UInt32s, Int64s, Float64s]:
    """Join the tokens of each post into one text; return the texts and the total weight of each post, float64[n_posts].

    The texts are returned as their code points, uint32[n], and bounds, int64[n_posts + 1]. A space separates a token
    from the next one, except after Han and kana, and after a character of Thai, Hangul or the like if the next token
    is adjacent in the post.
    """
    n_posts = len(posts.offsets) - 1
    joined, bounds = np.empty(len(posts.letters) + len(posts.keys), np.uint32), np.zeros(n_posts + 1, np.int64)
    n, weights = np.int64(0), np.zeros(n_posts)
    for post in range(n_posts):
        for token in range(posts.offsets[post], posts.offsets[post + 1]):
            weights[post] += posts.weights[token]
            for at in range(posts.starts[token], posts.starts[token + 1]):
                joined[n] = posts.letters[at]
                n += 1
            if token + 1 < posts.offsets[post + 1] and is_space_after(points, posts, token, known):
                joined[n] = SPACE
                n += 1
        bounds[post + 1] = n
    return joined[:n].copy(), bounds, weights


@njit(cache=True, nogil=True, inner=True)
def is_space_after(points: UInt32s, posts: ParsedPosts, token: int, known: Characters) -> bool:
    """Return whether `join_tokens` writes a space between a token of a post and the next one."""
    if posts.kinds[token] != CHARACTER:
        return True
    kind = known.kinds[points[posts.bounds[token, 0]]] & KIND
    return bool(kind >= CLUSTER and posts.bounds[token + 1, 0] > posts.bounds[token, 1])
