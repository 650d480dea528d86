"""What later texts may match of those in a window, by length alone."""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import PairLimits
from hybriddup.kernels.lengths import first_reaching, largest_so_far
from hybriddup.kernels.ring_texts import Partners

LONGEST_TOLD = 2**12
"""Longer texts count as of this length."""


def find_partners(limits: PairLimits) -> Partners:
    """Return which of the texts with these limits a later text may match, for each length up to `LONGEST_TOLD`."""
    lengths = limits.lengths.clip(max=LONGEST_TOLD)
    # one that may only be an exact repeat reaches its own length
    reach = np.maximum(limits.max_partner_lengths, limits.lengths).clip(max=LONGEST_TOLD)
    every = np.arange(LONGEST_TOLD + 1, dtype=np.int32)
    shortest = first_reaching(largest_so_far(lengths, reach, LONGEST_TOLD), every)
    of_lengths = np.full(len(every), -1, np.int32)
    np.maximum.at(of_lengths, lengths, limits.max_hamming_distances)
    from_length = np.maximum.accumulate(of_lengths[::-1])[::-1]
    return Partners(from_length[shortest], shortest)
