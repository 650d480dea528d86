"""Length classes: buckets are kept in order of length, so that a text looks only where its length allows a match."""

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.bucket_join import LengthRange
from hybriddup.kernels.planning import count_compatible
from hybriddup.limits import NO_BOUND
from hybriddup.records import Int32s, PairLimits

MAX_CLASSES = 64


def shortest_partners(index: PairLimits, later_lengths: Int32s) -> Int32s:
    """Return int32[n_later]: the shortest text of the index that can match each later text, as a bound.

    A shorter text reaches as far as its ``max_partner_length``; that need not rise with length where bands differ,
    so the farthest reach of all texts up to a length is what bounds.
    """
    order = np.argsort(index.lengths, kind="stable")
    lengths, reaches = index.lengths[order], np.maximum.accumulate(index.max_partner_lengths[order])
    first = np.searchsorted(reaches, later_lengths, side="left")
    shortest = np.append(lengths, np.int32(NO_BOUND))[first]
    return np.minimum(shortest, later_lengths).astype(np.int32)


class LengthClasses(NamedTuple):
    """The lengths of the index cut into classes, so that a later text looks only where the length allows a match."""

    n_classes: int
    of_index: Int32s
    """int32[n_index]."""
    range_of_later: LengthRange


def most_classes(n_texts: int, bucket_bits: int) -> int:
    """Return how many length classes keep the cells of a table at about four for each text, 1 to `MAX_CLASSES`."""
    return max(1, min(MAX_CLASSES, 4 * n_texts >> bucket_bits))


def classify_lengths(index: PairLimits, later: PairLimits, n_classes: int) -> LengthClasses:
    """Return the length classes, each of about as many texts of the index as the others."""
    cuts = np.quantile(index.lengths, np.arange(1, n_classes) / n_classes, method="nearest")
    return LengthClasses(
        n_classes,
        np.searchsorted(cuts, index.lengths, side="right").astype(np.int32),
        LengthRange(
            np.searchsorted(cuts, shortest_partners(index, later.lengths), side="right").astype(np.int32),
            # A text that may only be an exact repeat reaches nobody, yet a shorter one may reach it.
            np.searchsorted(cuts, np.maximum(later.max_partner_lengths, later.lengths), side="right").astype(np.int32),
        ),
    )


def compatible_share(limits: PairLimits) -> float:
    """Return the share of pairs of these texts whose lengths allow a match, 0.0 to 1.0."""
    n = len(limits.lengths)
    return float(count_compatible(limits.lengths, limits.max_partner_lengths)) / max(n * (n - 1), 1)
