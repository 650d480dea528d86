"""Posts that are deleted: what a window decides then is what one decides that never got them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from hybriddup.errors import StoreError
from hybriddup.window import AnyWindow, Window
from hybriddup.window.records import StoredPost
from hybriddup.window.stores import sqlite_queries
from hybriddup.window.stores.sqlite import SqliteStore
from tests.posts import load_sample
from tests.window.reference_window import CONFIG
from tests.window.stores import WITHOUT_RECORDS, change


def some_posts(rng: Random, n: int, name: str) -> list[dict[str, Any]]:
    """Posts that repeat each other in whole and in part."""
    texts = [post["text"] for post in load_sample("posts.jsonl") if post["text"]]

    def made() -> str:
        one, other = rng.sample(texts, 2)
        mixed = one[: rng.randrange(len(one))] + other[rng.randrange(len(other)) :]
        return rng.choice([one, mixed, one + other])

    return [{"id": f"{name} {place}", "text": made()} for place in range(n)]


def answers_of(window: AnyWindow, posts: list[dict[str, Any]]) -> list[Any]:
    """What a window finds and decides, without positions."""
    found = [[(one.id, one.score) for one in window.match(post["text"])] for post in posts[:50]]
    decided = [
        (one.id, one.evidence and (one.evidence.duplicate_of, one.evidence.reason, one.evidence.score))
        for one in window.add_many(posts)
    ]
    return [found, decided]


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize(
    ("config", "share"),
    [("weibo", 4), ({"blocks": {"max_bucket_size": 6}}, None)],
    ids=["a quarter", "one, from crowded keys"],
)
def test_after_deletions_a_window_decides_as_if_the_posts_had_not_come(
    tmp_path: Path, config: Any, share: int | None, reopened: bool
) -> None:
    rng = Random(3)  # noqa: S311  posts, not secrets
    first, later = some_posts(rng, 900, "first"), some_posts(rng, 700, "later")
    with Window.open(None, config, workers=1) as other, Window.open(tmp_path / "w", config, workers=1) as window:
        kept = [post for post, decision in zip(first, window.add_many(first), strict=True) if decision.kept]
        gone = rng.sample(kept, len(kept) // share if share else 1)
        assert all(window.delete(post["id"]) for post in gone)
        other.add_many([post for post in kept if post not in gone])
        if not reopened:
            assert answers_of(window, later) == answers_of(other, later)
            return
        window.close()
        with Window.open(tmp_path / "w", config, workers=1) as again:
            assert answers_of(again, later) == answers_of(other, later)


UNWANTED = "这是一条谁也不该再看到的微博 secret"
LONG = f"{UNWANTED} " * 200
"""In SQLite it takes more than a page."""


def distinct(seed: int, n: int) -> list[str]:
    rng = Random(seed)  # noqa: S311  posts, not secrets
    return ["".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(20)) for _ in range(n)]


def holds(folder: Path, text: str) -> bool:
    """Whether a file in a directory has a text, in one of the forms in which texts are written."""
    forms = (text.encode(), text.encode("utf-16-le"))
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(form in content for form in forms for content in contents)


def check_gone(folder: Path) -> None:
    assert not holds(folder, "不该再看到")
    assert not holds(folder, "secret")


@pytest.mark.parametrize(
    ("n_before", "n", "unwanted"),
    [(100, 200, UNWANTED), (100, 200, LONG), (5, 66, UNWANTED)],
    ids=["short", "long", "SQLite has split a page"],
)
def test_nothing_is_left_of_the_text_of_a_deleted_post(tmp_path: Path, n_before: int, n: int, unwanted: str) -> None:
    texts = distinct(n, n + 100)
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([*texts[:n_before], {"id": "gone", "text": unwanted}, *texts[n_before:n]])
        window.add_many(texts[n:])
        assert window.delete("gone")
    check_gone(tmp_path / "w")
    assert all(holds(tmp_path / "w", text) for text in texts)


SECRETS = [UNWANTED, UNWANTED + " 第二句" * 150, UNWANTED + " 第二句" * 600, UNWANTED + " 第二句" * 3000 + UNWANTED]
"""Texts of some 60 bytes, 2, 7 and 33 kB in UTF-8."""


def with_secret(folder: Path, unwanted: str) -> Window:
    """An open window with a text in it, among others."""
    window = Window.open(folder, CONFIG)
    window.add_many(distinct(8, 100))
    window.add({"id": "gone", "text": unwanted})
    window.add_many(distinct(9, 100))
    assert holds(folder, "secret")
    return window


@pytest.mark.parametrize("unwanted", SECRETS, ids=["short", "2 kB", "7 kB", "33 kB"])
def test_when_a_deletion_returns_nothing_is_left_of_the_text(tmp_path: Path, unwanted: str) -> None:
    with with_secret(tmp_path / "w", unwanted) as window:
        assert window.delete("gone")
        check_gone(tmp_path / "w")
        shutil.copytree(tmp_path / "w", tmp_path / "crashed")
        window.add_many(distinct(10, 300))
        check_gone(tmp_path / "w")
    with Window.open(tmp_path / "crashed", CONFIG) as window:
        assert window.get("gone") is None
        check_gone(tmp_path / "crashed")


NEXT: dict[str, Callable[[Window], Any]] = {
    "add": lambda window: window.add("早上好，今天天气真不错"),
    "get": lambda window: window.get("gone"),
    "match": lambda window: window.match("早上好，今天天气真不错"),
    "match none": lambda window: window.match("?"),
    "stats": lambda window: window.stats(),
    "close": lambda window: window.close(),
}


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Have another program be in the middle of reading the store, which keeps what it reads in SQLite's log."""
    with closing(sqlite3.connect(folder / "posts.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN")
        assert other.execute("SELECT count(*) FROM posts").fetchone()[0] > 100
        yield
        other.execute("COMMIT")


@pytest.mark.parametrize("call", NEXT.values(), ids=NEXT)
def test_a_text_that_a_reader_needs_goes_with_the_next_call_after_that(
    tmp_path: Path, call: Callable[[Window], Any]
) -> None:
    with with_secret(tmp_path / "w", LONG) as window:
        with reading(tmp_path / "w"):
            assert window.delete("gone")
            assert window.get("gone") is None
            assert holds(tmp_path / "w", "secret")
        call(window)
        check_gone(tmp_path / "w")


def test_a_text_that_a_reader_needed_at_a_crash_goes_when_the_window_is_opened(tmp_path: Path) -> None:
    with with_secret(tmp_path / "w", LONG) as window, reading(tmp_path / "w"):
        assert window.delete("gone")
        shutil.copytree(tmp_path / "w", tmp_path / "crashed")
    assert holds(tmp_path / "crashed", "secret")
    with Window.open(tmp_path / "crashed", CONFIG):
        check_gone(tmp_path / "crashed")


def test_nothing_is_left_of_texts_in_pages_that_are_free(tmp_path: Path) -> None:
    """When posts are forgotten, SQLite moves those left to other pages: in a free one, a deletion would miss them."""
    secrets = [f"secret {position:06} {'x' * (30 + position % 400)}" for position in range(2000)]
    with closing(SqliteStore.open(tmp_path)) as store:
        for first in range(0, 2000, 100):
            texts = enumerate(secrets[first : first + 100], first)
            store.append([StoredPost(position, position, 0.0, text, None) for position, text in texts])
        store.forget_before(1900)
        for _ in range(10):
            store.append([])
        for position in range(1900, 1910):
            store.delete(position, {})
    content = (tmp_path / "posts.sqlite3").read_bytes()
    assert [position for position, text in enumerate(secrets) if text.encode() in content] == list(range(1910, 2000))


def test_a_text_is_erased_that_memory_has_forgotten_and_the_store_has_not(tmp_path: Path) -> None:
    """As between two edges of the horizon, when few posts come."""
    now = [1000.0]
    with Window.open(tmp_path / "w", "weibo", horizon=100.0, clock=lambda: now[0]) as window:
        for at, text in ((1000.0, "早上好，今天天气真不错"), (1000.05, UNWANTED), (1050.0, "大家晚安，明天再见了")):
            now[0] = at
            window.add({"id": f"{at}", "text": text})
        now[0] = 1100.1
        window.add("又是新的一天，继续努力吧")
        assert window.stats().n_kept_in_window == 2
        assert window.delete("1000.05")
    check_gone(tmp_path / "w")


def test_a_text_that_cannot_be_overwritten_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([{"id": "gone", "text": UNWANTED}, *distinct(5, 3)])
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_queries, "delete_post", Mock(side_effect=error))
            with pytest.raises(StoreError, match="reading or writing failed"):
                window.delete("gone")
        assert window.get("gone") is not None
        assert window.delete("gone")
    check_gone(tmp_path / "w")


