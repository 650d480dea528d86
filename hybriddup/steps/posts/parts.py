"""The parts of normalized posts: the words that count, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import EncodedTexts, Int64s, encode_texts
from hybriddup.kernels.post_words import PostWords, parse_posts
from hybriddup.steps.parallel import map_slices
from hybriddup.steps.posts.dictionary import load_dictionary

BODY = 5.0
"""Words of less weight are no body: 5 Han characters, or some 3 words of other letters. With 8, as many posts more are
found as are lost for the whole posts that are then compared, whose hashtags are most of them."""
BODY_FORMAT = 2
"""Part of the recipe where bodies are compared; raised when the same post comes to have another body. Since 2, titles
of links are no body, and ``f.b.i.`` is one word."""
POSTS_A_SLICE = 512
"""Few enough that what is found of them stays in the cache."""


def words_of(posts: EncodedTexts) -> PostWords:
    """Return the words of normalized posts, and what stands beside them."""
    words: PostWords = parse_posts(*posts, load_dictionary())
    return words


def body_lengths(posts: Sequence[str], workers: int = 1) -> Int64s:
    """Return int64[n]: the letters of the words of normalized posts, without what stands beside them.

    Parameters are those of `bodies_of`.

    Examples
    --------
    >>> body_lengths(["#日常# 早安", "早安", "早安呀"]).tolist()
    [2, 2, 3]
    """

    def lengths_of_slice(first: int, last: int) -> list[Int64s]:
        starts = range(first, last, POSTS_A_SLICE)
        some = (posts[start : min(start + POSTS_A_SLICE, last)] for start in starts)
        return [np.diff(words_of(encode_texts(few)).letter_offsets) for few in some]

    slices = map_slices(lengths_of_slice, len(posts), workers, POSTS_A_SLICE)
    return np.concatenate([np.zeros(0, np.int64), *(few for some in slices for few in some)])


def bodies_of(posts: Sequence[str], workers: int = 1) -> list[str]:
    """Return the body of each post: the words that count, without what stands beside them and between them.

    These are its own words and those that it quotes, or the quoted ones alone where its own hold no clause. A post
    with words of less weight than `BODY` has no body: the post itself is returned.

    Parameters
    ----------
    posts
        Normalized; quotes are marked by ``<repost>``.
    workers
        Threads.

    Examples
    --------
    >>> bodies_of(["#日常# 今天的天气真的非常好!", "#日常# 早安", "a very sunny day, #goodmorning"])
    ['今天的天气真的非常好', '#日常# 早安', 'a very sunny day goodmorning']
    """

    def bodies_of_slice(first: int, last: int) -> list[str]:
        bodies: list[str] = []
        for start in range(first, last, POSTS_A_SLICE):
            bodies += bodies_of_few(posts[start : min(start + POSTS_A_SLICE, last)])
        return bodies

    return [body for bodies in map_slices(bodies_of_slice, len(posts), workers, POSTS_A_SLICE) for body in bodies]


def bodies_of_few(posts: Sequence[str]) -> list[str]:
    """Return the bodies of so few posts that their words lie in the cache."""
    words = words_of(encode_texts(posts))
    letters = words.letters.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    weights = np.concatenate([np.zeros(1), np.cumsum(words.weights, dtype=np.float64)])
    has_body = (weights[words.offsets[1:]] - weights[words.offsets[:-1]] >= BODY).tolist()
    bounds = words.letter_offsets.tolist()
    return [
        letters[bounds[place] : bounds[place + 1]].rstrip() if has_body[place] else post
        for place, post in enumerate(posts)
    ]
