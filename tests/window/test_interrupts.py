"""Exceptions of signal handlers come up while a window works: it goes on, whole, and so does the process."""

from __future__ import annotations

import json
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hybriddup.window import Window
from tests.window.reference_window import CONFIG

N_SIGNALS = 150
CHILD = f"""
import json, signal, sys
from hybriddup.window import Window

class TimeIsUp(Exception):
    pass

is_armed = False

def handle(number, frame):
    global is_armed
    if is_armed:
        is_armed = False
        raise TimeIsUp

config = json.loads(sys.argv[2])
answers, n_interrupts, n = {{}}, 0, 1
with Window.open(sys.argv[1], config) as window:
    answers[0] = window.add({{"id": 0, "text": "text number 0"}}).decision  # compiles what is not compiled yet
    signal.signal(signal.SIGUSR1, handle)
    print("ready", flush=True)
    while n_interrupts < {N_SIGNALS}:
        try:
            is_armed = True
            posts = [{{"id": i, "text": f"text number {{i * 7919 % 400}}"}} for i in range(n, n + 20)]
            for decision in window.add_many(posts):
                answers[decision.id] = decision.decision
            window.match("text number 17")
            n += 20
            is_armed = False  # here, where what comes up at the last moment is still caught
        except TimeIsUp:
            n_interrupts += 1
    is_armed = False
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    again = window.add_many([{{"id": i, "text": "something else"}} for i in range(n)])
    assert all(each.repeated and answers[each.id] == each.decision for each in again)
print(json.dumps([n, window._state is None]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="the system has no signals that a handler could be for")
def test_a_window_survives_interrupts_at_any_moment(tmp_path: Path) -> None:
    """What was answered stands, and the store can be opened again."""
    command = [sys.executable, "-c", CHILD, str(tmp_path), json.dumps(CONFIG)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            for place in range(10_000):
                if process.poll() is not None:
                    break
                process.send_signal(signal.SIGUSR1)
                time.sleep(0.001 * (place % 13))
            output, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert "Error" not in errors
    n, is_closed = json.loads(output)
    assert is_closed
    with Window.open(tmp_path, CONFIG) as window:
        assert window.add_many([{"id": n - 1, "text": "new"}, {"id": n + 20, "text": "newer"}])[0].repeated
        assert window.stats().n_posts == 1


AT_EXIT = """
import atexit, json, sys
from hybriddup.window import Window

window = Window.open(sys.argv[1], json.loads(sys.argv[2]))
atexit.register(window.close)
atexit.register(lambda: print(window.get("#0").text, window.stats().n_posts))
window.add("abcdefghijkl")
"""


def test_a_window_is_used_and_closed_while_the_interpreter_ends(tmp_path: Path) -> None:
    """When no thread can be started any more."""
    command = [sys.executable, "-c", AT_EXIT, str(tmp_path), json.dumps(CONFIG)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "abcdefghijkl 1\n", "")
    assert not (tmp_path / "posts.sqlite3-wal").exists()  # SQLite deletes it when the last connection is closed


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others")
def test_only_the_owner_can_read_what_a_window_writes(tmp_path: Path) -> None:
    """Whatever the umask is."""
    with Window.open(tmp_path / "new" / "store", CONFIG) as window:
        window.add_many(["abcdefghijkl", "mnopqrstuvwx"])
        made = [tmp_path / "new" / "store", *(tmp_path / "new" / "store").rglob("*")]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made if path.exists()}
    assert {"posts.sqlite3", "writer.lock", "derived", "000001.kept", "about.json"} <= modes.keys()
    assert set(modes.values()) == {0o700, 0o600}
    assert all(
        (mode == 0o700) == (tmp_path / "new" / "store" / name).is_dir() or name == "store"
        for name, mode in modes.items()
    )
