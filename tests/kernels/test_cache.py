"""The cache of compiled kernels holds those of this version only, and never gets in the way."""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

import hybriddup
from hybriddup.kernels import cache
from hybriddup.kernels.cache import CacheLock

PACKAGE = Path(hybriddup.__file__).parent
COMPILED = ("pair_limits.count_lacking-1.py311.nbi", "pair_limits.count_lacking-1.py311.1.nbc")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with an index, a compiled kernel, and a file of somebody else."""
    monkeypatch.setattr(cache, "cache_folders", lambda: {"kernels": tmp_path})
    for name in (*COMPILED, "characters.cpython-311.pyc"):
        (tmp_path / name).write_text("compiled")
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("stamp", [None, "", "0123456789abcdef"])
def test_cache_of_another_version_is_emptied(folder: Path, stamp: str | None) -> None:
    if stamp is not None:
        (folder / cache.STAMP).write_text(stamp)
    cache.forget_other_versions()
    assert names(folder) == {"characters.cpython-311.pyc", cache.STAMP}
    assert (folder / cache.STAMP).read_text() == cache.version_of_sources()


def test_cache_of_this_version_is_kept(folder: Path) -> None:
    (folder / cache.STAMP).write_text(cache.version_of_sources())
    cache.forget_other_versions()
    assert names(folder) == {*COMPILED, "characters.cpython-311.pyc", cache.STAMP}


def test_cache_that_is_not_there_is_begun_with_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that what is compiled next is kept."""
    monkeypatch.setattr(cache, "cache_folders", lambda: {"kernels": tmp_path / "new" / "cache"})
    cache.forget_other_versions()
    assert names(tmp_path / "new" / "cache") == {cache.STAMP}


