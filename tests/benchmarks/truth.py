"""The exhaustive truth of a file, and what a tool left behind or took by mistake against it.

python -m tests.benchmarks.truth POSTS.jsonl[.gz] -o TRUTH.npz [--minimum 0.7] [--rows N]

The truth is every pair of posts whose raw texts have an Indel similarity of ``--minimum`` or more: ``rows``
(int32[n_pairs, 2], the earlier line first, zero-based) and ``sim`` (float32[n_pairs]). Time grows with the square of
the number of posts; 50,000 Weibo posts take seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.corpora import read_texts
from tests.benchmarks.exhaustive import matching_pairs

MINIMUM = 0.7
MAX_PAIRS = 200_000_000
FLOAT32_ROUNDING = 1e-6


class Truth(NamedTuple):
    """Every matching pair of a file."""

    rows: NDArray[np.int32]
    """int32[n_pairs, 2]: the earlier post, the later one."""
    sim: NDArray[np.float32]
    """float32[n_pairs]: Indel similarity."""


class Score(NamedTuple):
    """What a tool did, against the truth."""

    recall: float
    """Removed rightly / (removed rightly + kept posts that still have an earlier kept match)."""
    precision: float
    """Removed rightly / removed."""


def find_truth(texts: Sequence[str], minimum: float = MINIMUM) -> Truth:
    """Return every pair of texts whose similarity is ``minimum`` or more.

    Raises
    ------
    ValueError
        There are more pairs than fit into memory with ease, as where thousands of posts all repeat each other.
    """
    every = np.arange(len(texts), dtype=np.int64)
    rows, similarities, n_pairs = [np.zeros((0, 2), np.int32)], [np.zeros(0, np.float32)], 0
    for pairs in matching_pairs(texts, every, every, minimum, earlier_only=True):
        rows.append(np.stack([pairs.b, pairs.a], axis=1).astype(np.int32))
        similarities.append(pairs.similarities.astype(np.float32))
        n_pairs += len(pairs.a)
        if n_pairs > MAX_PAIRS:
            raise ValueError(f"more than {MAX_PAIRS:,} pairs; use fewer --rows, or tests.benchmarks.sampled_recall")
    return Truth(np.concatenate(rows), np.concatenate(similarities))


def load_truth(path: Path) -> Truth:
    """Return a truth that was saved before."""
    with np.load(path) as saved:
        return Truth(saved["rows"], saved["sim"])


def score(truth: Truth, removed: NDArray[np.bool_], threshold: float = 0.8) -> Score:
    """Return recall and precision of a removal, bool[n], by the pairs of the truth that reach the threshold."""
    rows = truth.rows[truth.sim >= threshold - FLOAT32_ROUNDING]
    earlier, later, kept = rows[:, 0], rows[:, 1], ~removed
    missed, has_kept_match = (np.zeros(len(removed), np.bool_) for _ in range(2))
    missed[later[kept[earlier] & kept[later]]] = True
    has_kept_match[later[kept[earlier]]] = True
    has_kept_match[earlier[kept[later]]] = True
    n_removed, n_missed = int(removed.sum()), int(missed.sum())
    n_right = int((removed & has_kept_match).sum())
    return Score(
        recall=n_right / (n_right + n_missed) if n_right + n_missed else 1.0,
        precision=n_right / n_removed if n_removed else 1.0,
    )


def main(arguments: list[str] | None = None) -> None:
    """Compute the truth of a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("posts", type=Path)
    parser.add_argument("--rows", type=int, help="only the first so many posts")
    parser.add_argument("--minimum", type=float, default=MINIMUM)
    parser.add_argument("-o", "--output", type=Path, required=True)
    chosen = parser.parse_args(arguments)
    texts, start = read_texts(chosen.posts, chosen.rows), time.perf_counter()
    truth = find_truth(texts, chosen.minimum)
    np.savez_compressed(chosen.output, rows=truth.rows, sim=truth.sim)
    seconds = time.perf_counter() - start
    print(f"{len(texts):,} posts, {len(truth.sim):,} pairs of {chosen.minimum:g} or more, {seconds:.0f} s")


if __name__ == "__main__":
    main()
