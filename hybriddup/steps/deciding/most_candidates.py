"""A limit of the candidates of one text that are verified.

Texts can be made that are near one another by their fingerprints and match none of the others; each would then be
compared with all before it. So of each text only the nearest candidates are verified, which are the likeliest to match,
and fewer where the text is long, since the work for a pair grows with the square of the length.
"""

import numpy as np

from hybriddup.data.records import Int32s, Int64s
from hybriddup.steps.verifiers.edit import LONGEST_BY_KERNEL

ALL = 2**62
CHARACTERS = 16_000
"""Of all candidates of a text, if these are as long as its own."""
CHARACTERS_OF_LONG = 20_000
"""The same where a text is longer than the compiled kernel compares (`LONGEST_BY_KERNEL`): two texts of 20,000
characters take some 30 ms."""


def most_candidates(lengths: Int32s, *, most: int) -> Int64s:
    """Return int64[n]: how many candidates of texts of these lengths are verified.

    Parameters
    ----------
    most
        Of a short text; 0 = all, whatever the length.

    Examples
    --------
    >>> most_candidates(np.array([40, 1600], np.int32), most=64).tolist()
    [64, 10]
    """
    if not most:
        return np.full(len(lengths), ALL)
    characters = np.where(lengths > LONGEST_BY_KERNEL, np.int64(CHARACTERS_OF_LONG), np.int64(CHARACTERS))
    n_fitting: Int64s = np.maximum(characters // np.maximum(lengths, 1), 1)
    return np.minimum(n_fitting, most)
