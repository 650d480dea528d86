"""Features of a pair of posts: numbers that measure shared words and differences.

| feature | meaning |
|---|---|
| shared | weight of the words that both posts have in the same order (log) |
| letters_shared | common letters of the words in order, without spaces, as a share of both posts: 0 to 1 |
| letters_contained | common letters of the words in order, as a share of the shorter post: 0 to 1 |
| largest_replaced | weight of the largest run of replaced words (log) |
| moved | weight of the words that both posts have, but in different places (log) |
| added_before, added_after | weight of the words that only the longer post has, before or after all shared ones (log) |
| comment | weight of the words that a post adds to a quote and the other post lacks (log) |
| length | weight of the shorter post (log) |
| adding | weight of the words that only the longer post has, in any place, other spellings aside (log) |
| numbers_differ | 1 if each post has a number that the other lacks |
| hashtags_differ, hashtags_of_one | 1 if each post has another hashtag at its ends; 1 if only one post has one more |
| sources_differ, source_of_one | likewise for names of sources, as in ``BREAKING: ...`` and ``... | Daily Post`` |
| emoji_differ | 1 if each post has an emoji that the other lacks |
| names_differ | 1 if each post has a mention, link or flag that the other lacks |
| goes_on | 1 if one post is cut off, and is the beginning of the other post or has it as its heading |

*log* is ln(1 + x). A Han character weighs 1, a word 0.25 per letter up to 2, a number 1; interjections, laughter and
particles weigh nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Float64s, Int64s, encode_texts
from hybriddup.kernels.posts.curves import Curves
from hybriddup.kernels.posts.features import compare_posts, differences_of
from hybriddup.kernels.posts.parsing import ParsedPosts
from hybriddup.steps.posts.characters import load_characters
from hybriddup.steps.posts.parts import letters_of, parse
from hybriddup.steps.verifiers.characters import common_lengths
from hybriddup.steps.verifiers.post.model import as_curves


def pair_features(
    posts: Sequence[str] | ParsedPosts,
    earlier: Int64s,
    later: Int64s,
    bound: tuple[Curves, Float64s] | None = None,
) -> Float64s:
    """Return float64[n_pairs, n_features]: the features of pairs of normalized posts, in the order of `FEATURES`.

    `FEATURES` is in `hybriddup.kernels.posts.features`.

    Parameters
    ----------
    posts
        Normalized posts, or parsed ones.
    earlier, later
        int64[n_pairs]: indices into ``posts``; the features are symmetric in the two posts.
    bound
        From `PostModel.bound`. Pairs that it excludes are not aligned: their features that need an alignment are 0.
    """
    parsed = posts if isinstance(posts, ParsedPosts) else parse(encode_texts(posts))
    common = common_lengths(letters_of(parsed), earlier, later)
    curves, least = bound or (as_curves(0.0, []), np.full(len(earlier), -np.inf))
    return np.asarray(compare_posts(parsed, load_characters(), earlier, later, common, curves, least))


def describe_differences(a: str, b: str) -> list[str]:
    """Return the differences in the words of two normalized posts, in order, one line for each.

    Examples
    --------
    >>> describe_differences("你妈妈喊你回家吃饭哦", "今天你妈妈叫你回家吃饭啦")
    ['added: 今天', 'replaced: 喊 by 叫', 'particle: 哦 by 啦']
    """
    parsed = parse(encode_texts([a, b]))

    def spanned(first: int, last: int) -> str:
        return (a + b)[parsed.bounds[first, 0] : parsed.bounds[last - 1, 1]] if last > first else ""

    lines = []
    for from_a, to_a, from_b, to_b in differences_of(parsed).tolist():
        before, after = spanned(from_a, to_a), spanned(from_b, to_b)
        has_weight = parsed.weights[from_a:to_a].any() or parsed.weights[from_b:to_b].any()
        if before and after:
            lines.append(f"{'replaced' if has_weight else 'particle'}: {before} by {after}")
        else:
            lines.append(f"added: {after}" if after else f"missing: {before}")
    return lines
