"""A window that is killed at any moment: what was acknowledged is there, and nothing is kept twice."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest

import hybriddup
from hybriddup.window import Decision, Window
from tests.window.reference_window import CONFIG

POSTS_A_BATCH = 16
MOST_BYTES = 40_000
"""Answers, some 200 bytes each, that are written before a kill, at most."""
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
    """What was acknowledged of a post."""
    return json.dumps(decision.to_dict() | {"repeated": False}) + "\n"


def add_posts(folder: Path, acknowledged: Path, first: int) -> None:
    """Add posts without end, from some that were added before on, and write down what is acknowledged."""
    with acknowledged.open("a") as file, Window.open(folder, CONFIG, workers=1) as window:
        for start in range(first, 10**9, POSTS_A_BATCH):
            decisions = window.add_many([post_of(number) for number in range(start, start + POSTS_A_BATCH)])
            file.writelines(map(as_line, decisions))
            file.flush()


def kill_while_adding(folder: Path, acknowledged: Path, first: int, n_bytes: int, seconds: float) -> None:
    """Let another process add posts, and kill it a moment after it has written down so many bytes of answers."""
    process = multiprocessing.get_context("fork").Process(target=add_posts, args=(folder, acknowledged, first))
    size = acknowledged.stat().st_size
    process.start()
    deadline = monotonic() + 60
    while process.is_alive() and acknowledged.stat().st_size <= size + n_bytes and monotonic() < deadline:
        sleep(0.001)
    sleep(seconds)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert process.exitcode == -signal.SIGKILL


def read_acknowledged(path: Path) -> Iterator[dict[str, object]]:
    """What was acknowledged, in the order in which it was; the last line may have been cut off by the kill."""
    for line in path.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def crash(folder: Path, rounds: int) -> int:
    """Kill the window so many times; return how many posts were acknowledged."""
    store, acknowledged, random = folder / "store", folder / "acknowledged.jsonl", Random(rounds)  # noqa: S311
    acknowledged.touch()
    answers: dict[object, dict[str, object]] = {}
    for _ in range(rounds):
        first, n_bytes = max(0, len(answers) - 40), random.randrange(MOST_BYTES)
        kill_while_adding(store, acknowledged, first, n_bytes, random.random() * 0.05)
        for answer in read_acknowledged(acknowledged):
            assert answers.setdefault(answer["id"], answer) == answer
        acknowledged.write_text("")
    check_answers(store, answers)
    return len(answers)


def check_answers(store: Path, answers: dict[object, dict[str, object]]) -> None:
    """The store holds every answer that was given, and the decisions are those of a run over its posts in order."""
    with Window.open(store, CONFIG, workers=1) as window:
        stored = [window.get(number) for number in range(max(answers) + 1)]  # type: ignore[call-overload]
    posts = sorted((post for post in stored if post is not None), key=lambda post: post.position)
    assert [post.position for post in posts] == list(range(len(posts)))
    for post in posts:
        if post.id in answers:
            given = answers[post.id]
            assert (given["position"], given["decision"] == "kept") == (post.position, post.kept)
    assert answers.keys() <= {post.id for post in posts}
    run = hybriddup.dedupe([post.text for post in posts], config=CONFIG, workers=1)
    assert run.kept == [place for place, post in enumerate(posts) if post.kept]


def load_kernels() -> None:
    """Load what is compiled before processes are forked, so that they begin at once."""
    posts = [post_of(number) for number in range(50)]
    hybriddup.dedupe([str(post["text"]) for post in posts], config=CONFIG, workers=1)
    with Window.open(None, CONFIG, workers=1) as window:
        window.add_many(posts)


def test_nothing_acknowledged_is_lost_when_a_window_is_killed(tmp_path: Path) -> None:
    """Some kills at random moments, each followed by sending the last posts again."""
    load_kernels()
    assert crash(tmp_path, rounds=5) > 100


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_in_many_kills(tmp_path: Path) -> None:
    """As often as patience allows."""
    load_kernels()
    assert crash(tmp_path, rounds=int(os.environ.get("HYBRIDDUP_KILLS", "50"))) > 1000
