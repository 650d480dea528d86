"""Processes that are killed or interrupted: what was acknowledged is there once, and windows go on."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from time import monotonic, sleep
from typing import Any

import pytest

import hybriddup
from hybriddup.window import Decision, Window
from tests.processes import python
from tests.window.reference_window import CONFIG
from tests.window.stores import check_file

KILLS = int(os.environ.get("HYBRIDDUP_KILLS", "50"))
BATCHES = 1, 16, 16, 16, 64, 256, 1000
MOST_BYTES = 40_000
"""Answers, some 200 bytes each, that are written before a kill, at most."""
DAILY = "good morning, everybody in this town"
WORDS = ["rain", "paper", "winter", "concert", "bridge", "summer", "price", "closed", "number", "open"]


def post_of(number: int) -> dict[str, object]:
    """The post with a number: half of them are others of the last hundred with a word changed."""
    random = Random(number)  # noqa: S311
    if number > 10 and random.random() < 0.5:
        words = str(post_of(random.randrange(max(0, number - 100), number))["text"]).split()
        words[random.randrange(len(words))] = random.choice(WORDS)
    else:
        words = [random.choice(WORDS) + str(random.randrange(100)) for _ in range(6)]
    return {"id": number, "text": " ".join(words)}


def as_line(decision: Decision) -> str:
    return json.dumps(decision.to_dict() | {"repeated": False}) + "\n"


def add_posts(acknowledged: Path, folder: Path, first: int) -> None:
    """Add posts without end, from some that were added before on, and write down what is acknowledged."""
    random = Random(first)  # noqa: S311
    with acknowledged.open("a") as file, Window.open(folder, CONFIG, counts=True, workers=1) as window:
        while True:
            n = random.choice(BATCHES)
            decisions = window.add_many([post_of(number) for number in range(first, first + n)])
            file.writelines(map(as_line, decisions))
            file.flush()
            first += n


def kill_while(adds: Callable[..., None], acknowledged: Path, *given: object, n_bytes: int, seconds: float) -> None:
    """Let another process add posts, and kill it a moment after it has written down so many bytes of answers."""
    acknowledged.touch()
    process = multiprocessing.get_context("fork").Process(target=adds, args=(acknowledged, *given))
    size = acknowledged.stat().st_size
    process.start()
    deadline = monotonic() + 60
    while process.is_alive() and acknowledged.stat().st_size <= size + n_bytes and monotonic() < deadline:
        sleep(0.001)
    sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL


def read_acknowledged(path: Path) -> Iterator[dict[str, object]]:
    """What was acknowledged, in the order in which it was; the last line may have been cut off by the kill."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def crash(folder: Path, rounds: int) -> int:
    store, acknowledged, random = folder / "store", folder / "acknowledged.jsonl", Random(rounds)  # noqa: S311
    answers: dict[object, dict[str, object]] = {}
    for _ in range(rounds):
        first, n_bytes, seconds = max(0, len(answers) - 40), random.randrange(MOST_BYTES), random.random() * 0.05
        kill_while(add_posts, acknowledged, store, first, n_bytes=n_bytes, seconds=seconds)
        for answer in read_acknowledged(acknowledged):
            assert answers.setdefault(answer["id"], answer) == answer
        acknowledged.write_text("")
    check_answers(store, answers)
    check_file(store)
    return len(answers)


def check_answers(store: Path, answers: dict[object, dict[str, object]]) -> None:
    """The store holds every answer that was given, and the decisions are those of a run over its posts in order."""
    with Window.open(store, CONFIG, workers=1) as window:
        # the last batch may be stored without an answer
        last = max(answers) + max(BATCHES)  # type: ignore[type-var, operator]
        stored = [window.get(number) for number in range(last + 1)]
    posts = sorted((post for post in stored if post is not None), key=lambda post: post.position)
    assert [post.position for post in posts] == list(range(len(posts)))
    for post in posts:
        if post.id in answers:
            given = answers[post.id]
            assert (given["position"], given["decision"] == "kept") == (post.position, post.kept)
    assert answers.keys() <= {post.id for post in posts}
    run = hybriddup.dedupe([post.text for post in posts], config=CONFIG, workers=1)
    assert run.kept == [place for place, post in enumerate(posts) if post.kept]
    assert run.n_copies.tolist() == [post.n_copies for post in posts if post.kept]


