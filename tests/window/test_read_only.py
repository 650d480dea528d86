"""A window that only looks, beside the process that writes to its store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.window import Match, Window, hash_table
from hybriddup.window.stores.sqlite import SqliteStore
from tests.window.reference_window import CONFIG

TEXTS = ["a first post about the rain", "quite another one, on bridges", "and a third that names no one"]
LEARNING = {"weighter": {"use": "tfidf"}, "blocks": {"use": "shingles"}, "fingerprint": {"bits": 128}}
"""What learns weights and common shingles."""
FIT_AT = 300
HORIZON = 400.0
LEARNS_SOON = [(f"hybriddup.window.{module}.FIT_AT", FIT_AT) for module in ("maintenance", "learning")]
WITHOUT_END = """
import sys
from unittest.mock import patch
from hybriddup.window import Window
from tests.window.test_read_only import HORIZON, LEARNING, LEARNS_SOON, batches

now = [0.0]
for name, value in LEARNS_SOON:
    patch(name, value).start()
with Window.open(sys.argv[1], LEARNING, horizon=HORIZON, workers=1, clock=lambda: now[0]) as window:
    for batch in batches():
        now[0] += len(batch)
        print(window.add_many(batch)[-1].position, flush=True)
"""


def batches() -> Iterator[list[str]]:
    random = Random(1)  # noqa: S311
    words = [f"w{number:03}" for number in range(500)]
    while True:
        yield [" ".join(random.choices(words, k=8)) for _ in range(random.choice([1, 5, 30]))]


@contextmanager
def another_process(code: str, store: Path) -> Iterator[Any]:
    command = [sys.executable, "-c", code, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def ids_of_matches(matches: list[Match]) -> list[str | int]:
    return [match.id for match in matches if match.is_match]


def files_in(store: Path) -> dict[Path, bytes]:
    """What the files hold, but for those by which processes that use SQLite tell each other what they do."""
    files = [path for path in store.rglob("*") if path.is_file() and not path.name.endswith(("-shm", "-wal"))]
    return {path: path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_reader_sees_all_that_was_acknowledged_while_posts_come_go_and_are_learned_from(tmp_path: Path) -> None:
    store, position, n_questions = tmp_path / "store", 0, 0
    options: Any = {"horizon": HORIZON, "workers": 1, "clock": lambda: 0.0}
    with another_process(WITHOUT_END, store) as writer:
        position = int(writer.stdout.readline())
        while position < 5 * FIT_AT:
            with Window.open(store, LEARNING, read_only=True, **options) as reader:
                for _ in range(20):
                    position, n_questions = int(writer.stdout.readline()), n_questions + 1
                    newest = reader.get(f"#{position}")
                    is_there = newest is not None and ids_of_matches(reader.match(newest.text))
                    # the writer goes on meanwhile: with a slow reader, the post may be too old by now
                    assert is_there or (reader.stats().watermark or 0.0) - HORIZON >= position
        writer.kill()
        writer.wait()
        with Window.open(store, LEARNING, read_only=True, **options) as reader:
            texts = [post.text for number in range(position - 99, position + 1) if (post := reader.get(f"#{number}"))]
            answers, stats = [reader.match(text) for text in texts], reader.stats()
            assert reader.get("#0") is None
    with Window.open(store, LEARNING, **options) as window:
        assert [window.match(text) for text in texts] == answers
        assert window.stats().n_kept_in_window == stats.n_kept_in_window
        assert (window.stats().recipe_id, n_questions >= 20) == (stats.recipe_id, True)


@pytest.mark.parametrize("horizon", [30, *(pytest.param(horizon, marks=pytest.mark.slow) for horizon in (100, 300))])
def test_a_reader_forgets_what_the_writer_forgets(tmp_path: Path, horizon: float) -> None:
    now, random = [0.0], Random(2)  # noqa: S311
    texts = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=40)) for _ in range(600)]
    with (
        Window.open(tmp_path, CONFIG, horizon=100, clock=lambda: now[0]) as window,
        Window.open(tmp_path, CONFIG, horizon=horizon, read_only=True) as reader,
    ):
        for place, text in enumerate(texts):
            now[0] += 1
            window.add(text)
            if place >= 20 and place % 5 == 0:
                assert ids_of_matches(reader.match(texts[place - 20])) == [f"#{place - 20}"]
        assert reader.stats().n_kept_in_window <= min(horizon, 100) + 1  # the store forgets with the next post
        assert reader.get("#0") is None
        assert ids_of_matches(reader.match(texts[0])) == []


@pytest.mark.parametrize(
    "config",
    [LEARNING, CONFIG | {"lengths": [{"max_hamming_distance": 63, "verifier": {"use": "cosine", "threshold": 0.5}}]}],
    ids=["weights and shingles", "verifier"],
)
def test_a_reader_goes_by_what_the_writer_learns(config: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LEARNS_SOON:
        monkeypatch.setattr(name, value)
    random = Random(3)  # noqa: S311
    texts = [" ".join(random.choices(["rain", "bridge", "a", "of", "day", "post"], k=9)) for _ in range(FIT_AT + 50)]
    with Window.open(tmp_path, config) as window, Window.open(tmp_path, config, read_only=True) as reader:
        for some in (texts[: FIT_AT - 50], texts[FIT_AT - 50 :]):
            window.add_many(some)
            assert [reader.match(text) for text in texts[:20]] == [window.match(text) for text in texts[:20]]
            assert reader.stats().recipe_id == window.stats().recipe_id


def test_a_reader_that_was_interrupted_while_it_followed_derives_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Window.open(tmp_path, CONFIG) as window, Window.open(tmp_path, CONFIG, read_only=True) as reader:
        window.add_many(TEXTS)
        with monkeypatch.context() as patch:
            patch.setattr("hybriddup.window.openers.derive", lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                reader.match(TEXTS[0])
        assert [ids_of_matches(reader.match(text)) for text in TEXTS] == [["#0"], ["#1"], ["#2"]]


def test_a_reader_holds_ids_no_longer_than_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_table, "SMALLEST_SEGMENT", 16)
    now = [0.0]
    with (
        Window.open(tmp_path, CONFIG, horizon=100, clock=lambda: now[0]) as window,
        Window.open(tmp_path, CONFIG, horizon=100, read_only=True) as reader,
    ):
        for place in range(500):
            now[0] += 1
            window.add({"id": place, "text": "ab"})
            reader.get(place)
        assert reader._state.store._ids._hashes.first > 300  # type: ignore[union-attr]


def test_looking_writes_nothing(tmp_path: Path) -> None:
    with Window.open(tmp_path, CONFIG) as window:
        window.add_many(TEXTS)
    closed = files_in(tmp_path)
    with Window.open(tmp_path, CONFIG, read_only=True) as reader:
        assert ids_of_matches(reader.match(TEXTS[0])) == ["#0"]
    assert files_in(tmp_path) == closed
    with Window.open(tmp_path, CONFIG) as window:
        window.add("one more")
        in_use = files_in(tmp_path)
        with Window.open(tmp_path, CONFIG, read_only=True) as reader:
            assert reader.get("#3") is not None
            for call in (lambda: reader.add(TEXTS[0]), reader.rewind):
                with pytest.raises(WindowError, match=r"opened with read_only=True and .* the window that writes"):
                    call()
        assert files_in(tmp_path) == in_use


def test_there_is_nothing_to_read_where_nothing_was_written(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such store"):
        Window.open(tmp_path / "none", CONFIG, read_only=True)
    assert list(tmp_path.iterdir()) == []
    SqliteStore.open(tmp_path / "new").close()
    with pytest.raises(WindowError, match="the window is new and has no posts to read yet"):
        Window.open(tmp_path / "new", CONFIG, read_only=True)
    with pytest.raises(ConfigError, match="in memory"):
        Window.open(None, CONFIG, read_only=True)


def test_a_reader_that_is_closed_says_so(tmp_path: Path) -> None:
    with Window.open(tmp_path, CONFIG):
        reader = Window.open(tmp_path, CONFIG, read_only=True)
        reader.close()
        reader.close()
        for call in (lambda: reader.match("a"), lambda: reader.add("a")):
            with pytest.raises(WindowError, match="the window is closed"):
                call()
