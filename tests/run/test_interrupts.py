"""Interrupting a run from Python: the caller has the exception at once, and can go on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

CHILD = """
import json, os, signal, sys, threading, time
import hybriddup

class TimeIsUp(Exception):
    pass

def handle(number, frame):
    raise TimeIsUp

signal.signal(signal.SIGUSR1, handle)
posts = [f"the {i * 7919 % 9973} th post says {i} times that it rains on bridge {i % 977}" for i in range(60_000)]
few = hybriddup.dedupe(posts[:300]).kept
n_interrupted = 0
for delay in (0.01, 0.05, 0.1, 0.2, 0.3, 0.4):
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGUSR1))
    timer.start()
    try:
        hybriddup.dedupe(posts)
        timer.join()
    except TimeIsUp:
        n_interrupted += 1
    assert hybriddup.dedupe(posts[:300]).kept == few
print(json.dumps(n_interrupted))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no signals that a handler could be for")
def test_a_run_is_interrupted_at_any_moment() -> None:
    """By an exception of a signal handler; nothing crashes, and the next run is whole."""
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) >= 1
