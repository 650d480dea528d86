"""`hybriddup warm-up`: after it nothing is left to compile."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numba
import pytest

from hybriddup.compiler import MESSAGE, note_compiling, start_compiler
from hybriddup.config.read import shipped_names
from hybriddup.warmup import made_up_posts
from tests.cli.support import NEARLY, OTHER, REPEATED, Run, distinct_texts, names, write_posts

Start = Callable[..., "subprocess.Popen[bytes]"]

needs_compiler = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")


def cached(directory: Path) -> dict[str, bytes]:
    """Every file of a cache with what it holds."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.slow
@needs_compiler
def test_after_a_warm_up_no_run_compiles_anything(start: Start, tmp_path: Path) -> None:
    """Whichever shipped configuration it has, and with the block index of a small corpus or of a large one."""
    cache = tmp_path / "cache"
    warm = start("warm-up", NUMBA_CACHE_DIR=str(cache))
    _, said = warm.communicate(timeout=200)
    assert warm.returncode == 0, said
    before = cached(cache)
    assert any(name.endswith(".nbc") for name in before)
    posts = write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER, *distinct_texts(2000), "long " * 200)
    (tmp_path / "large.yaml").write_text("blocks: {use: tables, key_bits: 10}", "utf-8")
    for config in (*shipped_names(), "large.yaml"):
        run = start("dedupe", posts, "--dry-run", "--config", config, NUMBA_CACHE_DIR=str(cache))
        _, said = run.communicate(timeout=100)
        assert run.returncode == 0, said
        assert MESSAGE not in said.decode()
    assert cached(cache) == before


def test_warm_up_says_what_it_is_ready_for(run: Run) -> None:
    """One line a configuration, on standard error, and no file where the user is."""
    ran = run("warm-up", "sms", "articles")
    assert (ran.code, ran.out) == (0, "")
    assert [line.split(" after ")[0] for line in ran.err.splitlines()[:2]] == ["ready for sms", "ready for articles"]
    assert ran.err.splitlines()[2].startswith("compiled kernels are kept in ")
    assert names(Path.cwd()) == []


def test_warm_up_for_an_unknown_configuration_is_an_error(run: Run) -> None:
    """The message names those that there are."""
    ran = run("warm-up", "wiebo")
    assert ran.code == 2
    assert "wiebo" in ran.err
    assert "weibo" in ran.err


def test_posts_for_a_warm_up_are_the_same_every_time_and_repeat_each_other() -> None:
    """So that candidate pairs are found and verified."""
    posts = made_up_posts()
    assert posts == made_up_posts()
    assert len(set(map(len, posts))) >= 5


class Notes:
    """Remembers the notes of a run."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


@needs_compiler
def test_first_kernel_that_is_compiled_in_a_run_is_noted() -> None:
    """Not before, not twice, and not after the run."""
    progress = Notes()
    successor = numba.njit(lambda number: number + 1)
    with note_compiling(progress):  # type: ignore[arg-type]
        assert progress.notes == []
        assert (successor(1), successor(1.5)) == (2, 2.5)
        assert progress.notes == [MESSAGE]
    assert successor(1j) == 1 + 1j
    assert progress.notes == [MESSAGE]


@needs_compiler
def test_kernel_that_is_compiled_already_is_not_noted() -> None:
    """Only what takes a while is worth a note."""
    progress = Notes()
    start_compiler()
    with note_compiling(progress):  # type: ignore[arg-type]
        start_compiler()
    assert progress.notes == []


@pytest.mark.slow
@needs_compiler
def test_run_says_that_it_compiles_unless_the_cache_holds_its_kernels(start: Start, tmp_path: Path) -> None:
    """Kernels of another Python that lie there, under names that differ in its version alone, do not count."""
    cache, posts = tmp_path / "cache", write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER)

    def said() -> str:
        run = start("dedupe", posts, "--dry-run", NUMBA_CACHE_DIR=str(cache))
        return run.communicate(timeout=100)[1].decode()

    assert MESSAGE in said()
    assert MESSAGE not in said()
    for path in [*cache.rglob("*.nbi"), *cache.rglob("*.nbc")]:
        path.rename(path.with_name(re.sub(r"py3\d+", "py39", path.name)))
    assert MESSAGE in said()
