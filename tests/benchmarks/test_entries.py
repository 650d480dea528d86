"""No kernel and no component is left out of the benchmarks, and each entry runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.plugin.manager import create_plugin_manager
from hybriddup.plugin.roles import ROLES
from tests.benchmarks.corpora import generate, read_texts
from tests.benchmarks.kernel_calls import Call, kernel_modules, public_kernels, record_calls
from tests.benchmarks.stages import Stages
from tests.benchmarks.steps import COMPONENT_JOBS, OTHER_JOBS, jobs, read_file

POSTS = list(generate("copies", 400, read_texts(), seed=10))
NOT_CALLED = {"residues", "add_where", "cache", "chain_reads", "growing_arrays", "popcount", "vectors"}
"""Modules of what only kernels call, such as single instructions: it is compiled into these and has no time of its own.
And the one that looks after the compiled kernels."""


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Stages:
    """A small corpus, in all states."""
    return Stages(POSTS, tmp_path_factory.mktemp("posts"))


@pytest.fixture(scope="module")
def calls() -> dict[str, Call]:
    """The largest call of each kernel in runs over it."""
    return record_calls([post.text for post in POSTS])


def test_every_component_has_an_entry() -> None:
    """Each built-in component of each role, by name."""
    step_of = {role: step for step, (role, _) in COMPONENT_JOBS.items()}
    registered = create_plugin_manager(entry_points=False).registry.registered()

    assert set(step_of) == set(ROLES)
    assert [one for one in registered if f"{step_of[one.role]} {one.name}" not in jobs()] == []


def test_every_step_has_an_entry() -> None:
    """Each step that the summary of a run, from a list or by the command line, gives a time for."""
    timed = {timing.step for timing in hybriddup.dedupe([post.text for post in POSTS]).summary.timings}

    assert timed | {"read", "write"} <= {*COMPONENT_JOBS, *OTHER_JOBS}


@pytest.mark.parametrize("name", [name for name in jobs() if not name.startswith("tokenize jieba")])
def test_entry_of_a_step_runs(name: str, stages: Stages) -> None:
    """The job does something; jieba's is left out, because its dictionary takes seconds to load."""
    assert jobs()[name](stages) is not None


def test_every_kernel_module_has_an_entry() -> None:
    """Each module has a kernel that is called from outside, but for those without kernels."""
    assert {name.split(".")[0] for name in public_kernels()} == set(kernel_modules()) - NOT_CALLED


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


def test_files_for_readers_hold_the_corpus(stages: Stages) -> None:
    """Each reader finds as many posts as there are."""
    registry = create_plugin_manager(entry_points=False).registry

    assert {read_file(stages, name) for name in registry.names("reader")} == {len(POSTS)}
    assert Path(stages.directory, "posts.jsonl").exists()
