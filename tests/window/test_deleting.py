"""Posts that are deleted: what a window decides then is what one decides that never got them."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import StoreError
from hybriddup.window import AnyWindow, Window
from hybriddup.window.derived import file_series
from hybriddup.window.derived.file_series import RECORDS, TEXTS, AppendedFile
from hybriddup.window.derived.kept_log import FOLDER
from hybriddup.window.records import StoredPost
from hybriddup.window.stores.sqlite import SqliteStore
from tests.posts import load_sample
from tests.window.plugins import plugin, state_of
from tests.window.reference_window import CONFIG


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
        (one.id, one.evidence and (one.evidence.of, one.evidence.reason, one.evidence.score))
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
    """With the rule as it is shipped; in memory and from what is on disk."""
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
    """Texts that do not repeat each other."""
    rng = Random(seed)  # noqa: S311  posts, not secrets
    return ["".join(chr(rng.randrange(0x4E00, 0x9000)) for _ in range(20)) for _ in range(n)]


def holds(folder: Path, text: str) -> bool:
    """Whether a file in a directory has a text, in one of the forms in which texts are written."""
    forms = (text.encode(), text.encode("utf-16-le"))
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(form in content for form in forms for content in contents)


def readable(window: Window) -> list[bool]:
    """Whether the log has the text of each kept post."""
    state = state_of(window)
    positions = state.derived.kept.columns()[0]
    return [text is not None for text in state.log.texts.read(positions, state.derived.kept.text_places_of(positions))]


def check_gone(folder: Path) -> None:
    """Nothing is left of the secret in any file, whatever form it was in."""
    assert not holds(folder, "不该再看到")
    assert not holds(folder, "secret")


@pytest.mark.parametrize(
    ("n_before", "n", "unwanted"),
    [(100, 200, UNWANTED), (100, 200, LONG), (5, 66, UNWANTED)],
    ids=["short", "long", "SQLite has split a page"],
)
def test_nothing_is_left_of_the_text_of_a_deleted_post(tmp_path: Path, n_before: int, n: int, unwanted: str) -> None:
    """In no file, once the window is closed; every other text is where it was."""
    texts = distinct(n, n + 100)
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([*texts[:n_before], {"id": "gone", "text": unwanted}, *texts[n_before:n]])
        window.add_many(texts[n:])
        assert window.delete("gone")
        assert readable(window) == n_before * [True] + [False] + (n + 100 - n_before) * [True]
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
    """Not while the window is open, not after a crash at that moment, and not when more posts come."""
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
    """Whatever call it is; the deletion itself does not wait for the reader to end."""
    with with_secret(tmp_path / "w", LONG) as window:
        with reading(tmp_path / "w"):
            assert window.delete("gone")
            assert window.get("gone") is None
            assert holds(tmp_path / "w", "secret")
        call(window)
        check_gone(tmp_path / "w")


def test_a_text_that_a_reader_needed_at_a_crash_goes_when_the_window_is_opened(tmp_path: Path) -> None:
    """The deletion had returned."""
    with with_secret(tmp_path / "w", LONG) as window, reading(tmp_path / "w"):
        assert window.delete("gone")
        shutil.copytree(tmp_path / "w", tmp_path / "crashed")
    assert holds(tmp_path / "crashed", "secret")
    with Window.open(tmp_path / "crashed", CONFIG):
        check_gone(tmp_path / "crashed")


DELETES = """
import sys
from hybriddup.window import Window
from tests.window.test_deleting import CONFIG

