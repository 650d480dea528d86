"""What two posts share, as numbers.

| feature | what it tells |
|---|---|
| similar | letters of the words in common and in order, as a share of both posts: 0 to 1 |
| contained | the same as a share of the shorter post |
| length, added, lost | letters of the shorter post; those that the longer one adds; those that it lacks (log) |
| similar_as_sent | all characters in common and in order, hashtags and emoji too: 0 to 1 |
| only_in_shorter, only_in_longer, only_in_both | weight of the words that the other lacks; the smaller one (log) |
| words_contained, words_shared | share of the weight of the shorter post, and of both, that the other has: 0 to 1 |
| words_contained_by_weight, words_shared_by_weight | the same times the weight (log) |
| weight | of the words of the shorter post (log) |
| run, run_share | words of the shorter post that stand in the longer one after another (log; as a share) |
| head, tail, middle | words that only the longer post has: before what they share, after it, within (log) |
| unknown_in_shorter | words of the shorter post that the longer one lacks (log) |
| goes_on | words that the longer post has after the last that they share, where it has all of the shorter one (log) |
| is_headline | 1 where the longer post adds words only after a headline of theirs, as in ``【headline】text`` |
| numbers_differ | 1 where each has a number that the other lacks; 75,000 is 75000, three is 3, EP02 and 第二集 are 2 |
| numbers_added, numbers_same | 1 where only one has such a number; 1 where both have the same ones |
| hashtags_shared | hashtags of both, as a share of all of them: 0 to 1 |
| hashtags_differ, hashtags_of_one | 1 where each has one that the other lacks; 1 where only one post has any |
| little_said | 1 where the shorter post has hardly a word |
| emoji_differ | 1 where that is so and the emoji differ |
| same_words | 1 where the words are the same |
| rarity_in_longer | how rare the words are that only the longer post has, all together (log) |
| rarest_in_shorter, rarest_in_longer | the rarest word that only this post has: 0 to 8 |
| rarity_shared | rarity of the words that both have, as a share of all: 0 to 1 |

*log* is the natural logarithm of one more than the number. Words of those who are quoted count where the own words hold
no clause, and those of hashtags in posts without a Han character. The title of a link, as in ``支持 O你怎么看？``,
counts where the post has hardly a word of its own. A word of letters is known to the other post where that has its
stem, or one that begins with the same four; a particle, as 啦, where it has any particle. The rarity of a word is 8,
or less if it is one of the frequent English ones in ``hybriddup/steps/posts/frequent_words.txt``. It counts half where
the other post has the first four letters of the word, and not at all where one of the two has a Han character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, EncodedTexts, Float64s, Int64s, encode_texts
from hybriddup.kernels.post_features import NAMES, compare_posts
from hybriddup.steps.posts.parts import words_of
from hybriddup.steps.verifiers.characters import common_lengths

__all__ = ["NAMES", "pair_features"]


class PairFeatures(NamedTuple):
    """What pairs of posts share."""

    values: Float64s
    """float64[n_pairs, n_features], in the order of `NAMES`."""
    is_han: Bools
    """bool[n_pairs]: whether one of the two has a Han character."""


def pair_features(posts: Sequence[str], earlier: Int64s, later: Int64s) -> PairFeatures:
    """Return the features of pairs of normalized posts.

    Parameters
    ----------
    earlier, later
        int64[n_pairs]: which posts; a pair has the same features the other way round. Pairs of one later post should
        stand together.
    """
    encoded = encode_texts(posts)
    words, lengths = words_of(encoded), encoded.lengths
    common = common_lengths(encoded, earlier, later)
    letters = EncodedTexts(words.letters.astype(np.uint32), words.letter_offsets)
    common_letters = common_lengths(letters, earlier, later)
    features: Float64s = compare_posts(words, lengths, earlier, later, common_letters, common)
    return PairFeatures(features, words.is_han[earlier] | words.is_han[later])
