"""What all tests share.

Hypothesis has no deadlines, because the first call of a kernel compiles or loads it. It tries 15 examples; with
--hypothesis-profile thorough, as in .ci/run, 100. The tests are shared out among processes (pytest-xdist), unless
single files are named. What only an ordinary user can notice is skipped for root.
"""

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings

from hybriddup.steps.parallel import available_workers
from tests.processes import ADDRESS, run_python, start_server

settings.register_profile("hybriddup", deadline=None, max_examples=15)
settings.register_profile("thorough", deadline=None, max_examples=100)
settings.load_profile("hybriddup")
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and what tests start would inherit that
gc.set_threshold(2_000, 10, 5)  # each full collection looks at all that was imported
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # tests start many processes, which would all compile the package
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads of several processes would wait for each other, busily


COMPILED_FILES = "files-after-warm-up"
"""Name of a file in the folder of kernels that lists the files which a warm-up left there."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return 0 where only files or tests are named, which run in this process; otherwise how many cores there are."""
    return 0 if all(".py" in argument for argument in config.args) else available_workers()


def pytest_configure(config: pytest.Config) -> None:
    """Compile the kernels once, in the process that starts the others."""
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    if getattr(config.option, "tx", None) and not is_worker and not config.option.collectonly:
        fill_cache()
        if hasattr(os, "pidfd_open") and "NUMBA_DISABLE_JIT" not in os.environ:
            os.environ[ADDRESS] = start_server()


def fill_cache() -> None:
    """Compile all kernels into the folder that this user's programs share, unless that was done before."""
    from hybriddup.kernels.cache import FOLDER  # with numba, which reads its environment when it is imported

    if FOLDER is not None and not (done := FOLDER / COMPILED_FILES).exists():
        warm_up()
        files = (str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.*") if path.is_file())
        done.write_text("\n".join(files), "utf-8")


def warm_up(**environment: str) -> None:
    """Run the command that compiles all kernels, which takes a while."""
    run_python("-m", "hybriddup", "warm-up", **environment)


def pytest_collection_finish() -> None:
    """Exempt all modules and tests from garbage collections."""
    gc.freeze()


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
