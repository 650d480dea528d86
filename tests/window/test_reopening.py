"""A window that is opened again, in order or after a crash, fills its memory from records in its store.

A directory that is copied while a window is open is what a crash leaves.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest

from hybriddup.data.records import NO_KEY
from hybriddup.errors import StoreError
from hybriddup.window import Window
from hybriddup.window.derived import DerivedState, deriving, kept_records
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.maintenance import STALE
from hybriddup.window.state import WindowState
from hybriddup.window.stores import sqlite_queries
from hybriddup.window.stores.sqlite import SqliteStore
from tests.posts import generated_posts
from tests.window.plugins import nothing, plugin, state_of
from tests.window.reference_window import CONFIG
from tests.window.stores import FILE, WITHOUT_RECORDS, change
from tests.window.test_batches import OWN, FewColumns


def texts_of(seed: int, n: int) -> list[str]:
    random = Random(seed)  # noqa: S311
    return ["".join(random.choices("abcdef", k=random.randrange(8))) for _ in range(n)]


def answers(folder: Path, config: Any = CONFIG, horizon: float = 1e9, *, read_only: bool = False) -> list[object]:
    """What an opened window says of some texts, without adding them."""
    with Window.open(folder, config, horizon=horizon, read_only=read_only) as window:
        found = [[(match.id, match.score) for match in window.match(text, 50)] for text in texts_of(2, 30)]
        return [found, window.stats().n_kept_in_window, window.stats().index_bytes > 0]


def without_records(folder: Path) -> Path:
    copy = folder.with_name(f"{folder.name} without records")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    change(copy, WITHOUT_RECORDS)
    return copy


def derived(folder: Path, config: Any = CONFIG, horizon: float = 1e9) -> list[object]:
    return answers(without_records(folder), config, horizon)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a crash leaves of a window; to be left as it is."""
    made = tmp_path_factory.mktemp("crashed")
    with Window.open(made / "open", CONFIG, horizon=1e9) as window:
        for start in range(0, 400, 20):
            window.add_many(texts_of(start, 20))
        shutil.copytree(made / "open", made / "store")
    return made / "store"


@pytest.fixture(scope="module")
def expected(crashed: Path) -> Any:
    """The answers of that window, its memory derived from the posts."""
    return derived(Path(shutil.copytree(crashed, crashed.with_name("derived"))))


@pytest.fixture
def folder(tmp_path: Path, crashed: Path) -> Path:
    return Path(shutil.copytree(crashed, tmp_path / "store"))


