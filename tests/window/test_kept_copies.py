"""Copies of kept posts: what is read from one is what the store holds, and where one is unsound the store is asked."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybriddup.data.records import Int64s
from hybriddup.window.records import Evidence, PostId, StoredPost
from hybriddup.window.stores import file_series, kept_copies, sqlite_queries
from hybriddup.window.stores.kept_copies import FOLDER, TOKEN_FILE, UNIT, KeptCopies, id_of, text_of
from hybriddup.window.stores.sqlite import SqliteStore

pytestmark = pytest.mark.skipif(not kept_copies.IS_POSSIBLE, reason="no copies on this platform")


def kept(position: int, text: str = "text", normalized: str | None = None) -> StoredPost:
    """A kept post."""
    return StoredPost(position, f"id {position}", 5.0, text, normalized, None)


def duplicate(position: int) -> StoredPost:
    """A post that was not kept."""
    evidence = Evidence("id 0", 0, "exact", 0, "equal", 1.0, 1.0, "0-")
    return StoredPost(position, f"id {position}", 5.0, "text", None, evidence)


def some_posts(first: int, n: int) -> list[StoredPost]:
    """Posts, of which every third was kept."""
    return [kept(i, f"text {i} " * (i % 97)) if i % 3 == 0 else duplicate(i) for i in range(first, first + n)]


def said_of(posts: list[StoredPost]) -> dict[int, tuple[PostId, str]]:
    """What the copies of posts are to say."""
    return {post.position: (post.id, post.compared_text) for post in posts if post.kept}


def said_by(copies: KeptCopies, positions: Int64s) -> dict[int, tuple[PostId, str]]:
    """What the copies of posts say."""
    read = copies.read(positions)
    return {each: (id_of(read[each]), text_of(read[each])) for each in positions.tolist() if each in read}


def new_copies(folder: Path) -> KeptCopies:
    """Copies beside a new store."""
    return KeptCopies(folder, None, b"now", 0)


def fill_store(folder: Path, n: int = 300) -> list[StoredPost]:
    """Make a store, close it, and return its posts."""
    store = SqliteStore.open(folder)
    posts = some_posts(0, n)
    store.append(posts)
    store.close()
    return posts


def texts_at(folder: Path, positions: Int64s) -> list[str]:
    """What an opened store says."""
    store = SqliteStore.open(folder)
    texts = store.texts(positions)
    store.close()
    return texts


@pytest.fixture
def forbid_posts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have reading a post from the file of the store be an error, from the call on."""

    def posts_at(_: object, positions: list[int]) -> dict[int, object]:
        assert not positions, "the file of the store was read"
        return {}

    return lambda: monkeypatch.setattr(sqlite_queries, "posts_at", posts_at)


def test_long_posts_are_read_whole(tmp_path: Path) -> None:
    """A copy longer than what is read at once, at the end of the file and before others."""
    posts = [kept(0, "长" * 400_000), kept(1, "x"), kept(2, "y", "长" * 5000)]
    copies = new_copies(tmp_path)
    copies.hold(posts)
    assert said_by(copies, np.array([2, 0, 1])) == said_of(posts)
    copies.close()


def test_only_kept_posts_are_copied_and_each_once(tmp_path: Path) -> None:
    """Posts are given again where they are read from the store."""
    copies = new_copies(tmp_path)
    copies.hold(some_posts(0, 30))
    n_bytes = copies.n_bytes
    copies.hold(some_posts(0, 30))
    assert copies.n_bytes == n_bytes
    assert said_by(copies, np.arange(40)) == said_of(some_posts(0, 30))
    copies.close()


