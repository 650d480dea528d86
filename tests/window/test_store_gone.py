"""A store that is removed or replaced while a window is open: nothing is answered from what the next opening misses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from hybriddup.errors import StoreError
from hybriddup.window import Window
from tests.window.plugins import connections_made
from tests.window.reference_window import CONFIG
from tests.window.stores import FILE, mounted


def other_store(folder: Path) -> Path:
    with Window.open(folder / "other", CONFIG) as window:
        window.add({"id": "theirs", "text": "zyxwvutsrqp"})
    return folder / "other"


def remove_all(store: Path) -> None:
    """As a cleaner of old files does."""
    shutil.rmtree(store)


def remove_file(store: Path) -> None:
    (store / FILE).unlink()


def remove_log(store: Path) -> None:
    """In it are posts that SQLite has not moved into its file yet; a crash would lose them."""
    (store / f"{FILE}-wal").unlink()


def move(store: Path) -> None:
    store.rename(store.with_name("moved"))


def replace_file(store: Path) -> None:
    """As a backup is put back."""
    shutil.copy(other_store(store.parent) / FILE, store / "copy")
    (store / "copy").replace(store / FILE)


def replace_all(store: Path) -> None:
    """Another directory has the name now."""
    move(store)
    other_store(store.parent).rename(store)


WAYS = [remove_all, remove_file, remove_log, move, replace_file, replace_all]


def questions(window: Any) -> list[Callable[[], Any]]:
    """What a window is asked that may not be answered from files that are gone."""
    return [
        lambda: window.get("first"),
        lambda: window.match("abcdefghijkl"),
        lambda: window.match("?"),
        lambda: window.explain("abcdefghijkl", "first"),
        window.posts,
        window.stats,
    ]


def refuses(*calls: Callable[[], Any]) -> None:
    """Every call is an error that says what happened and what to do."""
    for call in calls:
        with pytest.raises(StoreError, match=r"since the window was opened.* open the window again"):
            call()


@pytest.mark.parametrize("way", WAYS)
def test_no_post_is_acknowledged_that_the_next_opening_would_not_find(tmp_path: Path, way: Callable[..., None]) -> None:
    store = tmp_path / "store"
    with Window.open(store, CONFIG) as window:
        window.add({"id": "first", "text": "abcdefghijkl"})
        way(store)
        refuses(lambda: window.add("mnopqrstuvwx"), *questions(window))
        refuses(lambda: window.delete("first"), lambda: window.rewind(0.0))
    assert (store / FILE).exists() == (way in (remove_log, replace_file, replace_all))
    with Window.open(store, CONFIG) as window:
        assert window.add({"id": "later", "text": "mnopqrstuvwx"}).kept
    with Window.open(store, CONFIG) as window:
        assert window.get("later") is not None


@pytest.mark.parametrize("way", [remove_all, remove_file, move, replace_file, replace_all])
def test_a_window_that_only_looks_does_not_go_on_looking_at_what_is_gone(
    tmp_path: Path, way: Callable[..., None]
) -> None:
    store = tmp_path / "store"
    with Window.open(store, CONFIG) as window:
        window.add({"id": "first", "text": "abcdefghijkl"})
    with Window.open(store, CONFIG, read_only=True) as reader:
        assert reader.get("first") is not None
        way(store)
        refuses(*questions(reader))


@pytest.mark.parametrize("moment", ["BEGIN IMMEDIATE", "COMMIT"])
@pytest.mark.parametrize("way", WAYS)
def test_a_store_that_goes_while_posts_are_written_does_not_acknowledge_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[..., None], moment: str
) -> None:
    store = tmp_path / "store"

    def go_at(statement: str) -> None:
        if statement == moment:
            way(store)

    other = other_store(tmp_path)
    monkeypatch.setattr(f"{__name__}.other_store", lambda _: other)
    made = connections_made(monkeypatch)
    with Window.open(store, CONFIG) as window:
        window.add("abcdefghijkl")
        connection = made[0]
        connection.set_trace_callback(go_at)
        refuses(lambda: window.add("mnopqrstuvwx"))
        connection.set_trace_callback(None)
        refuses(*questions(window))


def test_closing_a_window_leaves_the_store_alone_that_took_its_place(tmp_path: Path) -> None:
    store, other = tmp_path / "store", tmp_path / "crashed"
    with Window.open(tmp_path / "other", CONFIG) as theirs:
        theirs.add({"id": "theirs", "text": "zyxwvutsrqp"})
        shutil.copytree(tmp_path / "other", other)
    with Window.open(store, CONFIG) as window:
        window.add({"id": "ours", "text": "abcdefghijkl"})
        move(store)
        other.rename(store)
        refuses(lambda: window.add("mnopqrstuvwx"))
    with Window.open(store, CONFIG) as window:
        assert [window.get(name) is not None for name in ("theirs", "ours")] == [True, False]


def test_a_file_system_that_is_mounted_over_a_store_is_noticed(tmp_path: Path) -> None:
    with ExitStack() as mounts, Window.open(tmp_path / "store", CONFIG) as window:
        window.add("abcdefghijkl")
        mounts.enter_context(mounted(tmp_path / "store", "1m"))
        refuses(lambda: window.add("mnopqrstuvwx"), *questions(window))
