"""Recall and precision of a run from random samples, each compared with everything; with all posts, they are exact.

python -m tests.benchmarks.sampled_recall POSTS.jsonl[.gz] [--sample 3000] [--tool hybriddup] [--config benchmark]

README.md has the rule, and how the samples are taken.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from hybriddup.run.audit import wilson_interval
from tests.benchmarks.corpora import read_texts
from tests.benchmarks.exhaustive import ROUNDING, rows_with_match
from tests.benchmarks.tools import NO_KEEPER, TOOLS, Decided

THRESHOLD = 0.8
SAMPLE = 3000


class Interval(NamedTuple):
    """An estimated share with its 95 % interval."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return the share and the interval for people."""
        return f"{self.share:.5f} ({self.low:.5f} to {self.high:.5f})"


class Sampled(NamedTuple):
    """What the samples say about a run."""

    n: int
    n_removed: int
    n_sampled_kept: int
    n_missed: int
    """Sampled kept posts that still have an earlier kept match."""
    n_sampled_removed: int
    n_wrong: int
    """Sampled removed posts that do not match their keeper."""
    recall: Interval
    precision: Interval


def sampled_score(
    texts: Sequence[str], decided: Decided, *, sample: int = SAMPLE, threshold: float = THRESHOLD, seed: int = 0
) -> Sampled:
    """Return recall and precision, estimated from ``sample`` random kept posts and as many removed ones."""
    rng = np.random.default_rng(seed)
    kept, removed = np.flatnonzero(~decided.removed), np.flatnonzero(decided.removed)
    some_kept, some_removed = draw(rng, kept, sample), draw(rng, removed, sample)
    n_missed = int(rows_with_match(texts, some_kept, kept, threshold, earlier_only=True).sum())
    if decided.keepers is None:
        right = rows_with_match(texts, some_removed, kept, threshold)
    else:
        right = match_keepers(texts, decided, some_removed, threshold)
    n_wrong = len(some_removed) - int(right.sum())
    precision = complement(wilson(n_wrong, len(some_removed), len(removed)))
    missed = wilson(n_missed, len(some_kept), len(kept))
    n_right = len(removed) * precision.share
    recall = Interval(*(recall_of(n_right, len(kept) * share) for share in (missed.share, missed.high, missed.low)))
    return Sampled(len(texts), len(removed), len(some_kept), n_missed, len(some_removed), n_wrong, recall, precision)


def draw(rng: np.random.Generator, rows: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return ``n`` of the rows at random, or all where there are no more, rising."""
    return np.sort(rng.choice(rows, n, replace=False)) if n < len(rows) else rows


def match_keepers(
    texts: Sequence[str], decided: Decided, rows: NDArray[np.int64], threshold: float
) -> NDArray[np.bool_]:
    """Return bool[len(rows)]: whether the keeper of each row is another post, is kept, and reaches the threshold."""
    assert decided.keepers is not None
    return np.array(
        [
            keeper not in (row, NO_KEEPER)
            and not decided.removed[keeper]
            and Indel.normalized_similarity(texts[row], texts[keeper]) >= threshold - ROUNDING
            for row, keeper in zip(rows.tolist(), decided.keepers[rows].tolist(), strict=True)
        ],
        np.bool_,
    )


def recall_of(n_right: float, n_missed: float) -> float:
    """Return the share found of all that ought to go; 1.0 where nothing ought to."""
    return n_right / (n_right + n_missed) if n_right + n_missed else 1.0


def complement(interval: Interval) -> Interval:
    """Return the interval of the other share."""
    return Interval(1 - interval.share, 1 - interval.high, 1 - interval.low)


def wilson(n_hits: int, n_sampled: int, n_all: int) -> Interval:
    """Return the share ``n_hits / n_sampled`` with its 95 % interval, of no width where all were looked at."""
    if n_sampled == 0:
        return Interval(0.0, 0.0, 0.0)
    share = n_hits / n_sampled
    return Interval(share, *((share, share) if n_sampled >= n_all else wilson_interval(n_hits, n_sampled)))


def main(arguments: list[str] | None = None) -> None:
    """Remove the repeats of a file, and print what the samples say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", type=Path)
    parser.add_argument("--rows", type=int, help="only the first so many posts")
    parser.add_argument("--tool", choices=TOOLS, default="hybriddup")
    parser.add_argument("--config", default="benchmark", help="of hybriddup")
    parser.add_argument("--sample", type=int, default=SAMPLE)
    parser.add_argument("--threshold", type=float, default=THRESHOLD)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    texts = read_texts(chosen.posts, chosen.rows)
    decided, seconds = TOOLS[chosen.tool](texts, chosen.config)
    print(f"decided   {len(texts):,} posts in {seconds:.1f} s, {len(texts) / seconds:,.0f} posts/s", flush=True)
    start = time.perf_counter()
    found = sampled_score(texts, decided, sample=chosen.sample, threshold=chosen.threshold, seed=chosen.seed)
    print(f"removed   {found.n_removed:,} of {found.n:,}")
    print(f"recall    {found.recall}; {found.n_missed} of {found.n_sampled_kept} kept posts have an earlier kept match")
    print(
        f"precision {found.precision}; {found.n_wrong} of {found.n_sampled_removed} removed do not match their keeper"
    )
    print(f"sampling  {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
