"""What all tests share.

Hypothesis has no deadlines, because the first call of a kernel compiles or loads it. It tries 15 examples; with
--hypothesis-profile thorough, as in .ci/run, 100. The tests are shared out among processes (pytest-xdist), unless
single files are named. What only an ordinary user can notice is skipped for root.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings

from hybriddup.steps.parallel import available_workers
from tests.processes import ADDRESS, start_server

settings.register_profile("hybriddup", deadline=None, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("hybriddup")
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and what tests start would inherit that
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start many processes, which would all compile the package


def kernel_caches() -> Path:
    """Return the folder with the caches of compiled kernels, one for each process that shares the tests."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return (Path(folder) if folder else Path(__file__).parents[1] / ".pytest_cache") / "kernels"


COMPILED = kernel_caches() / "compiled"
"""What a warm-up left in an empty cache, if there was one; nothing else writes there."""

if (worker := os.environ.get("PYTEST_XDIST_WORKER")) is not None:
    # numba reads this when it is imported. It writes to its cache without a lock: two processes that compile the same
    # kernel for different types at the same moment can leave one's code under the other's entry.
    os.environ["NUMBA_CACHE_DIR"] = str(kernel_caches() / worker)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return 0 where only files or tests are named, which run in this process; otherwise how many cores there are."""
    return 0 if all(".py" in argument for argument in config.args) else available_workers()


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels once, in the process that starts the others, and give each of these a copy."""
    processes = getattr(config.option, "tx", None)
    if processes and worker is None and not config.option.collectonly:
        fill_caches([f"gw{number}" for number in range(len(processes))])
        if hasattr(os, "pidfd_open") and "NUMBA_DISABLE_JIT" not in os.environ:
            os.environ[ADDRESS] = start_server(str(COMPILED))


def fill_caches(names: list[str]) -> None:
    """Have a cache of all kernels for each process; those of earlier runs stay while no kernel changes."""
    from hybriddup.kernels.cache import is_compiling  # with numba, which reads its environment when it is imported

    if not is_compiling():
        return
    folder = COMPILED.parent
    if not is_warm(COMPILED):
        shutil.rmtree(folder, ignore_errors=True)
        warm_up(COMPILED)
    for name in names:
        if not (folder / name).exists():
            shutil.copytree(COMPILED, folder / name)


def is_warm(cache: Path) -> bool:
    """Whether a cache is one of the kernels as they are now."""
    from hybriddup.kernels.cache import STAMP, version_of_sources

    return any(stamp.read_text() == version_of_sources() for stamp in cache.glob(f"*/{STAMP}"))


def warm_up(cache: Path) -> None:
    """Compile all kernels into a cache, which takes a while."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "hybriddup", "warm-up"]
    subprocess.run(command, env=environment, capture_output=True, timeout=400, check=True)


@cache
def may_write_anywhere() -> bool:
    """Whether permissions do not hold back the user who runs the tests, as with root, or there are none."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o500)
        return os.access(folder, os.W_OK)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what only an ordinary user can notice."""
    if item.get_closest_marker("ordinary_user") and may_write_anywhere():
        pytest.skip("permissions do not hold back this user")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium; tests that want one are skipped where there is none.

    It is closed after a module's tests, as until then Playwright has an event loop running in this thread, in which
    other tests cannot run theirs.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no chromium is installed (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as engine:
        # the sandbox needs rights that a container's root has not; the only pages opened are our own
        chromium = engine.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()
