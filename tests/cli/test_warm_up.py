"""`hybriddup warm-up`: after it nothing is left to compile; and how a first run without it compiles."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import numba
import pytest

from hybriddup.cli import compiling
from hybriddup.cli.compiling import compiling_together, made_up_posts
from hybriddup.config.read import shipped_names
from hybriddup.kernels.cache import FOLDER, anchor
from hybriddup.run.progress import MESSAGE, note_compiling
from hybriddup.steps.parallel import available_workers
from tests.cli.support import NEARLY, OTHER, REPEATED, ROOT, Run, Start, distinct_texts, names, write_posts
from tests.conftest import COMPILED_FILES, warm_up
from tests.processes import python, run_python

needs_compiler = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")


def cached(directory: Path) -> dict[str, bytes]:
    """Every file of a cache with what it holds."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def warm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache after a warm-up, a copy of what that of all tests left if there was one."""
    cache = tmp_path_factory.mktemp("warm") / "cache"
    if FOLDER is None or not (files := FOLDER / COMPILED_FILES).exists():
        warm_up(NUMBA_CACHE_DIR=str(cache))
        return cache
    for name in files.read_text("utf-8").splitlines():
        copy = cache / "hybriddup-kernels" / FOLDER.name / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(FOLDER / name, copy)
    return cache


@pytest.mark.slow
@needs_compiler
def test_after_a_warm_up_no_run_compiles_anything(start: Start, tmp_path: Path, warm_cache: Path) -> None:
    cache = warm_cache
    before = cached(cache)
    assert any(name.endswith(".nbc") for name in before)
    posts = write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER, *distinct_texts(2000), "long " * 200)
    crowd, narrow = write_posts(tmp_path / "crowd.jsonl", *crowded_texts()), tmp_path / "narrow.yaml"
    narrow.write_text(NARROW, "utf-8")
    for file, config in (*((posts, config) for config in shipped_names()), (crowd, str(narrow))):
        run = start("dedupe", file, "--dry-run", "--config", config, NUMBA_CACHE_DIR=str(cache))
        _, said = run.communicate(timeout=100)
        assert run.returncode == 0, said
        assert MESSAGE not in said.decode()
    assert windows_compile(tmp_path, cache) == []
    assert cached(cache) == before


NARROW = """
blocks: {use: shingles, max_bucket_size: 2}
lengths: [{max_hamming_distance: 60, verifier: {use: edit, threshold: 0.93}}]
"""


def crowded_texts() -> list[str]:
    """Return 4,000 texts of five beginnings, more of one than are decided at a time."""
    random = Random(1)  # noqa: S311
    beginnings = ["".join(random.choices("abcdefghij ", k=50)) for _ in range(5)]
    return [beginning + "".join(random.choices("abcdefghij", k=10)) for _ in range(800) for beginning in beginnings]


WINDOWS = """
import json, sys
from itertools import count
from pathlib import Path
from numba.core.event import install_recorder
from hybriddup.window import Window, maintenance
from hybriddup.window.live_audit import LiveAudit
from tests.shared_windows.plain_store import Opener
from tests.window.stores import WITHOUT_RECORDS, change

maintenance.FIT_AT = 700  # so that few posts are enough to learn from
folder, posts, clock = Path(sys.argv[1]), Path(sys.argv[2]), count()
texts = [json.loads(line)["text"] for line in posts.read_text("utf-8").splitlines()]
with install_recorder("numba:compile") as recorder:
    for config in sys.argv[3:]:
        store = folder / Path(config).stem
        for first in range(0, len(texts), 400):
            with Window.open(store, config, horizon=9.0, clock=lambda: float(next(clock))) as window:
                window._state.live_audit = LiveAudit(one_in=1)
                for start, n in ((first, 1), (first + 1, 9), (first + 10, 90), (first + 100, 200), (first + 300, 100)):
                    window.add_many(texts[start : start + n])
                window.add({"id": first, "text": texts[first]})
                window.match(texts[first])
                window.delete(first)
                window.get(first), window.stats()
            if first == 800:
                change(store, WITHOUT_RECORDS)  # they are made from the posts then
        with Opener()("shared", config=config) as window:
            for first in range(0, 800, 100):
                window.add_many(texts[first : first + 100])
            window.match(texts[0])
print(*(event.data["dispatcher"] for _, event in recorder.buffer), sep="\\n", end="")
"""