@pytest.fixture
def forbid_texts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make it an error to derive anything from a stored text, from the call on."""
    fails = Mock(side_effect=AssertionError("a stored text was looked at"))
    return lambda: monkeypatch.setattr(deriving, "prepare_stored", fails)


@pytest.mark.parametrize("read_only", [False, True])
def test_records_say_what_the_posts_say(
    folder: Path, expected: Any, forbid_texts: Callable[[], None], *, read_only: bool
) -> None:
    forbid_texts()
    for _ in range(3):
        assert answers(folder, read_only=read_only) == expected


EXACT_OR_NINE = [
    {"up_to": 4, "exact_only": True},
    {"max_hamming_distance": 9, "verifier": {"use": "edit", "threshold": 0.8}},
]
FORMS: dict[str, Any] = {
    "no keys": CONFIG,
    "an even number of keys": "weibo",
    "an odd number of keys": {"blocks": {"use": "shingles", "n_shingles": 5}, "lengths": EXACT_OR_NINE},
    "keys made of fingerprints": {"blocks": {"use": "probing"}, "lengths": EXACT_OR_NINE},
    "fewer keys than there may be": OWN,
}


@pytest.mark.parametrize("config", FORMS.values(), ids=FORMS)
def test_records_hold_all_that_a_window_remembers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Any) -> None:
    plugins = [plugin(FewColumns)]
    with Window.open(tmp_path / "store", config, plugins=plugins) as window:
        for start in range(0, 600, 60):
            window.add_many(generated_posts(start, 60))
    held, add = list[list[np.ndarray]](), DerivedState.add

    def noted(derived: DerivedState, columns: KeptColumns, *looked_up: Any) -> None:
        texts, of = columns.texts, columns.texts.columns
        keys = [
            np.pad(each, ((0, 0), (0, 999)), constant_values=NO_KEY)[:, :999] for each in (texts.keys, texts.probes)
        ]
        held.append(
            [*columns[:4], texts.positions, of.bits, of.lengths, of.limits[of.facts["kind"]], of.sketches, *keys]
        )
        add(derived, columns, *looked_up)

    monkeypatch.setattr(DerivedState, "add", noted)
    remembered = []
    for folder in (tmp_path / "store", without_records(tmp_path / "store")):
        held.clear()
        Window.open(folder, config, plugins=plugins).close()
        remembered.append([np.concatenate(parts) for parts in zip(*held, strict=True)])
    n_posts, n_findable = len(remembered[0][0]), len(remembered[0][4])
    assert n_posts >= n_findable > 200
    assert (n_posts > n_findable) == (config != "weibo")
    for of_records, of_posts in zip(*remembered, strict=True):
        np.testing.assert_array_equal(of_records, of_posts, strict=True)


def test_posts_of_several_processes_have_records(folder: Path, forbid_texts: Callable[[], None]) -> None:
    for seed in (500, 520, 540):
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(seed, 20))
            window.add_many(texts_of(seed, 20))
    expected = derived(folder)
    forbid_texts()
    assert answers(folder) == expected


DAMAGES = {
    "flipped": "UPDATE batches SET records = zeroblob(length(records)) WHERE first_position = 100",
    "cut": "UPDATE batches SET records = substr(records, 1, length(records) - 8) WHERE first_position = 380",
    "text": "UPDATE batches SET records = 'records' WHERE first_position = 0",
    "none": "UPDATE batches SET records = NULL WHERE first_position = 0",
    "sealed otherwise": "UPDATE batches SET records_checksum = records_checksum + 1 WHERE first_position = 100",
    "made otherwise": "UPDATE batches SET made_with = 'another' WHERE first_position = 100",
    "of another batch": "UPDATE batches AS one SET (records, records_checksum) = ("
    "SELECT records, records_checksum FROM batches AS two WHERE two.first_position = 20) WHERE first_position = 40",
}


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_damaged_records_are_derived_from_the_posts(
    folder: Path, expected: Any, forbid_texts: Callable[[], None], damage: str, *, read_only: bool
) -> None:
    change(folder, damage)
    before = (folder / FILE).read_bytes()
    assert answers(folder, read_only=read_only) == expected
    if read_only:
        assert (folder / FILE).read_bytes() == before
        assert answers(folder) == expected
    forbid_texts()
    assert answers(folder, read_only=read_only) == expected


@pytest.mark.parametrize("damage", ["flipped", "of another batch"])
def test_the_log_says_that_records_are_damaged(folder: Path, caplog: pytest.LogCaptureFixture, damage: str) -> None:
    change(folder, DAMAGES[damage])
    answers(folder)
    assert ["records of the posts from position" in message for message in caplog.messages] == [True]
    caplog.clear()
    answers(folder)
    assert caplog.messages == []


def test_deriving_notices_a_post_that_is_missing(folder: Path) -> None:
    change(folder, DAMAGES["flipped"])
    change(folder, "DELETE FROM posts WHERE position = 105")
    with pytest.raises(StoreError, match="the post at position 105 is missing"):
        answers(folder)


def test_records_that_cannot_be_stored_are_derived_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = derived(folder)
    change(folder, DAMAGES["flipped"])
    with monkeypatch.context() as patched:
        patched.setattr(SqliteStore, "put_derived", Mock(side_effect=StoreError("the disk is full")))
        assert answers(folder) == expected
    assert "the next opening derives it again: the disk is full" in caplog.text
    assert answers(folder) == expected


OTHER_LIMITS = CONFIG | {"lengths": [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 0.7}}]}


OTHER_KEYS = CONFIG | {"blocks": {"use": "shingles"}}


@pytest.mark.parametrize(("horizon", "config"), [(1e8, CONFIG), (1e10, CONFIG), (1e9, OTHER_LIMITS), (1e9, OTHER_KEYS)])
def test_records_go_with_another_horizon_and_not_with_other_limits(folder: Path, horizon: float, config: Any) -> None:
    """Limits and keys are no part of the recipe, so the store opens with others."""
    assert answers(folder, config, horizon) == derived(folder, config, horizon)
    with Window.open(folder, config, horizon=horizon) as window:
        window.add_many(texts_of(500, 20))
    assert answers(folder, config, horizon) == derived(folder, config, horizon)


def test_a_backup_that_was_put_back_has_the_records_of_its_posts(folder: Path) -> None:
    """Another branch of the window went on with the same positions."""
    backup = [(path.name, path.read_bytes()) for path in folder.glob(f"{FILE}*")]
    for seed in (500, 520):
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(seed, 40))
    for path in folder.glob(f"{FILE}*"):
        path.unlink()
    for name, content in backup:
        (folder / name).write_bytes(content)
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(777, 40))
    assert answers(folder) == derived(folder)


def test_one_file_is_a_backup_of_an_open_window(tmp_path: Path, forbid_texts: Callable[[], None]) -> None:
    (tmp_path / "live").mkdir()
    (tmp_path / "closed").mkdir()
    with Window.open(tmp_path / "store", CONFIG, horizon=1e9) as window:
        for seed in range(10):
            window.add_many(texts_of(seed, 30))
        with closing(sqlite3.connect(tmp_path / "store" / FILE)) as connection:
            connection.execute("VACUUM INTO ?", (str(tmp_path / "live" / FILE),))
    shutil.copy(tmp_path / "store" / FILE, tmp_path / "closed")
    expected = derived(tmp_path / "store")
    forbid_texts()
    assert answers(tmp_path / "live") == answers(tmp_path / "closed") == expected


@pytest.mark.parametrize("batch", [1, pytest.param(3, marks=pytest.mark.slow), 7])
def test_small_batches_are_merged(tmp_path: Path, batch: int, forbid_texts: Callable[[], None]) -> None:
    store = tmp_path / "store"
    posts = [f"{text} {place}" for place, text in enumerate(texts_of(1, 600))]
    reader = None
    for start in range(0, 600, 150):
        with Window.open(store, CONFIG, horizon=1e9) as window:
            reader = reader or Window.open(store, CONFIG, horizon=1e9, read_only=True)
            for first in range(start, start + 150, batch):
                window.add_many(posts[first : min(first + batch, start + 150)])
                if first % 9 == 0:
                    assert reader.get(f"#{first}") == window.get(f"#{first}")
                    assert reader.match(posts[first]) == window.match(posts[first])
    reader.close()
    with closing(sqlite3.connect(store / FILE)) as connection:
        n_rows = connection.execute("SELECT count(*) FROM batches").fetchone()[0]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert n_rows < 2 * sqlite_queries.MERGED
    expected = derived(store)
    forbid_texts()
    assert answers(store) == expected


def test_a_large_batch_is_stored_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value in SQLite has less than a gigabyte."""
    monkeypatch.setattr(kept_records, "POSTS_PER_PART", 50)
    with Window.open(tmp_path / "store", CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(3, 230))
    with closing(sqlite3.connect(tmp_path / "store" / FILE)) as connection:
        firsts = [first for (first,) in connection.execute("SELECT first_position FROM batches")]
    assert firsts == [0, 50, 100, 150, 200]
    assert answers(tmp_path / "store") == derived(tmp_path / "store")