window = Window.open(sys.argv[1], CONFIG)
assert window.delete("gone")
print("deleted", flush=True)
sys.stdin.read()
"""


def test_nothing_is_left_of_a_deleted_text_after_a_kill(tmp_path: Path) -> None:
    """As soon as the deletion has returned."""
    with_secret(tmp_path / "w", LONG).close()
    command = [sys.executable, "-c", DELETES, str(tmp_path / "w")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "deleted\n"
        process.kill()
    check_gone(tmp_path / "w")


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


@pytest.mark.parametrize("ending", ["", RECORDS, TEXTS])
def test_a_post_can_be_deleted_when_somebody_has_removed_what_was_derived(tmp_path: Path, ending: str) -> None:
    """All of it, or the files with one ending; what is left of it has no text of the post."""
    with with_secret(tmp_path / "w", LONG) as window:
        for path in (tmp_path / "w" / FOLDER).glob(f"*{ending}"):
            path.unlink()
        assert window.delete("gone")
        check_gone(tmp_path / "w")
        text = distinct(8, 100)[0]
        assert window.match(text)[0].text == text
        assert not window.add(text).kept
    with Window.open(tmp_path / "w", CONFIG) as window:
        assert not window.add(text).kept


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


@pytest.mark.parametrize("lost", ["the records", "the last record", "a record in the middle"])
def test_a_text_is_erased_whose_record_was_lost(tmp_path: Path, lost: str) -> None:
    """The process ended between the two, or a disk changed one: it is derived, and the first copy of its text goes."""
    texts = distinct(2, 40)
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many(
            [*texts[:20], {"id": "gone", "text": UNWANTED}, *(texts[20:] if lost != "the last record" else [])]
        )
    (records,) = (tmp_path / "w" / FOLDER).glob(f"*{RECORDS}")
    content = records.read_bytes()
    middle = len(content) // 2 - len(content) // 8
    damaged = {
        "the records": b"",
        "the last record": content[:-8],
        "a record in the middle": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
    }
    records.write_bytes(damaged[lost])
    with Window.open(tmp_path / "w", "weibo") as window:
        assert all(readable(window))
        assert window.delete("gone")
    check_gone(tmp_path / "w")


def test_a_text_is_erased_whose_record_waited_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts were written and records not; meanwhile the files became so large that others would be begun."""
    monkeypatch.setattr(file_series, "SMALLEST_FILE", 1500)
    append, texts = AppendedFile.append, distinct(3, 60)

    def no_room_for_records(file: AppendedFile, data: bytes) -> int:
        if file.path.suffix == RECORDS:
            raise OSError(errno.ENOSPC, "No space left on device")
        return append(file, data)

    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many(texts[:5])
        with monkeypatch.context() as patched:
            patched.setattr(AppendedFile, "append", no_room_for_records)
            window.add_many([*texts[5:10], {"id": "gone", "text": UNWANTED}])
            window.add_many(texts[10:30])
            window.add_many([{"id": "too", "text": "还有一条谁也不该再看到的 secret 在这里"}])
            assert window.delete("too")
        window.add_many(texts[30:])
    with Window.open(tmp_path / "w", "weibo") as window:
        assert all(readable(window))
        assert window.delete("gone")
        assert readable(window).count(False) == 1
    check_gone(tmp_path / "w")


@pytest.mark.parametrize("is_missing", [True, False])
def test_deleting_touches_no_other_text_where_texts_were_lost(tmp_path: Path, *, is_missing: bool) -> None:
    """As a power failure loses them; what comes later does not stand where they stood."""
    texts = distinct(4, 300)
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([{"id": f"{n}", "text": text} for n, text in enumerate(texts[:50])])
    (path,) = (tmp_path / "w" / FOLDER).glob(f"*{TEXTS}")
    if is_missing:
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many(texts[50:200])
        n = sum(readable(window))
        assert n >= 150
        assert window.delete("20")
        assert sum(readable(window)) == n
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many(texts[200:])
        assert sum(readable(window)) == n + 100


@pytest.mark.parametrize("has_log", [True, False])
def test_a_text_that_cannot_be_overwritten_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_log: bool
) -> None:
    """The error says so, and trying again deletes it; so too where the log is not written any more."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([{"id": "gone", "text": UNWANTED}, *distinct(5, 3)])
        if not has_log:
            state_of(window).log.close()
        with monkeypatch.context() as patched:
            patched.setattr(AppendedFile, "erase", fail)
            patched.setattr(Path, "unlink", fail)
            with pytest.raises(StoreError, match="was not deleted"):
                window.delete("gone")
        assert window.get("gone") is not None
        assert window.delete("gone")
    check_gone(tmp_path / "w")


def test_no_texts_stay_beside_a_window_that_keeps_no_log_any_more(tmp_path: Path) -> None:
    """As with keys of which it is not known how many a text has: nobody would overwrite what is deleted."""
    with Window.open(tmp_path / "w", CONFIG) as window:
        window.add_many([{"id": "gone", "text": UNWANTED}, *distinct(7, 3)])
    with Window.open(tmp_path / "w", CONFIG | {"blocks": {"use": "own"}}, plugins=[plugin(lambda _: [1])]) as window:
        assert window.delete("gone")
    check_gone(tmp_path / "w")
