"""Compiled kernels are kept once per user and machine, for this version only, and the cache never gets in the way."""

import json
import logging
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import numba
import pytest

import hybriddup
from hybriddup.kernels import cache, cache_folder
from hybriddup.kernels.cache import CacheLock

PACKAGE = Path(hybriddup.__file__).parent
WITHOUT_CACHES = shutil.ignore_patterns("__pycache__")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all versions, for a user without one."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(cache_folder, "user_cache", lambda: tmp_path / "new")
    return tmp_path / "new" / "hybriddup" / "kernels"


@posix_only
def test_folder_is_readable_and_writable_by_its_user_alone(root: Path) -> None:
    """Code is loaded from it."""
    before = os.umask(0)
    try:
        folder = cache_folder.open_folder()
    finally:
        os.umask(before)
    assert folder.parent == root
    assert [stat.S_IMODE(path.stat().st_mode) for path in (root.parent, root)] == [0o700, 0o700]


@posix_only
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_folder_that_others_can_write_to_is_not_used(root: Path, level: int, mode: int) -> None:
    cache_folder.open_folder()
    path = (root, root.parent)[level]
    path.chmod(mode)
    with pytest.raises(PermissionError, match=f"other users can write to {path} .*chmod 700"):
        cache_folder.open_folder()
    path.chmod(0o755)
    cache_folder.open_folder()


@posix_only
def test_folder_of_another_user_is_not_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache_folder.open_folder()
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        cache_folder.open_folder()


