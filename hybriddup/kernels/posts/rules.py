"""Rules that override the model's score of a pair of posts, based on the features of the pair."""

import numpy as np

from hybriddup.data.records import Float64s, UInt8s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts import features as column

NO_RULE, ONLY_SPELLING, CUT_SHORT, COMMENTED, OTHER_NUMBERS, OTHER_NAMES, NO_WORDS = map(np.uint8, range(7))


@njit(cache=True, nogil=True)
def find_rules(features: Float64s, cut_off: float, comment: float, little: float) -> UInt8s:
    """Return uint8[n_pairs]: the first rule that applies to each pair, or `NO_RULE`.

    Parameters
    ----------
    features
        float64[n_pairs, n_features], in the order of `hybriddup.kernels.posts.features.FEATURES`.
    cut_off, comment, little
        Limits of log(1 + weight): the minimum for a post that counts as cut off, the minimum for words that count as a
        comment, and the value below which a post has little text.
    """
    found = np.empty(len(features), np.uint8)
    for pair in range(len(features)):
        row = features[pair]
        is_named_otherwise = row[column.NAMES_DIFFER] > 0.0 or row[column.SOURCES_DIFFER] > 0.0
        has_other_signs = (
            row[column.HASHTAGS_DIFFER] > 0.0 or row[column.HASHTAGS_OF_ONE] > 0.0 or row[column.EMOJI_DIFFER] > 0.0
        )
        if row[column.LETTERS_SHARED] == 1.0 and not is_named_otherwise and not has_other_signs:
            found[pair] = ONLY_SPELLING
        elif row[column.GOES_ON] == 1.0 and row[column.LENGTH] >= cut_off:
            found[pair] = CUT_SHORT
        elif row[column.COMMENT] >= comment:
            found[pair] = COMMENTED
        elif row[column.NUMBERS_DIFFER] == 1.0:
            found[pair] = OTHER_NUMBERS
        elif is_named_otherwise and row[column.LENGTH] < little:
            found[pair] = OTHER_NAMES
        else:
            found[pair] = NO_WORDS if row[column.LENGTH] == 0.0 and has_other_signs else NO_RULE
    return found
