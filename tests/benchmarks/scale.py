"""The corpus that step and kernel benchmarks run on; its size and its base can be set in the environment."""

from __future__ import annotations

import os
from pathlib import Path

from tests.benchmarks.corpora import SAMPLE_POSTS, Post, generate, read_texts

POSTS = "HYBRIDDUP_BENCH_POSTS"
BASE = "HYBRIDDUP_BENCH_BASE"
DEFAULT_POSTS = 10_000


def bench_posts() -> list[Post]:
    """Return the corpus: the shape ``copies`` from the sample posts, unless the environment names another base."""
    n = int(os.environ.get(POSTS, DEFAULT_POSTS))
    base = Path(os.environ.get(BASE, SAMPLE_POSTS))
    # three passes over a base that is made as long as that needs, so that the share of repeats is that of larger runs
    return list(generate("copies", n, read_texts(base), passes=3))
