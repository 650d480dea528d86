"""Programs that tests start: from a warm process where that can be, because a new interpreter imports for a second."""

import atexit
import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[1]
WARM = Path(__file__).parent / "warm"
ADDRESS = "HYBRIDDUP_TESTS_SERVER"
"""Names the environment variable with the address of a warm process that all processes with tests share."""


@cache
def python() -> list[str]:
    """Return what takes the place of ``python`` before ``-m MODULE``, ``-c CODE`` or a script.

    A program that was killed may take a moment longer to end than `subprocess` says. Programs whose interpreter
    matters, such as its other options, its limits, or what it imports, are started by `sys.executable`.
    """
    if not hasattr(os, "pidfd_open"):
        return [sys.executable]
    address = os.environ.get(ADDRESS) or start_server()
    return [sys.executable, "-I", "-S", str(WARM / "launcher.py"), address]


def run_python(*arguments: str, cwd: Path | None = None, check: bool = True, **environment: str) -> Any:
    """Run a new interpreter, which finds the package and the tests; return what it printed as text."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=400, check=check)


@cache
def python_program() -> str:
    """Return the path of a program that takes the place of ``sys.executable``, for code that starts that itself."""
    folder = TemporaryDirectory(prefix="warm-")
    atexit.register(folder.cleanup)
    program = Path(folder.name) / "python"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(python())} "$@"\n', "utf-8")
    program.chmod(0o755)
    return str(program)


def start_server() -> str:
    """Start a warm process that ends with this one; return its address."""
    folder = TemporaryDirectory(prefix="warm-")
    address = f"{folder.name}/socket"
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "12345"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm.server", address],
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )

    def stop() -> None:
        server.communicate()
        folder.cleanup()

    atexit.register(stop)
    assert server.stdout is not None
    assert server.stdout.readline() == b"bound\n"
    return address
