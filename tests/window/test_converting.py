"""A store that an earlier version wrote is converted when it is opened for adding posts."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from hybriddup.errors import StoreError
from hybriddup.run.recipe import pack_arrays
from hybriddup.window import Window
from hybriddup.window.derived import deriving
from hybriddup.window.stores.sqlite_queries import insert_meta
from tests.window.plugins import LEARN_AT, state_of
from tests.window.stores import FILE
from tests.window.test_learning import COSINE, comparing_by, greetings, scores, texts

pytestmark = pytest.mark.usefixtures("learns_early")
TO_6 = """
    ALTER TABLE posts DROP COLUMN copies;
    DROP TABLE renewals;
    PRAGMA user_version = 6;
"""
TO_5 = """
    CREATE TABLE id_hashes (first_position INTEGER PRIMARY KEY, hashes BLOB NOT NULL, checksum INTEGER NOT NULL);
    INSERT INTO id_hashes SELECT first_position, hashes, hashes_checksum FROM batches;
    DROP TABLE batches;
    DROP TABLE normalized;
    DELETE FROM meta WHERE key = 'learned';
    PRAGMA user_version = 5;
"""
POSTS = [{"id": place, "text": text} for place, text in enumerate(greetings(LEARN_AT + 60))]


def answers(folder: Path) -> list[Any]:
    """What a window decides and finds, and its recipe."""
    with Window.open(folder, "weibo", counts=True) as window:
        decisions = window.add_many([*POSTS, *({"id": f"again {post['id']}", "text": post["text"]} for post in POSTS)])
        found = [[(match.id, match.score) for match in window.match(str(post["text"])[:30])] for post in POSTS[::9]]
        copies = [post and post.n_copies for post in (window.get(post["id"]) for post in POSTS)]
        return [decisions, found, copies, window.stats().recipe_id, window.stats().n_kept_in_window]


@pytest.fixture(params=[5, 6])
def converted(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[Any]]:
    """A store as an earlier version wrote it, and what a window over it has to answer."""
    for name in ("store", "other"):
        with Window.open(tmp_path / name, "weibo") as window:
            window.add_many([*POSTS, *({"text": POSTS[0]["text"]} for _ in range(3))])
            assert window.delete(5)
            learned = {part: pack_arrays(arrays) for part, arrays in state_of(window).learned.items()}
    assert learned
    with closing(sqlite3.connect(tmp_path / "store" / FILE, isolation_level=None)) as connection:
        connection.executescript(TO_6 + (TO_5 if request.param == 5 else ""))
        if request.param == 5:
            insert_meta(connection, learned | {"memory log": os.urandom(16)})
    (tmp_path / "store" / "derived").mkdir()
    for name in ("000001.kept", "000001.texts", "about.json"):
        (tmp_path / "store" / "derived" / name).write_text("texts of posts")
    return tmp_path / "store", answers(tmp_path / "other")


def test_a_converted_store_answers_as_before(
    converted: tuple[Path, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, expected = converted
    assert answers(store) == expected
    assert sorted(path.name for path in store.iterdir()) == [FILE, "writer.lock"]
    monkeypatch.setattr(deriving, "prepare_stored", None)
    Window.open(store, "weibo").close()


def test_converting_counts_no_copies_unless_they_are_to_be_counted(converted: tuple[Path, list[Any]]) -> None:
    store, expected = converted
    with Window.open(store, "weibo") as window:
        assert {post.n_copies for post in window.posts(1000).posts} == {None}
    assert answers(store) == expected


def test_a_reader_leaves_the_store_as_it_is(converted: tuple[Path, list[Any]]) -> None:
    store, expected = converted
    before = (store / FILE).read_bytes()
    with pytest.raises(StoreError, match="Open the window once for adding posts, which converts the file"):
        Window.open(store, "weibo", read_only=True)
    assert (store / FILE).read_bytes() == before
    assert answers(store) == expected


def test_a_conversion_that_is_broken_off_is_made_again(
    converted: tuple[Path, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, expected = converted
    for name in (
        "hybriddup.window.stores.sqlite_file.transaction",
        "hybriddup.window.stores.sqlite_queries.count_old_copies",
        "hybriddup.window.stores.sqlite.remove_old_files",
    ):
        with monkeypatch.context() as patched:
            patched.setattr(name, Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                Window.open(store, "weibo", counts=True)
    assert answers(store) == expected


def test_old_texts_that_cannot_be_deleted_are_an_error(
    converted: tuple[Path, list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text of a post that is deleted later would stay there. Other files in the directory are not touched."""
    store, expected = converted
    (store / "derived" / "notes.txt").write_text("mine")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", Mock(side_effect=OSError(5, "Input/output error")))
        with pytest.raises(StoreError, match="derived cannot be deleted"):
            Window.open(store, "weibo")
    assert answers(store) == expected
    assert [path.name for path in (store / "derived").iterdir()] == ["notes.txt"]


def test_what_verifiers_learned_before_is_kept_while_others_learn(tmp_path: Path) -> None:
    with Window.open(tmp_path, COSINE) as window:
        window.add_many(texts(LEARN_AT))
        learned = {part: pack_arrays(arrays) for part, arrays in state_of(window).learned.items()}
        expected = scores(window)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as connection:
        connection.execute("DELETE FROM meta WHERE key = 'learned'")
        insert_meta(connection, learned)
    with Window.open(tmp_path, comparing_by("cosine", features="char_ngrams")) as window:
        assert scores(window) != expected
    with Window.open(tmp_path, COSINE) as window:
        assert scores(window) == expected
