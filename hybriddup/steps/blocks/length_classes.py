"""Length classes: buckets are kept in order of length, so that a text looks only where its length allows a match."""

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.lengths import count_lengths, first_reaching, largest_so_far
from hybriddup.kernels.planning import count_compatible
from hybriddup.records import Int32s, PairLimits

MAX_CLASSES = 64
LONGEST_TOLD = 2**16
"""Longer texts count as of this length, so that tables by length stay small."""


class LengthClasses(NamedTuple):
    """The lengths of the index cut into classes, so that a later text looks only where the length allows a match."""

    n_classes: int
    of_index: Int32s
    """int32[n_index]."""
    first_of_later: Int32s
    last_of_later: Int32s
    """int32[n_later]: the classes, inclusive, outside which nothing can match."""


def most_classes(n_texts: int, bucket_bits: int) -> int:
    """Return how many length classes keep the cells of a table at about four for each text, 1 to `MAX_CLASSES`."""
    return max(1, min(MAX_CLASSES, 4 * n_texts >> bucket_bits))


def classify_lengths(index: PairLimits, later: PairLimits, n_classes: int) -> LengthClasses:
    """Return the length classes, each of about as many texts of the index as the others."""
    index_lengths, later_lengths = index.lengths.clip(max=LONGEST_TOLD), later.lengths.clip(max=LONGEST_TOLD)
    longest = int(max(index_lengths.max(initial=0), later_lengths.max(initial=0)))
    n_up_to = np.cumsum(count_lengths(index_lengths, longest))
    # a class is what share of the texts is shorter; the texts of one length are all in one class
    class_of = ((n_up_to - 1) * n_classes // max(len(index.lengths), 1)).clip(0, n_classes - 1).astype(np.int32)
    shortest = first_reaching(largest_so_far(index_lengths, index.max_partner_lengths, longest), later_lengths)
    # A text that may only be an exact repeat reaches nobody, yet a shorter one may reach it.
    reach = np.maximum(later.max_partner_lengths, later.lengths).clip(max=longest)
    return LengthClasses(n_classes, class_of[index_lengths], class_of[shortest], class_of[reach])


def compatible_share(limits: PairLimits) -> float:
    """Return the share of pairs of these texts whose lengths allow a match, 0.0 to 1.0."""
    n = len(limits.lengths)
    return float(count_compatible(limits.lengths, limits.max_partner_lengths)) / max(n * (n - 1), 1)
