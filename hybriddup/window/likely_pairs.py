"""A limit of the pairs that are verified for one post.

Posts can be made that are near one another by their fingerprints and match none of the others; each would then be
compared with all before it. So of each post only the nearest pairs are verified, which are the likeliest to match:
`MOST_PAIRS`, and fewer where the text is long, since the work for a pair grows with the square of the length. Ordinary
posts hardly reach it: of 300,000 Weibo posts in one window, 247 had more, and as many repeats were found as with four
times the limit.
"""

from __future__ import annotations

import numpy as np

from hybriddup.kernels.likely_pairs import nearest_pairs
from hybriddup.records import CandidatePairs, Int32s, Int64s
from hybriddup.steps.verifiers.edit import LONGEST_BY_KERNEL

MOST_PAIRS = 64
CHARACTERS = 16_000
"""Of all the earlier texts that a post is compared with, if these are as long as its own."""
CHARACTERS_OF_LONG = 20_000
"""The same where a text is longer than the compiled kernel compares (`LONGEST_BY_KERNEL`): two texts of 20,000
characters take some 30 ms."""


def likeliest(pairs: CandidatePairs, first: int, lengths: Int32s) -> tuple[CandidatePairs, int]:
    """Return the pairs that are worth verifying, in the order given, and of how many posts there were more.

    Parameters
    ----------
    pairs
        ``later`` is a position of the batch.
    first
        The position of the first post of the batch; the others follow one by one.
    lengths
        int32[n_posts]: of their texts.
    """
    rows = pairs.later - first
    counts, most = np.bincount(rows, minlength=len(lengths)), most_pairs(lengths)
    n_cut = int((counts > most).sum())
    if not n_cut:
        return pairs, 0
    n_distances = int(pairs.hamming_distances.max()) + 1
    return pairs.take(nearest_pairs(rows, pairs.hamming_distances, most, n_distances)), n_cut


def most_pairs(lengths: Int32s) -> Int64s:
    """Return int64[n]: how many pairs of posts with texts of these lengths are verified."""
    characters = np.where(lengths > LONGEST_BY_KERNEL, CHARACTERS_OF_LONG, CHARACTERS)
    most: Int64s = np.clip(characters // np.maximum(lengths, 1), 1, MOST_PAIRS).astype(np.int64)
    return most