def test_an_error_while_memory_is_derived_leaves_no_gap(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare_some = Mock(wraps=deriving.prepare_stored, side_effect=[DEFAULT, StoreError("the disk is gone")])
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        state = state_of(window)
        change(folder, WITHOUT_RECORDS)
        with monkeypatch.context() as patched:
            patched.setattr(sqlite_queries, "READ_TOGETHER", 50)
            patched.setattr(deriving, "prepare_stored", prepare_some)
            state.n_remembered = STALE
            with pytest.raises(StoreError):
                state.catch_up()
        n_kept = sum(1 for _ in deriving.kept_posts(state.store, 0, state.store.next_position))
        n_kept += sum(decision.kept for decision in window.add_many(texts_of(500, 20)))
        assert window.stats().n_kept_in_window == n_kept
    assert answers(folder) == derived(folder)


@pytest.mark.parametrize(
    ("kind", "method", "does"), [(WindowState, "remember", nothing), (DerivedState, "add", DerivedState.add)]
)
def test_an_interrupt_before_memory_has_followed_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, forbid_texts: Callable[[], None], kind: type, method: str, does: Any
) -> None:
    def interrupted(*given: Any) -> None:
        does(*given)
        raise KeyboardInterrupt

    with Window.open(folder, CONFIG, horizon=1e9) as window:
        with monkeypatch.context() as patched:
            patched.setattr(kind, method, interrupted)
            with pytest.raises(KeyboardInterrupt):
                window.add_many([{"id": "a", "text": "a text of its own"}, "nothing like the others"])
        assert window.add("a text of its own").duplicate_of == "a"
        assert window.add({"id": "a", "text": "a text of its own"}).repeated
        window.add_many(texts_of(520, 20))
    expected = derived(folder)
    forbid_texts()
    assert answers(folder) == expected


