"""The SQLite store: who may write to it, what it refuses, and what it says where something is wrong."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from contextlib import closing
from unittest.mock import Mock

import numpy as np
import pytest

from hybriddup.errors import StoreError
from hybriddup.window.records import evidence_values
from hybriddup.window.stores import Derived
from hybriddup.window.stores import ids as ids_module
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.sqlite_file import SCHEMA
from tests.processes import python
from tests.window.stores import FILE, change, post, posts


def filled(folder, n=1000):
    with closing(SqliteStore.open(folder)) as store:
        for first in range(0, n, 100):
            store.append(posts(first, 100))
    return folder


def test_a_second_writer_is_told_who_holds_the_store(tmp_path):
    store = SqliteStore.open(tmp_path)
    with pytest.raises(StoreError, match=f"in use by process {os.getpid()}, this one; .* with read_only=True"):
        SqliteStore.open(tmp_path)
    script = f"from hybriddup.window.stores.sqlite import SqliteStore; SqliteStore.open({str(tmp_path)!r})"
    other = subprocess.run([*python(), "-c", script], capture_output=True, text=True, check=False)
    assert f"in use by process {os.getpid()};" in other.stderr
    store.close()
    SqliteStore.open(tmp_path).close()


def test_a_reader_sees_what_the_writer_appends_and_forgets(tmp_path):
    writer = SqliteStore.open(tmp_path)
    reader = SqliteStore.open(tmp_path, read_only=True)
    for first in range(0, 3000, 300):
        writer.append(posts(first, 300), {"n": b"%d" % first})
        if first % 900:
            continue
        writer.forget_before(first)
        writer.append([])
        assert (reader.first_position, reader.next_position) == (first, first + 300)
        assert reader.find_ids([first, first - 1]) == [post(first), None]
        assert reader.meta("n") == b"%d" % first
    for call in (lambda: reader.append(posts(3000, 1)), lambda: reader.set_meta({"n": b""})):
        with pytest.raises(StoreError, match="opened for reading only"):
            call()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        [(n_bytes,)] = connection.execute("SELECT sum(length(hashes)) FROM batches").fetchall()
    assert n_bytes <= 8 * 1500  # those of forgotten ids go, too
    reader.close()
    writer.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (f"PRAGMA user_version = {SCHEMA + 1}", "a later version .* upgrade"),
        (f"PRAGMA user_version = {SCHEMA - 3}", "an earlier .* begin a new store"),
        ("CREATE TABLE photographs (name TEXT)", "is not a window"),
    ],
)
def test_tables_of_another_version_or_program_are_refused(tmp_path, statement, message):
    change(filled(tmp_path) if "version" in statement else tmp_path, statement)
    with pytest.raises(StoreError, match=message):
        SqliteStore.open(tmp_path)


def test_a_file_in_place_of_the_directory_is_an_error(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(StoreError, match="cannot"):
        SqliteStore.open(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.slow
def test_another_program_that_locks_the_file_is_an_error_that_passes(tmp_path):
    store = SqliteStore.open(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program keeps it locked"):
            store.append(posts(0, 3))
        other.execute("ROLLBACK")
    assert store.next_position == 0
    store.append(posts(0, 3))
    assert store.find_ids([2]) == [post(2)]
    store.close()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return (filled(tmp_path_factory.mktemp("large"), 20_000) / FILE).read_bytes()


@pytest.mark.parametrize("part", [(0.0, 0.001), (0.0, 0.3), (0.05, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("fault", ["overwritten", "cut"])
def test_a_file_overwritten_or_cut_is_said_to_be_damaged(tmp_path, large, part, fault):
    first, end = (int(share * len(large)) for share in part)
    noise = np.random.default_rng(8).bytes(end - first)
    (tmp_path / FILE).write_bytes(
        large[:first] + noise + large[end:] if fault == "overwritten" else large[: end * 9 // 10]
    )
    with pytest.raises(StoreError, match="damaged"), closing(SqliteStore.open(tmp_path)) as store:
        store.posts(np.arange(store.next_position))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM posts WHERE position > 990",
        "DELETE FROM posts",
        "DELETE FROM batches WHERE first_position = 500",
        "DELETE FROM batches WHERE first_position = 900",
        "DELETE FROM batches WHERE first_position = 0",
        "DELETE FROM meta WHERE key = 'state'",
        "DELETE FROM meta WHERE key = 'id key'",
        "UPDATE meta SET value = CAST('[0, 900]' AS BLOB) WHERE key = 'state'",
        "UPDATE meta SET value = randomblob(16) WHERE key = 'id key'",
        "UPDATE batches SET hashes = randomblob(length(hashes)) WHERE first_position = 500",
        "UPDATE batches SET hashes_checksum = hashes_checksum + 1 WHERE first_position = 500",
        "DROP TABLE batches",
    ],
)
def test_tables_that_do_not_agree_are_said_to_be_damaged(tmp_path, statement):
    change(filled(tmp_path), statement)
    with pytest.raises(StoreError, match=FILE):
        SqliteStore.open(tmp_path)
    change(tmp_path)  # the failed opening has left no lock behind


def test_a_post_missing_in_the_middle_is_said_to_be_damaged(tmp_path):
    change(filled(tmp_path), "DELETE FROM posts WHERE position = 500")
    missing = pytest.raises(StoreError, match="the post at position 500 is missing")
    with closing(SqliteStore.open(tmp_path)) as store, missing:
        store.posts(np.array([499, 500]))


@pytest.mark.parametrize(
    "change_of_row",
    [
        "id = 5",
        "id = '500'",
        "time = 500.5",
        "text = 'text 50'",
        "text = CAST(x'ff' AS TEXT)",
        "text = 7",
        "text = x'00'",
        "evidence = '[]'",
        "evidence = NULL",
        "evidence = json_replace(evidence, '$[0]', 7)",
        "checksum = checksum + 1",
        "checksum = 'none'",
    ],
)
def test_a_post_that_was_changed_is_said_to_be_damaged(tmp_path, change_of_row):
    with closing(SqliteStore.open(tmp_path)) as store:
        store.append(posts(0, 1000))
    kept = "evidence" not in change_of_row or change_of_row == "evidence = '[]'"
    position = 501 if kept else 499
    assert post(position).kept == kept
    change(tmp_path, f"UPDATE posts SET {change_of_row} WHERE position = {position}")  # noqa: S608
    with closing(SqliteStore.open(tmp_path)) as store:
        asked = [lambda: store.posts(np.array([position])), lambda: store.find_ids([position])]
        for ask in asked:
            with pytest.raises(StoreError, match=r"damaged.*(checksum mismatch|not UTF-8)"):
                ask()


@pytest.mark.parametrize(
    "change_of_row",
    ["text = 'other'", "text = x'00'", "text = 5", "checksum = checksum + 1", "text = 'normalized 1'", "position = 3"],
)
def test_a_normalized_text_that_was_changed_is_not_returned(tmp_path, change_of_row):
    with closing(SqliteStore.open(tmp_path)) as store:
        store.append(posts(0, 4), derived=Derived("one", [(4, b"")], ["normalized 0", "normalized 1", "another", None]))
    change(tmp_path, f"UPDATE normalized SET {change_of_row} WHERE position = 2")  # noqa: S608
    with closing(SqliteStore.open(tmp_path)) as store:
        assert store.normalized(np.arange(5)) == {n: f"normalized {n}" for n in (0, 1)}
        assert store.posts(np.arange(4)) == posts(0, 4)


def test_people_can_look_at_the_posts(tmp_path):
    with closing(SqliteStore.open(tmp_path)) as store:
        store.append(posts(0, 40))
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        rows = connection.execute("SELECT * FROM posts ORDER BY position").fetchall()
    evidence = [
        None if each.kept else json.dumps(evidence_values(each.evidence), separators=(",", ":"))
        for each in posts(0, 40)
    ]
    expected = [(*each[:4], why) for each, why in zip(posts(0, 40), evidence, strict=True)]
    assert [row[:5] for row in rows] == expected


def test_ids_whose_hashes_are_equal_are_told_apart(tmp_path, monkeypatch):
    def two_hashes(ids, _):
        return np.array([len(str(each)) % 2 for each in ids], np.uint64)

    monkeypatch.setattr(ids_module, "hash_ids", two_hashes)
    store = SqliteStore.open(tmp_path)
    for first in range(0, 200, 50):
        store.append(posts(first, 50))
    store.forget_before(20)
    asked = [*range(15, 200, 7), 10_000, "20"]
    expected = [post(each) if isinstance(each, int) and 20 <= each < 200 else None for each in asked]
    assert store.find_ids(asked) == expected
    store.close()


@pytest.mark.parametrize("step", ["add", "forget_before"])
def test_an_interruption_just_after_the_commit_leaves_memory_and_file_in_agreement(tmp_path, monkeypatch, step):
    store = SqliteStore.open(tmp_path)
    store.append(posts(0, 10))
    with monkeypatch.context() as patch:
        patch.setattr(ids_module.HashTable, step, Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            store.append(posts(10, 10))
    assert store.next_position == 20
    assert store.find_ids([9, 10, 19, 20]) == [post(9), post(10), post(19), None]
    store.append(posts(20, 10))
    assert store.find_ids([29]) == [post(29)]
    store.close()


@pytest.mark.ordinary_user
def test_a_directory_that_cannot_be_written_to_is_an_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot be written to"):
        SqliteStore.open(tmp_path)