def test_a_normalized_text_is_deleted_with_its_post(tmp_path: Path) -> None:
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many(
            [{"id": "gone", "text": "ＳＥＣＲＥＴ ｗｏｒｄｓ ｉｎ ｗｉｄｅ ｌｅｔｔｅｒｓ"}, *distinct(6, 100)]
        )
        assert holds(tmp_path / "w", "secret words")
        assert window.delete("gone")
        assert not holds(tmp_path / "w", "secret words")


def test_a_deleted_post_is_gone_from_records_that_are_merged_or_derived(tmp_path: Path) -> None:
    """Merging rewrites batches with posts that were deleted since."""
    texts = distinct(11, 150)
    with Window.open(tmp_path / "w", CONFIG) as window:
        for number, text in enumerate(texts[:50]):
            window.add({"id": number, "text": text})
        assert window.delete(7)
        for number, text in enumerate(texts[50:], 50):
            window.add({"id": number, "text": text})
    for is_derived in (False, True):
        if is_derived:
            change(tmp_path / "w", WITHOUT_RECORDS)
        with Window.open(tmp_path / "w", CONFIG) as window:
            assert window.stats().n_kept_in_window == 149
            assert not any(match.is_match for match in window.match(texts[7]))
            assert window.match(texts[8])[0].id == 8