def test_files_are_deleted_when_their_posts_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is later is still found, and neither files nor places add up over many windows."""
    monkeypatch.setattr(file_series, "SMALLEST_FILE", 2000)
    copies, sizes, places = new_copies(tmp_path), [], []
    for first in range(0, 60_000, 1000):
        copies.hold(some_posts(first, 1000))
        copies.forget_before(first - 3000)
        start = max(first - 3000, 0)
        assert said_by(copies, np.arange(start, first + 1000)) == said_of(some_posts(start, first + 1000 - start))
        sizes.append(sum(file.stat().st_size for file in (tmp_path / FOLDER).iterdir()))
        places.append(copies._places.n_bytes)
    assert max(sizes[30:]) <= 1.05 * max(sizes[5:30])
    assert max(places[30:]) <= max(places[5:30])
    copies.close()


def test_a_store_that_is_opened_again_uses_its_copies(tmp_path: Path, forbid_posts: Callable[[], None]) -> None:
    """Also those of the times before, one after another, and all in one file."""
    posts = fill_store(tmp_path)
    forbid_posts()
    for _ in range(3):
        store = SqliteStore.open(tmp_path)
        more = some_posts(len(posts), 30)
        store.append(more)
        posts += more
        positions = np.array([post.position for post in posts if post.kept])
        assert store.texts(positions) == [posts[position].text for position in positions.tolist()]
        assert store.ids(positions) == [posts[position].id for position in positions.tolist()]
        store.close()
    assert len(list((tmp_path / FOLDER).glob("*.posts"))) == 1


def test_copies_survive_a_crash(tmp_path: Path, forbid_posts: Callable[[], None]) -> None:
    """Those whose end is cut off are left out, and made again when the posts are read."""
    posts = fill_store(tmp_path / "store")
    shutil.copytree(tmp_path / "store", tmp_path / "crashed")
    file = tmp_path / "crashed" / FOLDER / "000001.posts"
    os.truncate(file, file.stat().st_size - 1000)

    store = SqliteStore.open(tmp_path / "crashed")
    assert 0 < len(store._copies.read(np.arange(300))) < 100  # type: ignore[union-attr]
    assert [post for batch in store.kept_since(0) for post in batch] == posts[::3]
    forbid_posts()
    assert store.texts(np.arange(0, 300, 3)) == [post.text for post in posts[::3]]
    store.close()


@pytest.mark.parametrize("fault", ["flipped", "cut", "empty", "missing", "moved", "token"])
def test_copies_that_are_damaged_are_not_believed(tmp_path: Path, fault: str) -> None:
    """Every post is still what the store holds."""
    posts = fill_store(tmp_path)
    file = tmp_path / FOLDER / "000001.posts"
    content = file.read_bytes()
    faulty = {
        "flipped": bytes(byte ^ (i % 997 == 500) for i, byte in enumerate(content)),
        "cut": content[: len(content) // 2 - 1],
        "empty": b"",
        "moved": content[UNIT:] + content[:UNIT],
    }
    if fault == "missing":
        file.unlink()
    elif fault == "token":
        (tmp_path / FOLDER / TOKEN_FILE).write_bytes(b"another")
    else:
        file.write_bytes(faulty[fault])
    assert texts_at(tmp_path, np.arange(len(posts))) == [post.text for post in posts]


def test_a_file_from_a_backup_does_not_use_copies_of_later_posts(tmp_path: Path) -> None:
    """For the same positions, the copies say what other posts said."""
    fill_store(tmp_path / "store", 30)
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    for name in ("store", "backup"):
        store = SqliteStore.open(tmp_path / name)
        store.append([kept(position, f"of the {name}") for position in range(30, 60)])
        store.close()
    shutil.copy(tmp_path / "backup" / "posts.sqlite3", tmp_path / "store" / "posts.sqlite3")
    assert set(texts_at(tmp_path / "store", np.arange(30, 60))) == {"of the backup"}


def test_a_backup_of_the_same_session_uses_the_copies_of_its_posts_only(tmp_path: Path) -> None:
    """What came after the backup is of no position of the store any more."""
    store = SqliteStore.open(tmp_path / "store")
    store.append([kept(position, "before") for position in range(30)])
    store.close()
    backup = (tmp_path / "store" / "posts.sqlite3").read_bytes()
    token = (tmp_path / "store" / FOLDER / TOKEN_FILE).read_bytes()
    store = SqliteStore.open(tmp_path / "store")
    store.append([kept(position, "after") for position in range(30, 60)])
    store.close()
    (tmp_path / "store" / "posts.sqlite3").write_bytes(backup)
    (tmp_path / "store" / FOLDER / TOKEN_FILE).write_bytes(token)

    store = SqliteStore.open(tmp_path / "store")
    store.append([kept(position, "other") for position in range(30, 60)])
    assert store.texts(np.arange(60)) == ["before"] * 30 + ["other"] * 30
    store.close()
    assert texts_at(tmp_path / "store", np.arange(60)) == ["before"] * 30 + ["other"] * 30


def test_copies_of_another_branch_are_cut_off(tmp_path: Path) -> None:
    """The posts that come instead of theirs are read as they are, at every later opening."""
    folder = tmp_path / "store"
    store = SqliteStore.open(folder)
    store.append([kept(position, "before") for position in range(30)])
    shutil.copytree(folder, tmp_path / "backup")
    store.append([kept(position, "after") for position in range(30, 60)])
    store.close()
    for path in folder.glob("posts.sqlite3*"):
        path.unlink()
    for path in (tmp_path / "backup").glob("posts.sqlite3*"):
        shutil.copy(path, folder)
    store = SqliteStore.open(folder)
    store.append([kept(position, "other") for position in range(30, 60)])
    store.close()
    for _ in range(2):
        assert texts_at(folder, np.arange(60)) == ["before"] * 30 + ["other"] * 30


def test_a_full_disk_costs_only_the_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, forbid_posts: Callable[[], None]
) -> None:
    """It is said once; the posts are on disk and found, and copying goes on when there is room."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = SqliteStore.open(tmp_path)
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "hybriddup"):
        patched.setattr(file_series.SeriesFile, "append", full)
        for first in (0, 30, 60):
            store.append(some_posts(first, 30))
    assert caplog.text.count("posts are not copied") == 1
    store.append(some_posts(90, 30))
    assert store.texts(np.arange(120)) == [post.text for post in some_posts(0, 120)]
    forbid_posts()
    assert store.ids(np.array([99])) == ["id 99"]
    store.close()
