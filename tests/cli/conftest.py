"""Running the command line, in this process where that will do, because a new process loads the kernels again."""

import os
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hybriddup.cli.app import app
from hybriddup.cli.commands import OWN, Commands
from tests.cli.support import ROOT, Ran, Run, Start
from tests.processes import python

get_command = Commands.get_command


@cache
def built(name: str) -> Any:
    """Return one of the own subcommands, which takes longer to build than most take to run."""
    return get_command(typer.main.get_group(app), None, name)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs the command line in this process, in a new directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # plugin modules are looked for in the current directory too
    build_once = lambda group, ctx, name: built(name) if name in OWN else get_command(group, ctx, name)  # noqa: E731
    monkeypatch.setattr(Commands, "get_command", build_once)

    def invoke(*arguments: str, stdin: bytes | None = None) -> Ran:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        return Ran(result.exit_code, result.stdout_bytes.decode("utf-8", "surrogateescape"), result.stderr)

    return invoke


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Return a function that starts the command line as a process, in a new directory."""

    def popen(*arguments: str, stdin: int = subprocess.DEVNULL, **environment: str) -> subprocess.Popen[bytes]:
        interpreter = [sys.executable] if "NUMBA_CACHE_DIR" in environment else python()
        return subprocess.Popen(
            [*interpreter, "-m", "hybriddup", *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A shell that runs the tests in the background may have made children ignore it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    return popen
