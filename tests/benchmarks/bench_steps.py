"""How long each step takes, component by component.

python -m pytest tests/benchmarks/bench_steps.py [-k 'tokenize or hash'] [--benchmark-json OUT.json]

Needs the extra ``bench``. The corpus has 10,000 posts; ``HYBRIDDUP_BENCH_POSTS`` and ``HYBRIDDUP_BENCH_BASE`` in the
environment choose another size, and another base to generate it from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.scale import bench_posts
from tests.benchmarks.stages import Stages
from tests.benchmarks.steps import OTHER_JOBS, jobs

ROUNDS = 3


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """The corpus, in all states."""
    directory: Path = tmp_path_factory.mktemp("posts")
    return Stages(bench_posts(), directory)


@pytest.mark.parametrize("name", jobs())
def test_step(name: str, stages: Stages, benchmark: Any) -> None:
    """One step with one component; what it takes is made before, in a round that does not count."""
    benchmark.group = name if name in OTHER_JOBS else name.rpartition(" ")[0]
    benchmark.extra_info["posts"] = len(stages.posts)
    benchmark.pedantic(jobs()[name], args=(stages,), rounds=ROUNDS, warmup_rounds=1)
