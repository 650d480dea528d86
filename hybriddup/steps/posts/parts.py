"""Reduces normalized posts to their body: the words of the content, without decoration such as hashtags."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np

from hybriddup.data.records import EncodedTexts, Int64s, decode_texts, encode_texts
from hybriddup.kernels.posts.parsing import N_SETS, TAGS, ParsedPosts, join_tokens, parse_posts
from hybriddup.kernels.posts.words import may_have_more_than_words, words_of_posts
from hybriddup.steps.parallel import map_threads
from hybriddup.steps.posts.characters import load_characters

T = TypeVar("T")
BODY = 5.0
"""Minimum weight of the words in the body of a post with hashtags: 5 Han characters, or about 3 words in other scripts.
With less, the post has no body and is compared whole."""
BODY_FORMAT = 7
"""Version of the results of `bodies_of` and `words_of`; incremented when the results change. If bodies are compared, it
is part of the recipe, which identifies fingerprints that are comparable."""
POSTS_PER_SLICE = 512  # few enough that the parsed posts stay in the cache


def parse(posts: EncodedTexts) -> ParsedPosts:
    """Parse normalized posts: find words, numbers, hashtags and emoji, and the words and numbers that are quoted."""
    parsed: ParsedPosts = parse_posts(*posts, load_characters())
    return parsed


def letters_of(posts: ParsedPosts) -> EncodedTexts:
    """Return the letters of each post's words as texts without spaces."""
    return EncodedTexts(posts.letters, posts.starts[posts.offsets].astype(np.int64))


def body_lengths(posts: Sequence[str], workers: int = 1) -> Int64s:
    """Return int64[n]: the number of letters in the words of each normalized post, without decoration.

    The parameters are the same as for `bodies_of`.

    Examples
    --------
    >>> body_lengths(["#日常# 早安", "早安", "早安呀"]).tolist()
    [2, 2, 3]
    """
    lengths = in_slices(lambda some: letters_of(parse(encode_texts(some))).lengths, posts, workers)
    return np.concatenate([np.zeros(0, np.int64), *lengths])


def bodies_of(posts: Sequence[str], workers: int = 1) -> list[str]:
    """Return the body of each post: the words of its content, without decoration and punctuation.

    Quoted words are included; if the post adds no content to the quote, the body is only the quote. A post whose words
    weigh less than `BODY` is returned unchanged if it has hashtags or no words.

    Parameters
    ----------
    posts
        Normalized; quotes are marked by ``<repost>``.
    workers
        Number of threads.

    Examples
    --------
    >>> bodies_of(["#日常# 今天的天气真的非常好!", "#日常# 早安", "早安 😊", "a very sunny morning at sea, #sea"])
    ['今天的天气真的非常好', '#日常# 早安', '早安', 'a very sunny morning at sea']
    """
    return list(chain.from_iterable(in_slices(bodies_of_few, posts, workers)))


def in_slices(convert: Callable[[Sequence[str]], T], posts: Sequence[str], workers: int) -> Iterator[T]:
    """Yield the results of ``convert`` for `POSTS_PER_SLICE` posts at a time, in order, from several threads."""
    starts = range(0, len(posts), POSTS_PER_SLICE)
    return map_threads(lambda start: convert(posts[start : start + POSTS_PER_SLICE]), starts, workers)


def bodies_of_few(posts: Sequence[str]) -> list[str]:
    """Return the body of each post, for posts that fit into the CPU cache together."""
    encoded = encode_texts(posts)
    parsed = parse(encoded)
    points, bounds, weights = join_tokens(encoded.code_points, parsed, load_characters())
    texts = decode_texts(points, bounds)
    n_tags, n_letters = np.diff(parsed.set_offsets)[TAGS::N_SETS], np.diff(bounds)
    has_body = ((weights >= BODY) | ((n_letters > 0) & (n_tags == 0))).tolist()
    return [text if has else post for text, has, post in zip(texts, has_body, posts, strict=True)]


def words_of(posts: Sequence[str], workers: int = 1) -> list[str]:
    """Return normalized posts without emoji, links and mentions; a post with nothing else is returned unchanged.

    The parameters are the same as for `bodies_of`.

    Examples
    --------
    >>> words_of(["early :) 👍👍 @you", "早安[太阳] http://t.cn/a1", "👍👍", "just words"])
    ['early :)', '早安', '👍👍', 'just words']
    """
    return list(chain.from_iterable(in_slices(words_of_few, posts, workers)))


def words_of_few(posts: Sequence[str]) -> Sequence[str]:
    """Return the words of each post, for posts that fit into the CPU cache together."""
    characters = load_characters()
    chosen = np.flatnonzero(may_have_more_than_words(*encode_texts(posts), characters.kinds)).tolist()
    if not chosen:
        return posts
    words = words_of_posts(*encode_texts([posts[place] for place in chosen]), characters)
    without = list(posts)
    for place, text in zip(chosen, decode_texts(*words), strict=True):
        without[place] = text
    return without
