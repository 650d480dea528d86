"""The audit: estimates the recall of the search for candidate pairs (stage 1) from a sample of the kept posts.

A kept post that matches an earlier kept post was missed. So a sample of kept posts is compared with *all* earlier kept
posts, and all pairs that differ in up to three eighths of the bits are verified, even if the limit of the run is lower.
This finds both the pairs that the block index missed and the pairs beyond the limit; fewer than one repeat in a
thousand differs in more bits.

Most missed repeats have common block keys, which many posts share: a look-up reads only the newest posts with such a
key, and common keys are used last. So a part of the sample consists of posts with common keys, even if such posts are
rare, and the estimate weights both parts by the number of kept posts that they represent (stratified sampling).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from hybriddup.data.limits import NO_BOUND
from hybriddup.data.records import Bools, CandidatePairs, Int32s, Int64s
from hybriddup.data.spread import spread_rows
from hybriddup.kernels.search.decide import NONE
from hybriddup.kernels.search.group_search import Queries
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.kernels.search.pair_limits import TextColumns
from hybriddup.kernels.search.rings import add_kept, make_rings
from hybriddup.run.progress import Clock
from hybriddup.run.summary import Summary
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import search_texts
from hybriddup.steps.deciding.contest import Verify

AUDITED_SHARE = 3 / 8
"""Minimum Hamming limit of the audit, as a share of the bits. If the run's limit plus `WIDER_BY` per 128 bits is
larger, the audit uses this sum."""
WIDER_BY = 4
MAX_PAIRS = 100_000
"""Maximum number of pairs to verify; a sample with more pairs is reduced."""
CHARACTERS_PER_PAIR = 512
"""Total length of two texts, in characters, that counts as one pair toward `MAX_PAIRS`. Two longer texts, which take
longer to verify, count as several pairs."""
FIRST_LOOK = 64
"""Number of posts that are compared first, to estimate the number of pairs of a sample."""
COMMON_IN = 128
"""A block key is common if at least this many texts have it: half of the default of ``max_bucket_size``."""
LEAST_COMMON = 8
"""At least one in this many sampled posts has a common block key, if there are enough such posts. A larger share would
make the estimate for posts without a common key worse."""
LENGTH_CLASSES = 64
"""Maximum number of length classes, each with about the same number of kept posts."""
Z_95 = 1.96


class Stratum(NamedTuple):
    """One part of the kept posts in stratified sampling, with the counts of its sample."""

    n_kept: int
    n_missed: int
    n_looked_at: int
    """Number of posts in the sample, at least 1."""


class Estimate(NamedTuple):
    """An estimated share and half the width of its 95 % interval."""

    share: float
    margin: float


@dataclass(frozen=True)
class Audit:
    """The data from which the recall of the search for candidate pairs is estimated after a run."""

    columns: TextColumns
    """Fingerprints, limits and character sketches of the distinct texts."""
    kept: Int64s
    """int64[n]: the row in `columns` of each kept post that could be a near repeat, in the order of deciding; other
    posts, such as very short posts, cannot be missed."""
    n_removed: int
    """Number of posts removed in the run, including exact repeats."""
    verify: Callable[[Clock], Verify]
    """Returns a function that verifies pairs and adds the time that it takes to a clock."""
    sample: int
    """Maximum number of kept posts in the sample; 0 = no estimate."""
    n_given: int = 0
    """Number of texts at the start of `kept` that were kept without being compared, so that they cannot be missed."""
    has_common_key: Bools | None = None
    """bool[n_texts]: whether each text has a key that many other texts have; None = sample all posts alike."""

    def add_to(self, summary: Summary, workers: int, clock: Clock) -> None:
        """Estimate the recall and add it to the summary; record the time in the clock."""
        if self.sample == 0:
            return
        with clock.step("audit", min(self.sample, len(self.kept) - self.n_given)):
            estimate = self.estimate(self.verify(clock), workers)
        if estimate is not None:
            summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin = estimate

    def estimate(self, verify: Verify, workers: int) -> Estimate | None:
        """Return the estimated recall: removed / (removed + kept posts that still have an earlier kept match).

        The result is None if nothing was removed and nothing was missed.
        """
        audited = self.kept[self.n_given :]
        if not len(audited):
            return Estimate(1.0, 0.0) if self.n_removed else None
        scan = WideScan(self.columns, self.kept, workers)
        strata, sample = [], min(self.sample, len(audited))
        for part, n in parts_of_sample(audited, self.has_common_key, sample):
            n_looked_at, pairs = pairs_of_sample(scan, part, n, MAX_PAIRS * n // sample)
            strata.append(Stratum(len(part), len(np.unique(verify(pairs)[1].later)), n_looked_at))
        if self.n_removed == 0 and not any(stratum.n_missed for stratum in strata):
            return None
        return recall_of(self.n_removed, strata)


def pairs_of_sample(scan: WideScan, part: Int64s, n: int, most_pairs: int) -> tuple[int, CandidatePairs]:
    """Sample up to ``n`` posts of ``part``, fewer if they have more than ``most_pairs`` pairs, but at least one.

    Return the number of sampled posts, and their pairs. A pair of long texts counts as several pairs.
    """
    look = scan.pairs(part[spread_rows(len(part), FIRST_LOOK)])
    chosen = part[spread_rows(len(part), min(n, affordable(int(scan.sizes(look).sum()), most_pairs)))]
    pairs = scan.pairs(chosen)
    chosen = thinned(chosen, pairs.later, scan.sizes(pairs), most_pairs)
    return len(chosen), pairs.take(np.isin(pairs.later, chosen))


def affordable(n_pairs: int, most_pairs: int) -> int:
    """Estimate how many posts together have ``most_pairs`` pairs, if `FIRST_LOOK` posts together have ``n_pairs``."""
    return max(FIRST_LOOK * most_pairs // max(n_pairs, 1), 1)


def thinned(chosen: Int64s, later: Int64s, sizes: Int64s, most_pairs: int) -> Int64s:
    """Leave out every second post of a sample, again and again, until the rest has at most ``most_pairs`` pairs.

    The estimate by `affordable` is often wrong, because a few posts may have most of the pairs. ``later``:
    int64[n_pairs], the sampled post of each pair. ``sizes``: int64[n_pairs], how many pairs each pair counts as.
    """
    while len(chosen) > 1 and sizes[np.isin(later, chosen)].sum() > most_pairs:
        chosen = chosen[::2]
    return chosen


def parts_of_sample(kept: Int64s, has_common_key: Bools | None, sample: int) -> list[tuple[Int64s, int]]:
    """Divide the kept posts by whether they have a common key; return each non-empty part with its sample size.

    The posts are not divided if an evenly spread sample of all posts would contain enough posts with a common key.
    """
    is_common = np.zeros(len(kept), np.bool_) if has_common_key is None else has_common_key[kept]
    common, others = kept[is_common], kept[~is_common]
    if not len(common) or LEAST_COMMON * len(common) >= len(kept):
        return [(np.concatenate([common, others]), sample)]
    n_common = min(max(sample // LEAST_COMMON, 1), len(common))
    return [(common, n_common), (others, max(sample - n_common, 1))]


class WideScan:
    """All kept posts, grouped by length, to be compared within wider Hamming limits than in the run."""

    def __init__(self, columns: TextColumns, kept: Int64s, workers: int) -> None:
        self._workers = workers
        self._lengths = columns.lengths
        limits = columns.limits.copy()
        limits["max_distance"] = widened(limits["max_distance"], 64 * columns.bits.shape[1])
        self._columns = columns._replace(limits=limits)
        self._ranks = np.full(len(columns.bits), NONE)
        self._ranks[kept] = np.arange(len(kept))
        lengths = columns.lengths[kept]
        classes = length_classes(lengths)
        sizes = np.bincount(classes, minlength=LENGTH_CLASSES)
        self._members = np.split(np.argsort(classes, kind="stable"), np.cumsum(sizes)[:-1])
        self._rings, self._starts = make_rings(sizes.astype(np.uint32), len(columns.bits))
        own = self._starts[classes][:, None]
        add_kept(columns, kept, np.ones(len(kept), np.bool_), own, own, self._rings, 0)
        self._shortest = np.full(LENGTH_CLASSES, NO_BOUND, np.int32)
        self._longest_partner = np.full(LENGTH_CLASSES, -1, np.int32)
        np.minimum.at(self._shortest, classes, lengths)
        np.maximum.at(self._longest_partner, classes, columns.max_partner_lengths[kept])

    def pairs(self, rows: Int64s) -> CandidatePairs:
        """Return the pairs of the kept texts in ``rows`` with earlier kept texts, within the wider Hamming limits."""
        columns = self._columns
        longest, lengths = columns.max_partner_lengths[rows], columns.lengths[rows]
        could_match = (self._shortest <= longest[:, None]) & (self._longest_partner >= lengths[:, None])
        starts = np.where(could_match, self._starts, NO_GROUP)
        ranks = self._ranks[rows]
        n_earlier = np.column_stack([np.searchsorted(members, ranks) for members in self._members])
        queries = Queries(rows, starts, n_earlier.astype(np.int32))
        near = search_texts(columns, queries, self._rings, self._workers, BlockReport())
        return CandidatePairs(near.earlier, rows[near.later], near.distances)

    def sizes(self, pairs: CandidatePairs) -> Int64s:
        """Return int64[n_pairs]: how many pairs each pair counts as; several for long texts, which take longer."""
        n_characters = self._lengths[pairs.earlier] + self._lengths[pairs.later]
        return np.asarray(np.maximum(n_characters // CHARACTERS_PER_PAIR, 1), np.int64)


def length_classes(lengths: Int32s) -> Int64s:
    """Return int64[n]: the class of each length, below `LENGTH_CLASSES`; each class has about equally many texts."""
    n_until = np.cumsum(np.bincount(lengths))
    return np.asarray(((n_until - 1) * LENGTH_CLASSES // len(lengths))[lengths])


def widened(max_distances: Int32s, bits: int) -> Int32s:
    """Return the Hamming limits of the audit, given the limits of a run; negative limits (no pairs) are unchanged."""
    wider = np.maximum(max_distances + WIDER_BY * bits // 128, int(bits * AUDITED_SHARE)).clip(max=bits)
    return np.where(max_distances >= 0, wider, max_distances).astype(np.int32)


def recall_of(n_removed: int, strata: Sequence[Stratum]) -> Estimate:
    """Return the recall, given the missed posts in the samples of all strata.

    The interval combines Wilson's intervals of the strata by the method of G. Y. Zou and A. Donner (Construction of
    confidence limits about effect measures, 2008). If every post is in the sample, the margin is 0.

    Examples
    --------
    >>> recall_of(90, [Stratum(100, 10, 100)])
    Estimate(share=0.9, margin=0.0)
    """
    n_missed, fewer, more = 0.0, 0.0, 0.0
    for n_kept, n_hits, n in strata:
        low, high = wilson_interval(n_hits, n) if n < n_kept else (n_hits / n, n_hits / n)
        n_missed += n_kept * n_hits / n
        fewer += (n_kept * (n_hits / n - low)) ** 2
        more += (n_kept * (high - n_hits / n)) ** 2
    recall = _recall(n_removed, n_missed)
    best, worst = _recall(n_removed, max(n_missed - sqrt(fewer), 0.0)), _recall(n_removed, n_missed + sqrt(more))
    return Estimate(recall, max(best - recall, recall - worst))


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of the share ``n_hits / n``; ``n`` must be at least 1.

    This is Wilson's score interval (Wilson 1927), which is valid even if the observed share is 0 or 1.

    Examples
    --------
    >>> low, high = wilson_interval(10, 10)
    >>> round(low, 4), round(high, 4)
    (0.7225, 1.0)
    """
    share, spread = n_hits / n, Z_95**2 / n
    middle = share + spread / 2
    half = sqrt(share * (1 - share) * spread + (spread / 2) ** 2)
    # rounding must not put the share itself outside
    return max(min((middle - half) / (1 + spread), share), 0.0), min(max((middle + half) / (1 + spread), share), 1.0)


def _recall(n_removed: int, n_missed: float) -> float:
    return n_removed / max(n_removed + n_missed, 1e-9)