def test_folders_of_versions_that_are_not_used_any_more_are_deleted(root: Path) -> None:
    """A folder is used whenever a process starts with it, even if nothing is compiled."""
    old, recent = root / "old", root / "recent"
    for folder in (old, recent):
        (folder / "text").mkdir(parents=True)
    root.chmod(0o700)
    os.utime(old, (0, 0))
    own = cache_folder.open_folder()
    assert set(root.iterdir()) == {recent, own}
    os.utime(own, (0, 0))
    cache_folder.open_folder()
    assert own.stat().st_mtime > 0


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        ("linux", {}, "/home/ann/.cache"),
        ("linux", {"XDG_CACHE_HOME": "/fast"}, "/fast"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "/home/ann/.cache"),
        ("darwin", {"XDG_CACHE_HOME": "/fast"}, "/home/ann/Library/Caches"),
        ("win32", {}, "/home/ann/AppData/Local"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local"),
    ],
)
def test_folder_is_in_the_cache_of_the_user(
    monkeypatch: pytest.MonkeyPatch, platform: str, environment: dict[str, str], expected: str
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ann"))
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder.user_cache() == Path(expected)


def test_without_a_home_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", refuse)
    with pytest.raises(OSError, match="home"):
        cache_folder.user_cache()


def test_each_source_and_numba_and_python_and_the_processor_count_for_the_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = cache_folder.version_of_kernels()
    kernels = shutil.copytree(PACKAGE / "kernels", tmp_path / "kernels", ignore=WITHOUT_CACHES)
    data = shutil.copytree(PACKAGE / "data", tmp_path / "data", ignore=WITHOUT_CACHES)
    constants = [data / path.name for path in cache_folder.CONSTANTS]
    monkeypatch.setattr(cache_folder, "KERNELS", kernels)
    monkeypatch.setattr(cache_folder, "CONSTANTS", constants)
    assert cache_folder.version_of_kernels() == version
    versions = {version}
    files = [*kernels.rglob("*.py"), *constants]
    for path in files:
        path.write_bytes(path.read_bytes() + b"\n")
        versions.add(cache_folder.version_of_kernels())
    files[0].rename(files[0].with_name("renamed.py"))
    versions.add(cache_folder.version_of_kernels())
    (kernels / "one_more.py").touch()
    versions.add(cache_folder.version_of_kernels())
    others: list[tuple[Any, str, Any]] = [
        (numba, "__version__", "9.9"),
        (sys.implementation, "cache_tag", "cpython-399"),
        (cache_folder.binding, "get_host_cpu_name", lambda: "another"),
    ]
    for owner, name, value in others:
        monkeypatch.setattr(owner, name, value)
        versions.add(cache_folder.version_of_kernels())
    assert len(versions) == 1 + len(files) + 2 + len(others)


def test_constants_of_other_files_that_kernels_import_count_too() -> None:
    pattern = re.compile(r"^\s*from hybriddup\.(?!kernels)([\w.]+) import", re.MULTILINE)
    found = {name for path in (PACKAGE / "kernels").rglob("*.py") for name in pattern.findall(path.read_text("utf-8"))}
    counted = {".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in cache_folder.CONSTANTS}
    assert found == counted


# --- in processes of their own, with a copy of the package ---

BEGIN = """
import json
from pathlib import Path
import numpy as np
import hybriddup
from hybriddup.kernels.cache import FOLDER
from hybriddup.kernels.text.lcs import lcs_one_word
texts = np.array([1, 2, 4], np.uint64), np.arange(3, dtype=np.int32), 0, 3
"""
IN_COMMON = f"{BEGIN}print(json.dumps([str(Path(hybriddup.__file__).parent), str(FOLDER), int(lcs_one_word(*texts))]))"
WITHOUT_CACHE = f"{BEGIN}print(FOLDER, lcs_one_word(*texts), len(lcs_one_word.signatures))"
WAITS = f"{BEGIN}print(FOLDER, flush=True); input(); print(lcs_one_word(*texts), flush=True)"
PLUGIN = """
import numpy as np
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import popcount

@njit(cache=True)
def ones(word):
    return popcount(word)

print(ones(np.uint64(7)))
"""


def environment_of(package: Path, **more: Path) -> dict[str, str]:
    """The environment of a process that finds a package in a folder, and compiles its kernels."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return inherited | {"PYTHONPATH": str(package)} | {name: str(value) for name, value in more.items()}


def run_python(*arguments: str, folder: Path, package: Path, **more: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder with such an environment."""
    command, environment = [sys.executable, *arguments], environment_of(package, **more)
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)


def run_copy(folder: Path, kept_in: Path) -> tuple[Path, int]:
    """Call a compiled kernel of the package's copy in a folder; return where compiled kernels are kept, and the answer.

    The kernel is `lcs_one_word`, which calls `popcount` of another file: two texts have three characters in common.
    """
    ran = run_python("-c", IN_COMMON, folder=folder, package=folder, NUMBA_CACHE_DIR=kept_in)
    package, kept, in_common = json.loads(ran.stdout)
    assert Path(package) == folder / "hybriddup"
    return Path(kept), in_common


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package."""
    return copy_package(tmp_path / "copied")


def copy_package(folder: Path) -> Path:
    shutil.copytree(PACKAGE, folder / "hybriddup", ignore=WITHOUT_CACHES)
    return folder


def compiled(folder: Path) -> dict[Path, int]:
    return {path.relative_to(folder): path.stat().st_mtime_ns for path in folder.rglob("*.nb[ci]")}


def test_change_of_a_callee_alone_changes_what_its_caller_returns(copied: Path, tmp_path: Path) -> None:
    """The caller's file is the same, and so is what numba compares; it was compiled with the callee in it."""
    callee, caller = (copied / "hybriddup" / "kernels" / name for name in ("popcount.py", "text/lcs.py"))
    before, kept_in = caller.stat(), tmp_path / "cache"
    assert run_copy(copied, kept_in)[1] == 3
    count = "builder.ctpop(arguments[0])"
    one_more = f"builder.add({count}, ir.Constant(ir.IntType(64), 1))"
    assert callee.read_text("utf-8").count(count) == 1
    callee.write_text(callee.read_text("utf-8").replace(count, one_more), "utf-8")
    assert run_copy(copied, kept_in)[1] == 3 + 1
    assert caller.stat().st_mtime_ns == before.st_mtime_ns


def test_copies_of_the_package_share_what_they_compile_and_the_folder_can_be_moved(
    copied: Path, tmp_path: Path
) -> None:
    kept = run_copy(copied, tmp_path / "cache")[0]
    assert tmp_path / "cache" in kept.parents
    before = compiled(tmp_path / "cache")
    assert any(path.name.startswith("lcs.lcs_one_word") for path in before)
    assert compiled(copied) == {}
    assert run_copy(copy_package(tmp_path / "other"), tmp_path / "cache") == (kept, 3)
    assert compiled(tmp_path / "cache") == before
    (tmp_path / "cache").rename(tmp_path / "moved")
    assert run_copy(copied, tmp_path / "moved")[1] == 3
    assert compiled(tmp_path / "moved") == before


def test_kernels_of_plugins_are_kept_in_the_folder_of_this_version(tmp_path: Path) -> None:
    """They are compiled with the kernels of the package that they call."""
    (tmp_path / "plugin.py").write_text(PLUGIN, "utf-8")
    kept_in = tmp_path / "cache"
    for _ in range(2):
        ran = run_python("plugin.py", folder=tmp_path, package=PACKAGE.parent, NUMBA_CACHE_DIR=kept_in)
        assert ran.stdout == "3\n"
    folder = kept_in / "hybriddup-kernels" / cache_folder.version_of_kernels()
    assert len(list(folder.glob("plugins/*/__pycache__/plugin.ones-*.nbc"))) == 1
    assert not (tmp_path / "__pycache__").exists()


@posix_only
@pytest.mark.parametrize("reason", ["cannot be written to", "others can write to it"])
def test_without_a_folder_to_trust_kernels_are_compiled_in_memory(copied: Path, tmp_path: Path, reason: str) -> None:
    """Nothing can be made in a file, even by root."""
    home = tmp_path / "home"
    if reason == "cannot be written to":
        home.touch()
    else:
        (home / "hybriddup" / "kernels").mkdir(parents=True)
        (home / "hybriddup").chmod(0o777)
    ran = run_python("-c", WITHOUT_CACHE, folder=copied, package=copied, XDG_CACHE_HOME=home, HOME=home)
    assert ran.stdout == "None 3 1\n"
    assert re.fullmatch(rf"compiled kernels are not kept, because .*{home}.*NUMBA_CACHE_DIR.*\n", ran.stderr)


def test_with_a_directory_to_write_to_nothing_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        cache.warn_if_nothing_is_kept()
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
    environment = environment_of(copied, NUMBA_CACHE_DIR=copied / "cache")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", WAITS], env=environment, cwd=copied, text=True, **pipes) as process:
        file = Path(process.stdout.readline().strip()) / "text" / "lcs.py"
        answers: list[str] = []
        reading = Thread(target=lambda: answers.append(process.stdout.readline()))
        with CacheLock(file), CacheLock(None):
            reading.start()
            process.stdin.write("go\n")
            process.stdin.flush()
            reading.join(3)
            assert (answers, process.poll()) == ([], None)
        reading.join(60)
        assert answers == ["3\n"]


def test_the_thread_that_holds_the_lock_may_take_it_again(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for file in (tmp_path / "file", tmp_path / "none" / "file", None):
        lock, told = CacheLock(file), list[str]()
        tell = lock(told.append)
        with lock, lock:
            waiting = Thread(target=tell, args=("second",))
            waiting.start()
            tell("first")
            waiting.join(0.2)
        waiting.join(10)
        assert told == ["first", "second"]
