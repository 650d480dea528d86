"""No kernel and no component is left out of the benchmarks, and each entry runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hybriddup.plugin.roles import ROLES
from tests.benchmarks.bench_steps import Inputs, jobs, registry
from tests.benchmarks.corpora import generate, read_texts
from tests.benchmarks.kernel_calls import Call, kernel_modules, public_kernels, record_calls

TEXTS = [post.text for post in generate("copies", 400, read_texts(), seed=10)]
NOT_CALLED = {
    "growing_arrays",
    "live.lists",
    "popcount",
    "posts.alignments",
    "posts.structure",
    "posts.tokens",
    "short_runs",
    "vectors",
}
"""Modules of what only kernels call, such as single instructions: compiled into these, it has no time of its own."""
FORMATS = {"reader", "writer", "window"}
"""Roles whose components take time by the file, which `hybriddup dedupe --summary` tells."""


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    """A small corpus."""
    return Inputs(TEXTS)


@pytest.fixture(scope="module")
def calls() -> dict[str, Call]:
    """The largest call of each kernel in runs over it."""
    return record_calls(TEXTS)


def test_every_component_has_an_entry() -> None:
    """Each built-in component of each role, by name."""
    names = {f"{role} {name}" for role in set(ROLES) - FORMATS for name in registry().names(role)}
    assert names <= set(jobs())


@pytest.mark.parametrize("name", [name for name in jobs() if name != "tokenizer jieba"])
def test_entry_of_a_step_runs(name: str, inputs: Inputs) -> None:
    """The job does something; jieba's is left out, because its dictionary takes seconds to load."""
    assert jobs()[name](inputs) is not None


def test_every_kernel_module_has_an_entry() -> None:
    """Each module has a kernel that is called from outside, but for those without kernels."""
    assert {name.rpartition(".")[0] for name in public_kernels()} == set(kernel_modules()) - NOT_CALLED


def test_runs_reach_every_kernel(calls: dict[str, Call]) -> None:
    """A kernel that no run of `RUNS` calls would have no arguments to be measured on; add a run that does."""
    assert set(calls) == set(public_kernels())


@pytest.mark.parametrize("name", sorted(public_kernels()))
def test_entry_of_a_kernel_gives_the_same_again(name: str, calls: dict[str, Call]) -> None:
    """Called twice with its recorded arguments, a kernel returns the same, so it was given all that it needs."""
    first, second = (calls[name].kernel(*calls[name].fresh_arguments()) for _ in range(2))

    assert same(first, second)


def same(a: Any, b: Any) -> bool:
    """Whether two results of kernels are equal."""
    if isinstance(a, tuple):
        return all(map(same, a, b))
    return bool(np.array_equal(a, b))


def test_readme_names_every_file_and_no_other() -> None:
    """The table of files is complete, and the commands name modules that there are."""
    here = Path(__file__).parent
    text = (here / "README.md").read_text("utf-8")
    modules = {path.stem for path in here.glob("*.py") if not path.stem.startswith("test_")}

    assert [name for name in modules if f"{name}.py" not in text] == []
    assert set(re.findall(r"tests\.benchmarks\.(\w+)", text)) <= modules
    assert set(re.findall(r"(\w+)\.py\b", text)) <= modules | {"test_entries"}
