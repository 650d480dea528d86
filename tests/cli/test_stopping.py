"""Signals to stop, while a command is at work beside the main thread."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from hybriddup.cli.stopping import work_beside
from tests.cli.support import ROOT

SCRIPT = """
import os, signal, threading, time
from hybriddup.cli.stopping import ignore_signals, install_handlers, on_stop, work_beside

def send(number):
    os.kill(os.getpid(), number)

def in_main_thread():
    return threading.current_thread() is threading.main_thread()

install_handlers()
"""
AT_WORK = """
def work():
    on_stop(lambda number: bool(print("undone", number, in_main_thread(), flush=True)))
    send(signal.{name})
    time.sleep(60)

work_beside(work)
"""
ENDS_BY_ITSELF = """
ended = threading.Event()

def work():
    on_stop(lambda number: not ended.set())
    send(signal.SIGINT)
    ended.wait(60)
    return "ended by itself"

print(work_beside(work))
"""
TWICE = """
def work():
    on_stop(lambda number: True)
    send(signal.SIGINT)
    time.sleep(1)
    send(signal.SIGINT)
    time.sleep(60)

work_beside(work)
"""
AFTERWARDS = """
work_beside(lambda: None)
send(signal.SIGINT)
ignore_signals()
send(signal.SIGTERM)
print("done")
"""
BEFORE = """
send(signal.SIGTERM)
time.sleep(60)
"""


def ran(script: str) -> tuple[int, str, str]:
    """Run a script that handles signals; return its exit code, and what it printed and said."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (AT_WORK.format(name="SIGINT"), (130, "undone 2 True\n", "interrupted; nothing was written\n")),
        (AT_WORK.format(name="SIGTERM"), (143, "undone 15 True\n", "")),
        (AT_WORK.format(name="SIGHUP"), (129, "undone 1 True\n", "")),
        (ENDS_BY_ITSELF, (0, "ended by itself\n", "")),
        (TWICE, (130, "", "")),
        (AFTERWARDS, (0, "done\n", "")),
        (BEFORE, (143, "", "")),
    ],
    ids=[
        "Ctrl-C",
        "told to end",
        "hung up",
        "work that ends by itself",
        "Ctrl-C twice",
        "after the work",
        "before the work",
    ],
)
def test_a_signal_raises_nothing_in_the_work(script: str, outcome: tuple[int, str, str]) -> None:
    assert ran(script) == outcome


def test_what_the_work_returns_and_raises_comes_out() -> None:
    assert work_beside(threading.current_thread) is not threading.current_thread()
    with pytest.raises(SystemExit, match="3"):
        work_beside(lambda: sys.exit(3))
