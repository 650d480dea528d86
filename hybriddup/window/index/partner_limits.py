"""What later texts may match of those in a window, by length alone."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import Int32s, PairLimits
from hybriddup.kernels.lengths import first_reaching, largest_so_far

LONGEST_TOLD = 2**12
"""Longer texts count as of this length."""


def partner_limits(limits: PairLimits) -> Int32s:
    """Return int32[LONGEST_TOLD + 1]: of texts with these limits, none that a later text may match has a larger one.

    By the length of the later text; -1 where there is none that it may match.
    """
    lengths = limits.lengths.clip(max=LONGEST_TOLD)
    # one that may only be an exact repeat reaches its own length
    reach = np.maximum(limits.max_partner_lengths, limits.lengths).clip(max=LONGEST_TOLD)
    every = np.arange(LONGEST_TOLD + 1, dtype=np.int32)
    shortest = first_reaching(largest_so_far(lengths, reach, LONGEST_TOLD), every)
    of_lengths = np.full(len(every), -1, np.int32)
    np.maximum.at(of_lengths, lengths, limits.max_hamming_distances)
    from_length = np.maximum.accumulate(of_lengths[::-1])[::-1]
    return np.asarray(from_length[shortest])