def test_where_nothing_is_compiled_there_is_nothing_to_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with NUMBA_DISABLE_JIT."""
    monkeypatch.setattr(cache, "anchors", {"kernels": cache.version_of_sources})
    assert cache.cache_folder() is None
    cache.forget_other_versions()


def test_cache_that_cannot_be_made_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(cache, "cache_folders", lambda: {"kernels": tmp_path / "file" / "cache"})
    cache.forget_other_versions()
    assert names(tmp_path) == {"file"}


def test_cache_that_cannot_be_emptied_is_no_error_and_not_taken_for_this_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(self), missing_ok)

    (folder / cache.STAMP).write_text("another")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        cache.forget_other_versions()
    assert names(folder) == {*COMPILED, "characters.cpython-311.pyc", cache.STAMP}
    assert (folder / cache.STAMP).read_text() == "another"


def test_every_kernel_counts_for_the_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = cache.version_of_sources()
    kernels = shutil.copytree(PACKAGE / "kernels", tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "KERNELS", kernels)
    assert cache.version_of_sources() == version
    versions = {version}
    sources = sorted(kernels.rglob("*.py"))
    for path in sources:
        path.write_bytes(path.read_bytes() + b"\n")
        versions.add(cache.version_of_sources())
    path.rename(path.with_name("renamed.py"))
    versions.add(cache.version_of_sources())
    (kernels / "one_more.py").touch()
    versions.add(cache.version_of_sources())
    assert len(versions) == 1 + len(sources) + 1 + 1


# --- in processes of their own, with a copy of the package ---

BEGIN = """
import json
from pathlib import Path
import numpy as np
import hybriddup
from hybriddup.kernels.cache import cache_folder
from hybriddup.kernels.search.pair_limits import count_lacking
words = tuple(np.array([0b10110, 0, 0, 0], np.uint64)), tuple(np.zeros(4, np.uint64))
"""
DISTANCE = f"""{BEGIN}
distance = count_lacking(*words)
print(json.dumps([str(Path(hybriddup.__file__).parent), str(cache_folder()), int(distance)]))
"""
WITHOUT_CACHE = f"""{BEGIN}
print(cache_folder(), count_lacking(*words), len(count_lacking.signatures))
"""
WAITS = f"""{BEGIN}
print(cache_folder(), flush=True)
input()
print(count_lacking(*words), flush=True)
"""


def run_copy(folder: Path) -> tuple[Path, int]:
    """Call a compiled kernel of the package's copy in a folder; return where compiled kernels are kept, and the answer.

    The kernel is `count_lacking`, which calls `popcount` of another file: three characters are lacking.
    """
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-c", DISTANCE]
    ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    package, kept_in, distance = json.loads(ran.stdout)
    assert Path(package) == folder / "hybriddup"
    return Path(kept_in), distance


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package."""
    shutil.copytree(PACKAGE, tmp_path / "hybriddup", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_change_of_a_callee_alone_changes_what_its_caller_returns(copied: Path) -> None:
    """The caller's file is the same, and so is what numba compares; it was compiled with the callee in it."""
    callee, caller = (copied / "hybriddup" / "kernels" / name for name in ("popcount.py", "search/pair_limits.py"))
    before = caller.stat()
    assert run_copy(copied)[1] == 3
    count = "builder.ctpop(arguments[0])"
    one_more = f"builder.add({count}, ir.Constant(ir.IntType(64), 1))"
    assert callee.read_text("utf-8").count(count) == 1
    callee.write_text(callee.read_text("utf-8").replace(count, one_more), "utf-8")
    assert run_copy(copied)[1] == 3 + 4  # one more for each of the four words
    assert caller.stat().st_mtime_ns == before.st_mtime_ns


def test_kernels_are_kept_where_numba_is_told_to(copied: Path) -> None:
    kept_in = run_copy(copied)[0]
    assert copied / "cache" in kept_in.parents
    compiled = {path: path.stat().st_mtime_ns for path in (copied / "cache").rglob("*.nb[ci]")}
    assert any(path.name.startswith("pair_limits.count_lacking") for path in compiled)
    assert (kept_in / cache.STAMP).is_file()
    assert list((copied / "hybriddup").rglob("*.nb[ci]")) == []
    run_copy(copied)
    assert {path: path.stat().st_mtime_ns for path in (copied / "cache").rglob("*.nb[ci]")} == compiled


def without_cache(copied: Path) -> dict[str, str]:
    """An environment in which no directory for a cache can be made: a file is where each would be, even for root."""
    in_the_way = copied / "file"
    in_the_way.touch()
    for package in (copied / "hybriddup" / "kernels").rglob("__init__.py"):
        package.with_name("__pycache__").touch()
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    places = ("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA")
    return environment | {"PYTHONPATH": str(copied)} | {place: str(in_the_way / "cache") for place in places}


def test_without_a_directory_to_write_to_kernels_are_compiled_in_memory(copied: Path) -> None:
    command = [sys.executable, "-c", WITHOUT_CACHE]
    ran = subprocess.run(command, env=without_cache(copied), cwd=copied, capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("None 3 1\n", cache.NO_CACHE + "\n")
    assert "NUMBA_CACHE_DIR" in cache.NO_CACHE
    assert "\n" not in cache.NO_CACHE


def test_with_a_directory_to_write_to_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        cache.warn_without_cache()
    assert caplog.messages == []


def test_every_kernel_is_compiled_by_the_decorator_that_can_do_without_a_cache() -> None:
    """numba's own raises an error where nothing can be kept."""
    sources = {path.name: path.read_text("utf-8") for path in (PACKAGE / "kernels").rglob("*.py")}
    own = [name for name, source in sources.items() if re.search(r"from numba import .*\bn?jit\b", source)]
    assert own == []
    assert sum("from hybriddup.kernels.cache import njit" in source for source in sources.values()) > 10


@pytest.mark.slow
def test_one_process_at_a_time_compiles(copied: Path) -> None:
    """Another one waits until it has finished, or has ended; numba could mix up what two of them write."""
    environment = {**os.environ, "PYTHONPATH": str(copied), "NUMBA_CACHE_DIR": str(copied / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WAITS], env=environment, cwd=copied, text=True, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        answers: list[str] = []
        reading = Thread(target=lambda: answers.append(process.stdout.readline()))
        with CacheLock(folder), CacheLock(None):
            reading.start()
            process.stdin.write("go\n")
            process.stdin.flush()
            reading.join(3)
            assert (answers, process.poll()) == ([], None)
        reading.join(60)
        assert answers == ["3\n"]


def test_the_thread_that_holds_the_lock_may_take_it_again(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path, tmp_path / "file" / "none", None):
        lock, told = CacheLock(folder), list[str]()
        tell = lock.around(told.append)
        with lock, lock:
            waiting = Thread(target=tell, args=("second",))
            waiting.start()
            tell("first")
            waiting.join(0.2)
        waiting.join(10)
        assert told == ["first", "second"]
