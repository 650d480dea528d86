"""How long each kernel takes for the largest call that runs over a corpus make of it.

python -m pytest tests/benchmarks/bench_kernels.py [-k simhash] [--benchmark-json OUT.json]

Needs the extra ``bench``. The corpus is that of ``bench_steps.py``. Different versions of a kernel may be called with
different amounts of data: compare them by ``n_bytes`` as well, which is saved with the time.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.benchmarks.bench_steps import bench_texts
from tests.benchmarks.kernel_calls import Call, public_kernels, record_calls

ROUNDS = 20


@pytest.fixture(scope="module")
def calls() -> dict[str, Call]:
    """The largest call of each kernel."""
    return record_calls(bench_texts())


@pytest.mark.parametrize("name", sorted(public_kernels()))
def test_kernel(name: str, calls: dict[str, Call], benchmark: Any) -> None:
    """One kernel, with fresh arguments in each round, because some change them in place."""
    call = calls[name]
    benchmark.group = name.split(".")[0]
    benchmark.extra_info["n_bytes"] = call.n_bytes
    benchmark.pedantic(call.kernel, setup=lambda: (call.fresh_arguments(), {}), rounds=ROUNDS, warmup_rounds=2)
