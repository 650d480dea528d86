"""The audit: how much of what it should have found did stage 1 find? Estimated on a sample of the kept posts.

A kept post that still has an earlier kept match was missed. So a sample of kept posts is compared with *all* earlier
kept posts, by scanning, and the verifier is asked about everything within three eighths of the bits, however narrow the
run's own limit is. That sees both what the block index missed and what lay beyond the limit; repeats that differ in
more bits than that are rarer than one in a thousand.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from hybriddup.records import Fingerprints
from hybriddup.spread import spread_rows
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.deciders import Verify

AUDITED_SHARE = 3 / 8
"""Share of the bits in which audited pairs may differ; four more than the run allows where that is wider still."""
WIDER_BY = 4
MAX_PAIRS = 200_000
"""About as many pairs as the verifiers are asked about; where more come up, the sample is made smaller."""
FIRST_LOOK = 64
"""Posts by which it is estimated how many pairs will come up."""
Z_95 = 1.96


class Estimate(NamedTuple):
    """An estimated share and half the width of its 95 % interval."""

    share: float
    margin: float


def estimate_recall(
    kept: Fingerprints | None, n_removed: int, verify: Verify, *, sample: int, workers: int
) -> Estimate | None:
    """Return the estimated recall: removed / (removed + kept posts that still have an earlier kept match).

    Parameters
    ----------
    kept
        The kept posts that could be near repeats; the others (too short, say) cannot have been missed. None = no post.
    n_removed
        Posts removed in the whole run, exact repeats among them.
    sample
        Kept posts to look at, at most.

    Returns
    -------
    None where nothing was removed and nothing was found, so that there is no share to give.
    """
    if kept is None:
        return Estimate(1.0, 0.0) if n_removed else None
    scan = wide_scan(kept, workers)
    n_pairs = len(scan.candidates(kept_rows(kept, FIRST_LOOK)))
    affordable = FIRST_LOOK * MAX_PAIRS // max(n_pairs, 1)
    chosen = kept_rows(kept, max(min(sample, affordable), 1))
    n_missed = len(np.unique(verify(scan.candidates(chosen)).later))
    if n_removed == 0 and n_missed == 0:
        return None
    return recall_of(n_removed, len(kept), n_missed, len(chosen))


def wide_scan(kept: Fingerprints, workers: int) -> Scan:
    """Return an index of the kept posts that compares all of them."""
    scan = Scan()
    bits = 64 * kept.bits.shape[1]
    scan.prepare(Expectation(len(kept), workers, bits, int(bits * AUDITED_SHARE), no_pilot))
    scan.add(widen(kept))
    return scan


def kept_rows(kept: Fingerprints, n: int) -> Fingerprints:
    """Return at most ``n`` of the kept posts, evenly spread, with the audit's limits."""
    return widen(kept.take(spread_rows(len(kept), n)))


def no_pilot() -> tuple[Fingerprints, Fingerprints]:
    """Refuse: a scan plans nothing."""
    raise AssertionError("a scan asks for no pilot pairs")


def widen(prints: Fingerprints) -> Fingerprints:
    """Return the posts with the audit's Hamming limits, where near repeats are looked for at all."""
    bits = 64 * prints.bits.shape[1]
    distances = prints.limits.max_hamming_distances
    wider = np.maximum(distances + WIDER_BY * bits // 128, int(bits * AUDITED_SHARE)).clip(max=bits)
    limits = prints.limits._replace(max_hamming_distances=np.where(distances >= 0, wider, distances).astype(np.int32))
    return replace(prints, limits=limits)


def recall_of(n_removed: int, n_near_kept: int, n_missed: int, n_looked_at: int) -> Estimate:
    """Return the recall when ``n_missed`` of ``n_looked_at`` sampled posts were missed, of ``n_near_kept`` in all.

    Notes
    -----
    The interval is Wilson's for the share that was missed, which stays honest when that share is 0; with every post
    looked at there is nothing to estimate and the margin is 0.

    Examples
    --------
    >>> recall_of(90, 100, 10, 100)
    Estimate(share=0.9, margin=0.0)
    """
    if n_looked_at == 0:
        return Estimate(1.0, 0.0)
    recall = _recall(n_removed, n_near_kept, n_missed / n_looked_at)
    if n_looked_at >= n_near_kept:
        return Estimate(recall, 0.0)
    low, high = wilson_interval(n_missed, n_looked_at)
    best, worst = _recall(n_removed, n_near_kept, low), _recall(n_removed, n_near_kept, high)
    return Estimate(recall, max(best - recall, recall - worst))


def wilson_interval(n_hits: int, n: int) -> tuple[float, float]:
    """Return the bounds of the 95 % interval of a share, of which ``n_hits`` were seen among ``n``, at least one.

    Notes
    -----
    Wilson's score interval (Wilson 1927), which stays honest when the share seen is 0 or 1.

    Examples
    --------
    >>> low, high = wilson_interval(10, 10)
    >>> round(low, 4), round(high, 4)
    (0.7225, 1.0)
    """
    share, spread = n_hits / n, Z_95**2 / n
    middle = share + spread / 2
    half = sqrt(share * (1 - share) * spread + (spread / 2) ** 2)
    # rounding may not put the share itself outside
    return max(min((middle - half) / (1 + spread), share), 0.0), min(max((middle + half) / (1 + spread), share), 1.0)


def _recall(n_removed: int, n_kept: int, missed_share: float) -> float:
    return n_removed / max(n_removed + n_kept * missed_share, 1e-9)
