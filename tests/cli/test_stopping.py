"""Signals to stop, while a command is at work beside the main thread."""

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


OUTCOMES = {
    "Ctrl-C": (AT_WORK.format(name="SIGINT"), (130, "undone 2 True\n", "interrupted; nothing was written\n")),
    "told to end": (AT_WORK.format(name="SIGTERM"), (143, "undone 15 True\n", "")),
    "hung up": (AT_WORK.format(name="SIGHUP"), (129, "undone 1 True\n", "")),
    "work that ends by itself": (ENDS_BY_ITSELF, (0, "ended by itself\n", "")),
    "Ctrl-C twice": (TWICE, (130, "", "")),
    "after the work": (AFTERWARDS, (0, "done\n", "")),
    "before the work": (BEFORE, (143, "", "")),
}
"""Scripts that handle signals, with the exit code, output and messages of each."""


@pytest.mark.parametrize(("script", "outcome"), OUTCOMES.values(), ids=OUTCOMES)
def test_a_signal_raises_nothing_in_the_work(script: str, outcome: tuple[int, str, str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT + script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == outcome


def test_what_the_work_returns_and_raises_comes_out() -> None:
    assert work_beside(threading.current_thread) is not threading.current_thread()
    with pytest.raises(SystemExit, match="3"):
        work_beside(lambda: sys.exit(3))
