"""How often, when and by whom a kept post was posted, in a live window."""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import InputError
from hybriddup.window import Window
from hybriddup.window.stores import sqlite_queries
from tests.shared_windows.plain_store import Opener
from tests.window.stores import FILE

FIRST, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"
OTHER = "明天下雨吗，要不要带伞出门"


@pytest.fixture(params=["memory", "file"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "window" if request.param == "file" else None


def post(name: str, text: str, author: object = None) -> dict[str, object]:
    """A post with an author, as an API gives it."""
    return {"id": name, "text": text, "user": {"id": author}}


def test_a_kept_post_says_how_often_when_and_by_whom_it_was_posted(path: Path | None) -> None:
    with Window.open(path, clock=count(1e9, 60).__next__, authors="user.id") as window:
        window.add(post("a", FIRST, "ann"))
        window.add_many([post("b", NEARLY, 7), post("c", OTHER, "bo"), post("d", FIRST, "ann")])
        window.add(post("e", FIRST, "7"))
        kept, other, copy = (window.get(name) for name in "acb")
    assert (kept.n_copies, kept.authors) == (3, ["ann", 7, "7"])
    assert kept.first_seen == kept.time < copy.time < (kept.last_seen or 0)
    assert (other.n_copies, other.first_seen, other.last_seen, other.authors) == (0, other.time, other.time, ["bo"])
    assert (copy.n_copies, copy.first_seen, copy.last_seen, copy.authors) == (None, None, None, [7])


def test_the_words_are_those_of_files(path: Path | None) -> None:
    with Window.open(path, authors="user.id") as window:
        window.add_many([post("a", FIRST, "ann"), post("b", NEARLY, "bo")])
        kept, copy = (window.get(name).to_dict() for name in "ab")
        listed = [one.to_dict() for one in window.posts().posts]
    assert listed == [copy, kept]
    assert kept.keys() >= {"n_copies", "first_seen", "last_seen", "authors"}
    assert not copy.keys() & {"n_copies", "first_seen", "last_seen"}


def test_without_authors_none_are_stored(path: Path | None) -> None:
    with Window.open(path, counts=True) as window:
        window.add_many([post("a", FIRST, "ann"), post("b", NEARLY, "bo")])
        assert window.get("a").n_copies == 1
        assert "authors" not in window.get("a").to_dict()


def test_without_counts_none_are_stored_or_shown(path: Path | None) -> None:
    with Window.open(path, {"window": {"renew": True}}, clock=count(1e9, 12_000).__next__) as window:
        window.add(post("a", FIRST, "ann"))
        window.add(post("b", NEARLY))
        assert window.get("a").time == window.get("b").time
        assert {(one.n_copies, one.first_seen, one.last_seen) for one in window.posts().posts} == {(None, None, None)}
        assert "n_copies" not in window.get("a").to_dict()
    if path is not None:
        with closing(sqlite3.connect(path / FILE)) as connection:
            assert connection.execute("SELECT count(copies) FROM posts").fetchone() == (0,)


def test_a_store_that_counts_goes_on_counting(tmp_path: Path) -> None:
    for number, counts in enumerate([True, False, False]):
        with Window.open(tmp_path, counts=counts) as window:
            window.add(post(f"a{number}", FIRST))
            assert window.get("a0").n_copies == number


def add_again(window: Window) -> None:
    """Add posts that repeat and replace each other, and delete some."""
    random = Random(4)  # noqa: S311
    for number in range(120):
        window.add(post(str(random.randrange(200)), random.choice((FIRST, NEARLY, OTHER))))
        if number % 12 == 11:
            window.delete(str(random.randrange(200)))


def seen(window: Window) -> list[tuple[object, int | None, float | None]]:
    return [(one.position, one.n_copies, one.first_seen) for one in window.posts(200).posts]


@pytest.mark.parametrize("settings", [{}, {"renew": True, "on_same_id": "replace"}])
def test_the_first_opening_with_counts_counts_the_copies_that_are_there(
    tmp_path: Path, settings: dict[str, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_queries, "READ_TOGETHER", 7)
    caplog.set_level(logging.INFO, "hybriddup")
    options: dict[str, Any] = {"config": {"window": settings}, "horizon": "9d", "workers": 1}
    with Window.open(None, clock=count(1e9, 7000).__next__, counts=True, **options) as window:
        add_again(window)
        expected = seen(window)
    with Window.open(tmp_path, clock=count(1e9, 7000).__next__, **options) as window:
        add_again(window)
    with monkeypatch.context() as patched:
        count_old = sqlite_queries.count_old_copies
        patched.setattr(sqlite_queries, "count_old_copies", lambda connection: (count_old(connection), 1 / 0))
        with pytest.raises(ZeroDivisionError):
            Window.open(tmp_path, counts=True, **options)
    with Window.open(tmp_path, read_only=True, counts=True, **options) as reader:
        assert {n_copies for _, n_copies, _ in seen(reader)} == {None}
        with Window.open(tmp_path, counts=True, **options) as window:
            assert seen(window) == expected
        assert seen(reader) == expected
    assert sum(n_copies or 0 for _, n_copies, _ in expected) > 9
    assert "counting the copies among" in caplog.text


def test_counts_are_there_after_reopening(tmp_path: Path) -> None:
    for number in range(3):
        with Window.open(tmp_path, authors="user.id") as window:
            window.add(post(f"a{number}", FIRST, number))
    with Window.open(tmp_path, read_only=True) as window:
        assert (window.get("a0").n_copies, window.get("a0").authors) == (2, [0, 1, 2])


@pytest.mark.parametrize("batch", [1, 7, 100])
def test_counts_are_those_of_a_run_whatever_the_batches(path: Path | None, batch: int) -> None:
    texts = [f"{FIRST if number % 3 else NEARLY}{'！' * (number % 5)} {OTHER * (number % 4)}" for number in range(60)]
    posts = [{"id": str(number), "text": text, "by": number % 7} for number, text in enumerate(texts)]
    with Window.open(path, authors="by") as window:
        for start in range(0, len(posts), batch):
            window.add_many(posts[start : start + batch])
        stored = [window.get(str(number)) for number in range(len(posts))]
    by = Counter(one.id if one.kept else one.duplicate_of for one in stored)
    assert sum(by.values()) == len(posts) > len(by)
    for one in stored:
        if one.kept:
            group = [number for number, other in enumerate(stored) if one.id in (other.id, other.duplicate_of)]
            assert one.n_copies == by[one.id] - 1
            assert sorted(map(str, one.authors)) == sorted({str(number % 7) for number in group})


def test_a_copy_that_is_deleted_is_counted_no_longer(path: Path | None) -> None:
    with Window.open(path, authors="user.id") as window:
        window.add_many(
            [post(name, FIRST, author) for name, author in zip("abcd", ["ann", "bo", "cy", "bo"], strict=True)]
        )
        window.delete("c")
        window.delete("b")
        assert (window.get("a").n_copies, window.get("a").authors) == (1, ["ann", "bo"])


def test_a_copy_with_an_earlier_time_is_the_first_seen() -> None:
    with Window.open(None, time="event", counts=True) as window:
        window.add_many([{"id": "a", "text": FIRST, "created_at": 1000}, {"id": "b", "text": FIRST, "created_at": 400}])
        assert (window.get("a").first_seen, window.get("a").last_seen) == (400, 1000)


@pytest.mark.parametrize("author", [{"name": "ann"}, 1.5, True, 2**63, "x" * 513])
def test_an_author_that_is_neither_text_nor_a_number_is_an_error(author: Any) -> None:
    with Window.open(None, authors="user") as window:
        with pytest.raises(InputError, match=r"post 0: its author must be text .* such as user\.id"):
            window.add({"text": FIRST, "user": author})
        assert window.add({"text": FIRST, "user": None}).kept


def test_a_post_of_a_shared_window_has_no_counts() -> None:
    with Opener()("shared") as window:
        window.add_many([post("a", FIRST), post("b", NEARLY)])
        assert window.get("a").n_copies is None
        assert "n_copies" not in window.get("a").to_dict()