def mixed_texts() -> list[str]:
    """Return 1,600 texts of all lengths and several scripts, near repeats among them."""
    samples = (Path(__file__).parents[1] / "samples" / "posts.jsonl").read_text("utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in samples] + distinct_texts(1600)
    Random(1).shuffle(texts)  # noqa: S311
    return texts[:1600]


def windows_compile(folder: Path, cache: Path) -> list[str]:
    """Return what is compiled while windows of every shipped configuration grow, forget, and are opened again."""
    posts = str(folder / write_posts(folder / "mixed.jsonl", *mixed_texts()))
    arguments = ("-c", WINDOWS, str(folder / "windows"), posts, *shipped_names())
    ran = run_python(*arguments, check=False, NUMBA_CACHE_DIR=str(cache))
    assert ran.returncode == 0, ran.stderr
    return list(ran.stdout.splitlines())


def test_warm_up_says_what_it_is_ready_for(run: Run) -> None:
    ran = run("warm-up", "sms", "articles")
    assert (ran.code, ran.out) == (0, "")
    assert [line.split(" after ")[0] for line in ran.err.splitlines()[:2]] == ["ready for sms", "ready for articles"]
    assert ran.err.splitlines()[2].startswith("compiled kernels are kept in ")
    assert names(Path.cwd()) == []


def test_posts_for_a_warm_up_are_the_same_every_time_and_repeat_each_other() -> None:
    """So that candidate pairs are found and verified."""
    posts = made_up_posts()
    assert posts == made_up_posts()
    assert len(set(map(len, posts))) >= 5


def new_kernel(module: str = "hybriddup.kernels") -> Callable[[complex], complex]:
    """Return a function for numba to compile, as if a module had defined it."""

    def successor(number: complex) -> complex:
        return number + 1

    successor.__module__ = module
    compiled: Callable[[complex], complex] = numba.njit(successor)
    return compiled


@needs_compiler
def test_first_kernel_that_is_compiled_in_a_run_is_noted() -> None:
    """Not before, not twice, and not after the run."""
    note = Mock()
    successor = new_kernel()
    with note_compiling(note):
        note.assert_not_called()
        assert (successor(1), successor(1.5)) == (2, 2.5)
        note.assert_called_once_with(MESSAGE)
    assert successor(1j) == 1 + 1j
    note.assert_called_once()


@needs_compiler
@pytest.mark.parametrize("call", [lambda: new_kernel("statistics")(1), anchor], ids=["of another package", "compiled"])
def test_what_is_not_ours_or_is_compiled_already_is_not_noted(call: Callable[[], Any]) -> None:
    anchor()
    note = Mock()
    with note_compiling(note):
        call()
    note.assert_not_called()


LOGS = f"""
import logging
from hybriddup.window import Window
from {__name__} import new_kernel
logging.basicConfig(level="INFO", format="%(name)s %(levelname)s %(message)s")
for _ in range(2):
    with Window.open() as window:
        new_kernel()(1)
"""


@needs_compiler
def test_a_window_logs_once_that_kernels_are_compiled() -> None:
    ran = run_python("-c", LOGS)  # what a warm process logged, its forks do not log again
    assert ran.stderr.splitlines() == [f"hybriddup INFO {MESSAGE}"]


COMPILES = f"""
from hybriddup.__main__ import main
from hybriddup.cli import windows
from {__name__} import new_kernel
windows.settle = lambda: print(new_kernel()(1), "compiled", file=__import__("sys").stderr)  # before the first answer
main()
"""


def start_compiling(*arguments: str) -> subprocess.Popen[str]:
    """Start a command that compiles a kernel after it has opened its window."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen([*python(), "-c", COMPILES, *arguments], env=environment, text=True, **pipes)


@needs_compiler
@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_watch_notes_that_kernels_are_compiled_unless_it_is_quiet(options: list[str]) -> None:
    _, said = start_compiling("watch", *options).communicate("", timeout=100)
    assert said.splitlines()[: 2 - len(options)] == [MESSAGE, "2 compiled"][len(options) :]


@needs_compiler
def test_serve_notes_that_kernels_are_compiled(tmp_path: Path) -> None:
    with start_compiling("serve", "--store", str(tmp_path / "window"), "--port", "0") as process:
        said = list(iter(process.stderr.readline, "2 compiled\n"))  # type: ignore[union-attr]
        process.terminate()
    assert said[1:] == [f"{MESSAGE}\n"]


def says_that_it_compiles(start: Start, posts: str, cache: Path) -> bool:
    """Return whether a run says so; it is ended then."""
    with start("dedupe", posts, "--dry-run", NUMBA_CACHE_DIR=str(cache)) as run:
        says_so = any(MESSAGE in line.decode() for line in run.stderr)  # type: ignore[union-attr]
        if says_so:
            run.terminate()
        else:
            assert run.wait(60) == 0
    return says_so


@pytest.mark.slow
@needs_compiler
def test_run_says_that_it_compiles_unless_the_cache_holds_its_kernels(
    start: Start, tmp_path: Path, warm_cache: Path
) -> None:
    """Kernels of another Python that lie there, under names that differ in its version alone, do not count."""
    cache, posts = tmp_path / "cache", write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER)
    assert says_that_it_compiles(start, posts, cache)
    cache = Path(shutil.copytree(warm_cache, tmp_path / "warm"))
    assert not says_that_it_compiles(start, posts, cache)
    for path in [*cache.rglob("*.nbi"), *cache.rglob("*.nbc")]:
        path.rename(path.with_name(re.sub(r"py3\d+", "py39", path.name)))
    assert says_that_it_compiles(start, posts, cache)


IN_TURN = """
import sys
from numba.core.event import install_recorder
from hybriddup.cli.compiling import compile_last_kernels
with install_recorder("numba:compile") as recorder:
    for config in sys.argv[1:]:
        compile_last_kernels(config)
print(*(event.data["dispatcher"] for _, event in recorder.buffer), sep="\\n", end="")
"""
FIRST_RUN = """
import sys
from numba.core.event import install_recorder
from hybriddup.__main__ import main
with install_recorder("numba:compile") as recorder:
    try:
        main()
    except SystemExit:
        pass
print(*(event.data["dispatcher"].py_func.__name__ for _, event in recorder.buffer), sep="\\n", end="")
"""


def ran(program: str, *arguments: str, cache: Path) -> list[str]:
    """Return what a new interpreter prints, line by line, with its kernels in ``cache``."""
    return list(run_python("-c", program, *arguments, NUMBA_CACHE_DIR=str(cache)).stdout.splitlines())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Stands for `subprocess.Popen`; there are two processors."""
    monkeypatch.setattr(compiling, "available_workers", lambda: 2)
    popen = Mock()
    monkeypatch.setattr(compiling.subprocess, "Popen", popen)
    return popen


@needs_compiler
def test_second_process_starts_with_the_first_kernel_and_ends_with_the_block(started: Mock) -> None:
    kernel: Callable[[complex], complex] = new_kernel()
    with compiling_together("weibo"):
        started.assert_not_called()
        kernel(1), kernel(1.5)
        (command,), _ = started.call_args
        assert command[-1] == "weibo"
        started.return_value.kill.assert_not_called()
    started.assert_called_once()
    started.return_value.kill.assert_called_once()
    started.return_value.wait.assert_called_once()


@needs_compiler
@pytest.mark.parametrize(("module", "workers"), [("statistics", 2), ("hybriddup.kernels", 1)])
def test_no_process_starts_for_other_packages_or_on_one_processor(
    started: Mock, monkeypatch: pytest.MonkeyPatch, module: str, workers: int
) -> None:
    monkeypatch.setattr(compiling, "available_workers", lambda: workers)
    with compiling_together("weibo"):
        new_kernel(module)(1)
    started.assert_not_called()


@pytest.mark.slow
@needs_compiler
def test_second_process_compiles_only_what_runs_need(warm_cache: Path) -> None:
    """For the same types of arguments, so that nothing is left to compile after a warm-up."""
    assert ran(IN_TURN, *shipped_names(), cache=warm_cache) == []


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(available_workers() == 1, reason="needs two processors")
def test_first_run_leaves_the_last_kernels_to_the_second_process(tmp_path: Path) -> None:
    posts = str(ROOT / "tests" / "samples" / "posts.jsonl")
    compiled = ran(FIRST_RUN, "dedupe", posts, "--dry-run", "--quiet", cache=tmp_path)
    assert {"fold_texts", "parse_posts"} <= set(compiled)
    assert "find_signs" not in compiled