def test_memory_that_cannot_follow_is_built_anew_from_the_store(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures, add = [MemoryError()], DerivedState.add

    def fail_once(*arguments: Any) -> None:
        if failures:
            raise failures.pop()
        add(*arguments)

    with Window.open(folder, CONFIG, horizon=1e9) as window:
        posts = texts_of(520, 20)
        monkeypatch.setattr(DerivedState, "add", fail_once)
        kept = [decision.kept for decision in window.add_many(posts)]
        again = window.add_many(posts)
    assert any(kept)
    assert not any(decision.kept for decision in again)
    assert "the index is built anew from the store" in caplog.text


def test_a_window_stops_growing_when_it_is_full(tmp_path: Path, forbid_texts: Callable[[], None]) -> None:
    """Only a closed store has nothing left to be moved in it."""
    now, sizes, rng = [0.0], [], np.random.default_rng(0)
    forbid_texts()
    for n_steps in (160, 40, 40, 40, 40):
        memory = []
        with Window.open(tmp_path / "store", CONFIG, horizon=100.0, clock=lambda: now[0]) as window:
            for _ in range(n_steps):
                now[0] += 5.0
                window.add_many(["".join(map(chr, rng.integers(0x4E00, 0x9000, 12))) for _ in range(20)])
                memory.append(window.stats().index_bytes)
            assert window.stats().n_kept_in_window == 20 * 20
        assert max(memory[80:], default=0) <= max(memory[:80])
        sizes.append((tmp_path / "store" / FILE).stat().st_size)
    assert max(sizes[2:]) <= 1.1 * max(sizes[:2])
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == [FILE, "writer.lock"]


def test_texts_are_normalized_again_if_they_are_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a store that an earlier version wrote."""
    config = CONFIG | {"normalizer": {"use": "microblog"}}
    posts = ["Good Morning Everybody @all", "already normalized text", "ＦＵＬＬ ｗｉｄｔｈ ｌｅｔｔｅｒｓ"]
    with Window.open(tmp_path, config) as window:
        window.add_many(posts)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT position FROM normalized").fetchall() == [(0,), (1,), (2,)]
    found = []
    for is_stored in (True, False):
        if not is_stored:
            change(tmp_path, "DELETE FROM normalized")
        with Window.open(tmp_path, config) as window:
            found.append([window.match(f"{post}!", 1) for post in posts])
    assert found[0] == found[1]
    assert all(matches[0].is_match for matches in found[0])
