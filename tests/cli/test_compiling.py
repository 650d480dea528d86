"""A second process compiles the kernels that the first run of a command needs last."""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from hybriddup.cli import compiling
from hybriddup.cli.compiling import compiling_together
from hybriddup.config.read import shipped_names
from hybriddup.steps.parallel import available_workers
from tests.cli.support import ROOT
from tests.cli.test_warm_up import needs_compiler, new_kernel, warm_cache
from tests.processes import run_python

__all__ = ["warm_cache"]

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
def test_kernels_of_other_packages_and_kept_ones_start_no_process(started: Mock) -> None:
    with compiling_together("weibo"):
        new_kernel("statistics")(1)
    started.assert_not_called()


@needs_compiler
def test_one_processor_is_not_shared(started: Mock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "available_workers", lambda: 1)
    with compiling_together("weibo"):
        new_kernel()(1)
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