def load_kernels() -> None:
    """Load what is compiled before processes are forked, so that they begin at once."""
    posts = [post_of(number) for number in range(50)]
    hybriddup.dedupe([str(post["text"]) for post in posts], config=CONFIG, workers=1)
    with Window.open(None, CONFIG, workers=1) as window:
        window.add_many(posts)


@pytest.mark.parametrize("rounds", [5, pytest.param(KILLS, marks=pytest.mark.slow)])
def test_nothing_a_window_acknowledged_is_lost_in_kills(tmp_path: Path, rounds: int) -> None:
    load_kernels()
    assert crash(tmp_path, rounds) > 20 * rounds


def add_again(acknowledged: Path, folder: Path, first: int) -> None:
    """Send one text every day, and edit one post, without end."""
    with acknowledged.open("a") as file, open_again(folder) as window:
        for number in range(first, 10_000):
            day = {"created_at": number * 86_400}
            posts = [{"id": number, "text": DAILY} | day, {"id": "edited", "text": edited(number)} | day]
            window.add_many(posts)
            file.write(f"{number}\n")
            file.flush()


def open_again(folder: Path) -> Window:
    config = CONFIG | {"window": {"renew": True, "on_same_id": "replace"}}
    times: dict[str, Any] = {"time": "event", "horizon": "2d", "max_step": "9d", "clock": lambda: 1e9}
    return Window.open(folder, config, counts=True, workers=1, **times)


def edited(number: int) -> str:
    return f"{number} is the number of this text"


def test_renewals_and_edits_are_whole_after_kills(tmp_path: Path) -> None:
    load_kernels()
    store, acknowledged, random, n = tmp_path / "store", tmp_path / "acknowledged", Random(3), 0  # noqa: S311
    for _ in range(5):
        kill_while(add_again, acknowledged, store, n, n_bytes=random.randrange(300), seconds=random.random() * 0.02)
        n = len(acknowledged.read_text().splitlines())
        with open_again(store) as window:
            kept, edit, copy = (window.get(name) for name in (0, "edited", n - 1))
            n_days = n + (window.get(n) is not None)
            assert (kept.n_copies, kept.first_seen, copy.duplicate_of) == (n_days - 1, 0, 0)
            assert edit.text in (edited(n - 1), edited(n))
            assert [match.id for match in window.match(edit.text) if match.is_match] == ["edited"]
            assert len(window) == 2
        check_file(store)
    assert n > 10


N_SIGNALS = 150
CHILD = f"""
import json, os, signal, sys
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
    print(os.getpid(), flush=True)
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
    command = [*python(), "-c", CHILD, str(tmp_path), json.dumps(CONFIG)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            number = int(process.stdout.readline())
            for place in range(10_000):
                if process.poll() is not None:
                    break
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGUSR1)
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
    command = [sys.executable, "-c", AT_EXIT, str(tmp_path), json.dumps(CONFIG)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "abcdefghijkl 1\n", "")
    assert not (tmp_path / "posts.sqlite3-wal").exists()  # SQLite deletes it when the last connection is closed


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are others")
def test_only_the_owner_can_read_what_a_window_writes(tmp_path: Path) -> None:
    with Window.open(tmp_path / "new" / "store", CONFIG) as window:
        window.add_many(["abcdefghijkl", "mnopqrstuvwx"])
        made = [tmp_path / "new" / "store", *(tmp_path / "new" / "store").iterdir()]
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}
    assert {"posts.sqlite3", "posts.sqlite3-wal", "writer.lock"} <= modes.keys()
    assert modes.pop("store") == 0o700
    assert set(modes.values()) == {0o600}
