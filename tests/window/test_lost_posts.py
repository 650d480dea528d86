"""What the log says when a window is opened: acknowledged posts that are lost, and nothing of those that are not.

A directory that is copied while a window is open is what a crash leaves.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from hybriddup.window import Window
from tests.window.reference_window import CONFIG

LOST = "has lost acknowledged posts"
WAL = "posts.sqlite3-wal"
SOURCES = [f"{letter * 9}{number}" for number in range(10) for letter in "abcdefgh"]


def positions_in(store: Path, n: int) -> int:
    """How many of the first ``n`` posts an opened window finds, each of which has its number as its id."""
    with Window.open(store, CONFIG) as window:
        return sum(window.get(number) is not None for number in range(n))


def send(window: Window, first: int, texts: list[str]) -> None:
    """Send posts in some transactions, so few that SQLite's log is not moved into its file."""
    for start in range(0, len(texts), 5):
        some = enumerate(texts[start : start + 5], first + start)
        window.add_many([{"id": number, "text": text} for number, text in some])


@pytest.fixture(params=[pytest.param("kept", marks=pytest.mark.slow), "duplicates", "both"])
def crashed(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """What a crash leaves of a window with 200 posts; the last 100, of this kind, are in SQLite's log only."""
    copies = Random(1).choices(SOURCES[:20], k=100)  # noqa: S311
    news = ["".join(Random(number).choices("klmnopqrstuvwxyz", k=30)) for number in range(100)]  # noqa: S311
    later = {"duplicates": copies, "kept": news, "both": news[:50] + copies[:50]}[request.param]
    with Window.open(tmp_path / "store", CONFIG) as window:
        send(window, 0, (SOURCES * 2)[:100])
    with Window.open(tmp_path / "store", CONFIG) as window:
        send(window, 100, later)
        shutil.copytree(tmp_path / "store", tmp_path / "crashed")
    return tmp_path / "crashed"


def damaged_logs(log: bytes) -> Iterator[bytes | None]:
    """A log that was cut, has zeros, or a flipped bit, here and there; None = deleted."""
    rng = Random(2)  # noqa: S311
    yield None
    yield b""
    yield bytes(len(log))
    for place in (len(log) - 1, len(log) - 4120, *(rng.randrange(len(log)) for _ in range(6))):
        yield log[:place]
        yield log[:place] + bytes([log[place] ^ 16]) + log[place + 1 :]


def test_the_log_says_when_acknowledged_posts_are_lost_and_never_else(
    crashed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite leaves out what it cannot read of its log without a word, whether it is of kept posts or of duplicates."""
    content, n_losses = (crashed / WAL).read_bytes(), 0
    for number, damaged in enumerate(damaged_logs(content)):
        store = Path(shutil.copytree(crashed, crashed.with_name(f"damaged {number}")))
        (store / WAL).unlink()
        if damaged is not None:
            (store / WAL).write_bytes(damaged)
        caplog.clear()
        n_lost = 200 - positions_in(store, 200)
        assert (n_lost > 0) == (LOST in caplog.text)
        n_losses += n_lost > 0
        caplog.clear()
        positions_in(store, 200)
        assert caplog.messages == []
    assert n_losses >= 10


def test_a_loss_is_said_with_the_posts_that_it_took(crashed: Path, caplog: pytest.LogCaptureFixture) -> None:
    (crashed / WAL).unlink()
    first = positions_in(crashed, 200)
    assert f"it ends before position {first}, and posts up to position 199 were acknowledged" in caplog.text


def test_a_crash_alone_is_no_loss(crashed: Path, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(3):
        with Window.open(crashed, CONFIG) as window:
            send(window, 200 + number, [f"one more {number}"])
            copy = Path(shutil.copytree(crashed, crashed.with_name(f"again {number}")))
        assert positions_in(copy, 200) == 200
        crashed = copy
    assert caplog.messages == []


def test_a_window_whose_time_was_put_back_has_lost_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    with Window.open(tmp_path / "store", CONFIG, horizon=100.0, max_step=1e6, clock=lambda: now[0]) as window:
        for now[0] in (0.0, 1000.0, 2000.0):
            window.add_many([{"id": f"{now[0]} {text}", "text": text} for text in SOURCES])
        now[0] = 500.0
        assert window.rewind() == 1500.0
    caplog.clear()
    with Window.open(tmp_path / "store", CONFIG, horizon=100.0, clock=lambda: now[0]):
        assert LOST not in caplog.text


def test_a_backup_that_is_put_back_as_described_is_no_loss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "store"
    with Window.open(store, CONFIG) as window:
        send(window, 0, SOURCES[:20])
    shutil.copytree(store, tmp_path / "backup")
    with Window.open(store, CONFIG) as window:
        send(window, 20, SOURCES[20:40])
    for is_whole in (True, False):
        shutil.rmtree(store)
        if is_whole:
            shutil.copytree(tmp_path / "backup", store)
        else:
            store.mkdir()
            shutil.copy(tmp_path / "backup" / "posts.sqlite3", store)
        assert positions_in(store, 40) == 20
    assert caplog.messages == []


def test_an_older_file_beside_the_rest_is_a_loss(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = tmp_path / "store"
    with Window.open(store, CONFIG) as window:
        send(window, 0, SOURCES[:20])
    older = (store / "posts.sqlite3").read_bytes()
    with Window.open(store, CONFIG) as window:
        send(window, 20, SOURCES[20:40])
    (store / "posts.sqlite3").write_bytes(older)
    assert positions_in(store, 40) == 20
    assert caplog.text.count(LOST) == 1
    assert "an older copy of the file was put back" in caplog.text


@pytest.mark.parametrize("content", [b"", b"123\n", b"\0" * 60, b"12 99999 00000000\n", b"\xff" * 200, b"1 99999\n"])
def test_a_lock_file_that_says_nothing_sound_is_no_loss(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes
) -> None:
    """As of an earlier version, or after a power failure."""
    with Window.open(tmp_path / "store", CONFIG) as window:
        send(window, 0, SOURCES[:20])
    (tmp_path / "store" / "writer.lock").write_bytes(content)
    assert positions_in(tmp_path / "store", 20) == 20
    assert caplog.messages == []
