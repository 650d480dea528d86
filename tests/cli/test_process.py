"""The command line as a process: how quickly it starts, and how it ends by itself, by a signal or with its reader."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hybriddup.cli.stopping import work_beside
from tests.cli import support
from tests.cli.support import NEARLY, OTHER, REPEATED, ROOT, Start, distinct_texts, jsonl, names, write_posts
from tests.processes import python, run_python

SLOW = {"numba", "llvmlite", "jieba", "sklearn", "scipy", "numpy", "rich", "yaml", "pandas", "pyarrow"}
SLOW |= {"starlette", "uvicorn", "prometheus_client", "httptools", "uvloop"}
"""Not pydantic, which typer itself may load."""
SCIPY = {f"scipy.{part}" for part in ("linalg", "sparse", "optimize", "stats", "special", "cluster", "spatial")}


@pytest.mark.parametrize("command", ["", "dedupe", "plan", "watch", "serve", "config show", "--version"])
def test_help_loads_nothing_slow(command: str) -> None:
    loaded = support.modules_loaded_by(*command.split(), *["--help"] * (command != "--version"))
    assert "typer" in loaded
    assert loaded & SLOW == set()


@pytest.mark.parametrize(
    "config", ["weibo", *(pytest.param(name, marks=pytest.mark.slow) for name in ("posts", "twitter"))]
)
def test_deciding_loads_nothing_that_only_fitting_needs(tmp_path: Path, config: str) -> None:
    """scikit-learn and scipy alone take longer to import than all else that a run or a service needs."""
    name = str(tmp_path / write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY, OTHER))
    kept = str(tmp_path / "kept.jsonl")
    loaded = support.modules_loaded_by("dedupe", name, "--config", config, "-o", kept, "--quiet")
    assert "numba" in loaded
    assert {"sklearn", "joblib", "cloudpickle", "pandas", "jieba"} & loaded == set()
    assert {name for name in loaded if name.startswith("scipy.")} & SCIPY == set()


def test_threads_take_short_turns() -> None:
    """The default of 5 ms would be ten times as long as a kernel between two threads works."""
    program = (
        "import atexit, sys; from hybriddup.__main__ import main; "
        "atexit.register(lambda: print(sys.getswitchinterval())); sys.argv[1:] = ['--version']; main()"
    )
    ran = subprocess.run([*python(), "-c", program], capture_output=True, text=True, check=True)
    assert float(ran.stdout.split()[-1]) < 0.001


SLOW_WRITER = """
import time
from pathlib import Path
import hybriddup
from hybriddup.files.jsonl import JsonlWriter

class SlowWriter(JsonlWriter):
    def write(self, sources, target, keep):
        target.write(b"half of it")
        target.flush()
        Path("writing").touch()
        time.sleep(60)

@hybriddup.hookimpl
def hybriddup_register(registry):
    registry.add_writer("jsonl", SlowWriter(), replace=True)
"""


@pytest.mark.parametrize(
    ("number", "code", "message"),
    [(signal.SIGINT, 130, "interrupted; nothing was written"), (signal.SIGTERM, 143, ""), (signal.SIGHUP, 129, "")],
)
def test_a_run_told_to_stop_leaves_nothing_behind(
    start: Start, tmp_path: Path, number: int, code: int, message: str
) -> None:
    """Not even while it writes; Ctrl-C, the system's request to end and a closed terminal alike."""
    (tmp_path / "slow_writer.py").write_text(SLOW_WRITER, "utf-8")
    name = write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY)
    process = start("dedupe", name, "--plugin", "slow_writer", "--quiet", PYTHONDONTWRITEBYTECODE="1")
    while not (tmp_path / "writing").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    assert [name for name in names(tmp_path) if name.endswith(".tmp")]
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error.decode().strip()) == (code, message)
    assert names(tmp_path) == ["posts.jsonl", "slow_writer.py", "writing"]


def test_a_reader_that_stops_reading_is_no_error(start: Start, tmp_path: Path) -> None:
    """As when the output is piped to head."""
    name = write_posts(tmp_path / "posts.jsonl", *distinct_texts(5000))
    with start("dedupe", name, "-o", "-", "--quiet") as process:
        assert process.stdout.readline() == jsonl(*distinct_texts(1)).encode()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_pipes_work_from_end_to_end(start: Start, tmp_path: Path) -> None:
    posts = jsonl(REPEATED, OTHER, NEARLY).encode()
    out, error = start("dedupe", "-", stdin=subprocess.PIPE).communicate(posts, timeout=120)
    assert out == jsonl(REPEATED, OTHER).encode()
    assert b"1 near" in error
    assert names(tmp_path) == []


def test_a_bar_is_drawn_at_a_terminal(start: Start, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY)
    shown = support.run_at_terminal("dedupe", name, columns=100, directory=tmp_path)
    assert re.search("(read|fingerprint|decide|write) .*━", shown)  # steps that end between two drawings are not shown
    assert shown.endswith("Removed 1 of 2 (50.0 %): 0 exact, 1 near. Kept 1 in posts.kept.jsonl.\r\n")
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


CLOSED = """
import os, sys
for number in map(int, sys.argv[1]):
    os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "hybriddup", *sys.argv[2:]])
"""


@pytest.mark.parametrize(
    ("numbers", "arguments", "code", "message"),
    [
        ("012", ["dedupe", "posts.jsonl"], 0, ""),
        ("2", ["dedupe", "absent.jsonl"], 2, ""),
        ("0", ["dedupe", "-"], 2, "error: standard input is closed; leave it open, or name a file.\n"),
        ("1", ["dedupe", "posts.jsonl", "-q", "-o", "-"], 2, "error: standard output could not be written: Bad file"),
        ("0", ["watch"], 2, "error: standard input or output, which this command needs, is closed"),
        ("1", ["--help"], 2, "error: standard input or output, which this command needs, is closed"),
        *(
            pytest.param("1", arguments, 2, "error: standard input or output, which", marks=pytest.mark.slow)
            for arguments in (["explain", "a", "b"], ["plugins"])
        ),
    ],
)
def test_a_closed_stream_is_missed_only_by_what_needs_it(
    tmp_path: Path, numbers: str, arguments: list[str], code: int, message: str
) -> None:
    write_posts(tmp_path / "posts.jsonl", REPEATED, NEARLY)
    ran = run_python("-c", CLOSED, numbers, *arguments, cwd=tmp_path, check=False)
    assert ran.returncode == code
    assert ran.stderr.startswith(message) if message else ran.stderr == ""
    if code == 0:
        assert (tmp_path / "posts.kept.jsonl").read_text("utf-8") == jsonl(REPEATED)


@pytest.mark.parametrize(
    ("shell", "asked", "answer"),
    [
        ("bash", {"COMP_WORDS": "hybriddup con", "COMP_CWORD": "1"}, "config"),
        ("bash", {"COMP_WORDS": "hybriddup dedupe --again", "COMP_CWORD": "2"}, "--against"),
        ("zsh", {"_TYPER_COMPLETE_ARGS": "hybriddup config in"}, '"init":"Print a'),
        ("fish", {"_TYPER_COMPLETE_ARGS": "hybriddup warm"}, "warm-up\tCompile the kernels"),
    ],
    ids=["bash, a command", "bash, an option", "zsh", "fish"],
)
def test_shells_complete_commands_and_options(start: Start, shell: str, asked: dict[str, str], answer: str) -> None:
    of_fish = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    out, error = start(_HYBRIDDUP_COMPLETE=f"complete_{shell}", **asked, **of_fish).communicate(timeout=60)
    assert answer in out.decode()
    assert error == b""


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
