"""A window that is opened again, in order or after a crash: from its log as far as that can be believed.

A directory that is copied while a window is open is what a crash leaves.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hybriddup.errors import StoreError
from hybriddup.window import Window
from hybriddup.window.derived import DerivedState, deriving, file_series, kept_log, kept_records
from hybriddup.window.derived.file_series import RECORDS, TEXTS, AppendedFile, FileSeries
from hybriddup.window.derived.kept_log import ABOUT_FILE, FOLDER, KeptLog
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.state import NOTHING
from hybriddup.window.stores import sqlite
from tests.window.plugins import state_of
from tests.window.reference_window import CONFIG


def texts_of(seed: int, n: int) -> list[str]:
    """Texts that repeat each other here and there."""
    random = Random(seed)  # noqa: S311
    return ["".join(random.choices("abcdef", k=random.randrange(8))) for _ in range(n)]


def answers(folder: Path, config: object = CONFIG, horizon: float = 1e9) -> list[object]:
    """What an opened window says of some texts, without adding them."""
    with Window.open(folder, config, horizon=horizon) as window:  # type: ignore[arg-type]
        found = [[(match.id, match.score) for match in window.match(text, 50)] for text in texts_of(2, 60)]
        return [found, window.stats().n_kept_in_window, window.stats().index_bytes > 0]


def derived(folder: Path, config: object = CONFIG, horizon: float = 1e9) -> list[object]:
    """What a window says that has no log."""
    copy = folder.with_name("derived")
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / FOLDER)
    said = answers(copy, config, horizon)
    shutil.rmtree(copy)
    return said


def files_of(folder: Path) -> list[Path]:
    """The files of records, in order."""
    return sorted((folder / FOLDER).glob(f"*{RECORDS}"))


def put_back(folder: Path, backup: Path) -> None:
    """Put the store of a backup in place of another one, beside whose log it then lies."""
    for path in folder.glob("posts.sqlite3*"):
        path.unlink()
    for path in backup.glob("posts.sqlite3*"):
        shutil.copy(path, folder)


def shrink_files(patch: pytest.MonkeyPatch) -> None:
    """Have a few posts make several files, read in several parts."""
    patch.setattr(file_series, "SMALLEST_FILE", 1500)
    patch.setattr(kept_records, "READ_AT_ONCE", 7)


@pytest.fixture(autouse=True)
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """In every test."""
    shrink_files(monkeypatch)


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a crash leaves of a window; to be left as it is."""
    made = tmp_path_factory.mktemp("crashed")
    with pytest.MonkeyPatch.context() as patch, Window.open(made / "open", CONFIG, horizon=1e9) as window:
        shrink_files(patch)
        for start in range(0, 400, 20):
            window.add_many(texts_of(start, 20))
        shutil.copytree(made / "open", made / "store")
    return made / "store"


@pytest.fixture
def folder(tmp_path: Path, crashed: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(crashed, tmp_path / "store"))


@pytest.fixture
def forbid_texts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have looking at a stored text be an error, from the call on."""

    def fail(*_: object) -> None:
        raise AssertionError("a stored text was looked at")

    return lambda: monkeypatch.setattr(deriving, "prepare_stored", fail)


def test_a_log_says_what_the_posts_say(folder: Path, forbid_texts: Callable[[], None]) -> None:
    """After a crash, and then as often as the window is opened, no text is looked at."""
    expected = derived(folder)
    assert len(files_of(folder)) > 3
    forbid_texts()
    for _ in range(3):
        assert answers(folder) == expected


def test_a_log_goes_on(folder: Path, forbid_texts: Callable[[], None]) -> None:
    """What was added by several processes, one after another, is in it."""
    for seed in (500, 520, 540):
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(seed, 20))
            window.add_many(texts_of(seed, 20))
    expected = derived(folder)
    forbid_texts()
    assert answers(folder) == expected


@pytest.mark.parametrize("fault", ["flipped", "cut", "longer", "empty", "missing", "swapped"])
@pytest.mark.parametrize("number", [0, -1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_damaged_is_derived_and_then_in_the_log_again(
    folder: Path, forbid_texts: Callable[[], None], fault: str, number: int
) -> None:
    """Whichever file it is."""
    expected, path = derived(folder), files_of(folder)[number]
    content = path.read_bytes()
    middle = len(content) // 2
    faulty = {
        "flipped": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "cut": content[: middle + 1],
        "longer": content + content[:100],
        "empty": b"",
        "swapped": files_of(folder)[1].read_bytes(),
    }
    if fault == "missing":
        path.unlink()
    else:
        path.write_bytes(faulty[fault])
    assert answers(folder) == expected
    forbid_texts()
    assert answers(folder) == expected


@pytest.mark.parametrize("fault", ["flipped", "cut", "empty", "missing", "swapped"])
def test_texts_that_are_damaged_are_made_anew_of_the_store(folder: Path, fault: str) -> None:
    """The records are believed without them; no other text is compared, and posts go on coming."""
    expected = derived(folder)
    paths = [path.with_suffix(TEXTS) for path in files_of(folder)]
    contents = [path.read_bytes() for path in paths]
    for path, content, other in zip(paths, contents, reversed(contents), strict=True):
        faulty = {
            "flipped": bytes(byte ^ 1 for byte in content),
            "cut": content[: len(content) // 2],
            "empty": b"",
            "swapped": other,
        }
        if fault == "missing":
            path.unlink()
        else:
            path.write_bytes(faulty[fault])
    assert answers(folder) == expected
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(500, 60))
    assert answers(folder) == derived(folder)


def test_texts_are_not_those_of_another_store(folder: Path, tmp_path: Path) -> None:
    """Of the same posts in another order, so that positions and places are alike."""
    random = Random(1)  # noqa: S311
    texts = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=20)) for _ in range(40)]
    for name, posts in (("one", texts), ("other", texts[::-1])):
        with Window.open(tmp_path / name, CONFIG, horizon=1e9) as window:
            window.add_many(posts)
    ours, theirs = (sorted((tmp_path / name / FOLDER).glob(f"*{TEXTS}")) for name in ("one", "other"))
    assert [path.stat().st_size for path in ours] == [path.stat().st_size for path in theirs]
    for path, other in zip(ours, theirs, strict=True):
        shutil.copy(other, path)
    with Window.open(tmp_path / "one", CONFIG, horizon=1e9) as window:
        decisions = window.add_many([f"{text}." for text in texts])
        assert [decision.evidence and decision.evidence.of_position for decision in decisions] == list(range(40))


def test_verifying_reads_texts_from_the_log_alone(folder: Path) -> None:
    """Rows of the store that are damaged are not come across."""
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        window.add({"text": "good morning everybody", "id": "first"})
        with closing(sqlite3.connect(folder / "posts.sqlite3", isolation_level=None)) as connection:
            connection.execute("UPDATE posts SET text = 'damaged' WHERE evidence IS NULL AND id != 'first'")
        decision = window.add("good morning everybody!")
        assert decision.evidence is not None
        assert decision.evidence.of == "first"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"first": "000001.kept"}',
        b"null",
        b'"\xff"',
        b'{"made_with": "", "first": "", "tokens": null}',
    ],
)
def test_a_log_that_does_not_say_what_it_is_begins_anew(
    folder: Path, forbid_texts: Callable[[], None], content: bytes
) -> None:
    """All of it is derived."""
    expected = derived(folder)
    (folder / FOLDER / ABOUT_FILE).write_bytes(content)
    for path in files_of(folder)[1:]:
        path.write_bytes(b"nobody reads this")
    assert answers(folder) == expected
    assert all(len(path.read_bytes()) % 104 == 0 for path in files_of(folder))
    forbid_texts()
    assert answers(folder) == expected


def test_files_that_a_deletion_left_behind_do_not_count(folder: Path, forbid_texts: Callable[[], None]) -> None:
    """Those before the first one that counts, and others that end alike."""
    expected, last = derived(folder), files_of(folder)[-1]
    shutil.copy(last, last.with_name(f"000000{RECORDS}"))
    shutil.copy(last, last.with_name(f"notes{RECORDS}"))
    forbid_texts()
    assert answers(folder) == expected
    assert {f"000000{RECORDS}", f"notes{RECORDS}"}.isdisjoint(path.name for path in files_of(folder))


def test_an_old_log_goes_with_no_later_store(folder: Path) -> None:
    """It was put back from a backup, the store was not."""
    shutil.copytree(folder / FOLDER, folder.with_name("old"))
    for seed in (500, 520):
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(seed, 20))
    expected = derived(folder)
    shutil.rmtree(folder / FOLDER)
    shutil.copytree(folder.with_name("old"), folder / FOLDER)
    assert answers(folder) == expected


def test_a_store_from_a_backup_does_not_go_with_a_later_log(folder: Path) -> None:
    """For the same positions, the log says what other posts were."""
    backup = (folder / "posts.sqlite3").read_bytes()  # as a crash left it, without what is in SQLite's log
    wal = (folder / "posts.sqlite3-wal").read_bytes()
    for seed in (500, 520):
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(seed, 40))
    (folder / "posts.sqlite3").write_bytes(backup)
    (folder / "posts.sqlite3-wal").write_bytes(wal)
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(777, 40))
    assert answers(folder) == derived(folder)


@pytest.mark.parametrize("fault", ["swapped", "of another store", "without about.json"])
def test_the_log_says_that_records_are_not_believed(folder: Path, caplog: pytest.LogCaptureFixture, fault: str) -> None:
    """Once: opening takes longer, and something has changed the files."""
    with Window.open(folder.with_name("other"), CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(9, 200))
    one, another = files_of(folder)[:2]
    if fault == "without about.json":
        (folder / FOLDER / ABOUT_FILE).unlink()
    else:
        shutil.copy(another if fault == "swapped" else files_of(folder.with_name("other"))[0], one)
    answers(folder)
    assert len(caplog.messages) == 1
    assert "rebuilt from the store" in caplog.text
    caplog.clear()
    answers(folder)
    assert caplog.messages == []


def test_a_store_goes_with_no_log_of_another_branch(folder: Path) -> None:
    """Of two backups of one session the earlier one was put back, went on, and then gave way to the later one."""
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        shutil.copytree(folder, folder.with_name("earlier"))
        window.add_many(texts_of(500, 60))
        shutil.copytree(folder, folder.with_name("later"))
    for name in ("earlier", "later"):
        put_back(folder, folder.with_name(name))
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(777, 80))
    assert answers(folder) == derived(folder)


@pytest.mark.parametrize("is_noted", [False, True])
def test_a_crash_while_a_window_is_opened_costs_nothing(
    folder: Path, forbid_texts: Callable[[], None], monkeypatch: pytest.MonkeyPatch, is_noted: bool
) -> None:
    """Before or after it was noted which store the log goes with."""
    expected, note = derived(folder), KeptLog._note
    forbid_texts()

    def crash(log: KeptLog, **changed: Any) -> None:
        if is_noted:
            note(log, **changed)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(KeptLog, "_note", crash)
        with pytest.raises(KeyboardInterrupt):
            Window.open(folder, CONFIG, horizon=1e9)
    assert answers(folder) == expected


def full(*_: object) -> None:
    """Fail as a disk that is full."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_log_that_cannot_be_written_is_read_all_the_same(
    folder: Path, forbid_texts: Callable[[], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until posts come that are not in it."""
    expected = derived(folder)
    with monkeypatch.context() as patched, caplog.at_level("WARNING", "hybriddup"):
        patched.setattr(kept_log, "replace_file", full)
        with monkeypatch.context() as strict:
            strict.setattr(deriving, "prepare_stored", None)
            assert answers(folder) == answers(folder) == expected
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(500, 40))
    assert "No space left" in caplog.text
    expected = derived(folder)
    assert answers(folder) == expected
    forbid_texts()
    assert answers(folder) == expected


@pytest.mark.parametrize("fails", [(kept_log, "replace_file"), (os, "truncate"), (FileSeries, "delete_but")])
def test_records_of_another_branch_that_cannot_be_cut_off_are_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, fails: tuple[Any, str]
) -> None:
    """A backup of the same session was put back, and posts with the same positions came."""
    with Window.open(folder, CONFIG, horizon=1e9) as window:
        window.add_many(texts_of(600, 20))
        shutil.copytree(folder, folder.with_name("backup"))
        window.add_many(texts_of(500, 60))
    put_back(folder, folder.with_name("backup"))
    with monkeypatch.context() as patched:
        patched.setattr(*fails, full)
        with Window.open(folder, CONFIG, horizon=1e9) as window:
            window.add_many(texts_of(777, 80))
    assert answers(folder) == derived(folder)


def test_an_error_while_memory_is_derived_leaves_no_gap_in_the_log(
    folder: Path, monkeypatch: pytest.MonkeyPatch, forbid_texts: Callable[[], None]
) -> None:
    """The window goes on when its cause is gone, and has every post; so has the next opening."""
    prepare, n_calls = deriving.prepare_stored, [0]

    def prepare_some(*given: Any) -> Any:
        n_calls[0] += 1
        if n_calls[0] == 2:
            raise StoreError("the disk is gone")
        return prepare(*given)

    with Window.open(folder, CONFIG, horizon=1e9) as window:
        state = state_of(window)
        with monkeypatch.context() as patched:
            patched.setattr(sqlite, "BATCH", 10)
            patched.setattr(deriving, "prepare_stored", prepare_some)
            shutil.rmtree(folder / FOLDER)
            (folder / FOLDER).mkdir()
            state.n_remembered = NOTHING
            with pytest.raises(StoreError):
                state.catch_up()
        n_kept = sum(map(len, state.store.kept_since(0)))
        n_kept += sum(decision.kept for decision in window.add_many(texts_of(500, 20)))
        assert window.stats().n_kept_in_window == n_kept
    expected = derived(folder)
    assert answers(folder) == expected


@pytest.mark.parametrize("is_patient", [True, False])
def test_a_full_disk_costs_only_the_log(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    forbid_texts: Callable[[], None],
    is_patient: bool,
) -> None:
    """It is said once, and written when there is room; where too much waits, it is derived at the next opening."""

    if not is_patient:
        monkeypatch.setattr(kept_log, "MOST_UNWRITTEN", 1000)
    with Window.open(folder, CONFIG, horizon=1e9) as window, caplog.at_level("WARNING", "hybriddup"):
        window.add_many(texts_of(500, 20))
        with monkeypatch.context() as patched:
            patched.setattr(AppendedFile, "append", full)
            for seed in (520, 540, 560):
                window.add_many(texts_of(seed, 20))
        window.add_many(texts_of(580, 20))
    assert caplog.text.count("cannot write the index snapshot") == 1
    expected = derived(folder)
    if is_patient:
        forbid_texts()
    assert answers(folder) == expected
    forbid_texts()
    assert answers(folder) == expected


def test_an_interrupt_before_memory_has_followed_leaves_a_log_that_is_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch, forbid_texts: Callable[[], None]
) -> None:
    """The next batch finds what was written, and so does the next opening."""
    add = DerivedState.add

    def interrupted(derived: DerivedState, columns: KeptColumns, *looked_up: Any) -> None:
        add(derived, columns, *looked_up)
        raise KeyboardInterrupt

    with Window.open(folder, CONFIG, horizon=1e9) as window:
        with monkeypatch.context() as patched:
            patched.setattr(DerivedState, "add", interrupted)
            with pytest.raises(KeyboardInterrupt):
                window.add_many(["a text of its own", "nothing like the others"])
        assert not window.add("a text of its own").kept
        window.add_many(texts_of(520, 20))
    expected = derived(folder)
    forbid_texts()
    assert answers(folder) == expected


def test_memory_that_cannot_follow_is_built_anew_from_the_store(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody gets an error for it: the posts are on disk."""
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


@pytest.mark.parametrize(
    ("horizon", "lengths"),
    [
        (1e8, CONFIG["lengths"]),
        (1e10, CONFIG["lengths"]),
        (1e9, [{"max_hamming_distance": 5, "verifier": {"use": "edit", "threshold": 0.7}}]),
    ],
)
def test_a_log_of_another_horizon_or_other_limits_begins_anew(folder: Path, horizon: float, lengths: object) -> None:
    """With a longer horizon, posts match that a log may have no more; of limits, the recipe does not tell."""
    config = CONFIG | {"lengths": lengths}
    assert answers(folder, config, horizon) == derived(folder, config, horizon)


def test_a_log_stops_growing_when_the_window_is_full(tmp_path: Path, forbid_texts: Callable[[], None]) -> None:
    """Over many windows' worth, and what is left says what the posts say, at every time."""
    now, sizes = [0.0], []
    rng = np.random.default_rng(0)

    def open_window() -> Window:
        return Window.open(tmp_path / "store", CONFIG, horizon=100.0, clock=lambda: now[0])

    window = open_window()
    for step in range(200):
        window.add_many(["".join(map(chr, rng.integers(0x4E00, 0x9000, 12))) for _ in range(20)])
        now[0] += 5.0
        sizes.append(sum(path.stat().st_size for path in files_of(tmp_path / "store")))
        if step % 40 == 39:
            window.close()
            window = open_window()
            assert window.stats().n_kept_in_window == 20 * 20
    window.close()
    assert len(list((tmp_path / "store" / FOLDER).iterdir())) == 2 * len(files_of(tmp_path / "store")) + 1
    assert max(sizes[60:]) <= 1.1 * max(sizes[20:60])
    assert int(files_of(tmp_path / "store")[0].stem) > 10
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(deriving, "prepare_stored", None)
        open_window().close()
    files_of(tmp_path / "store")[0].write_bytes(b"damaged")  # no longer the first of all
    open_window().close()
    forbid_texts()
    open_window().close()


def test_a_store_of_an_earlier_time_does_not_go_with_a_log_that_forgot_its_posts(tmp_path: Path) -> None:
    """A backup of the same session was put back, from before the first file was deleted."""
    now, folder = [0.0], tmp_path / "store"
    with Window.open(folder, CONFIG, horizon=100.0, time="event", clock=lambda: 1e6) as window:
        for step in range(32):  # so that posts of the backup are in the log, and others are not
            window.add_many([{"text": text, "created_at": now[0]} for text in texts_of(step, 10)])
            now[0] += 5.0
            if step == 20:
                shutil.copytree(folder, tmp_path / "backup")
    put_back(folder, tmp_path / "backup")
    assert answers(folder, horizon=100.0) == derived(folder, horizon=100.0)


def test_nothing_is_deleted_while_records_wait_for_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file that would be the first one then has no record that says what was before it."""
    now = [0.0]

    with Window.open(tmp_path / "store", CONFIG, horizon=100.0, clock=lambda: now[0]) as window:
        window.add_many(texts_of(1, 100))
        with monkeypatch.context() as patched:
            patched.setattr(AppendedFile, "append", full)
            for _ in range(3):
                now[0] += 60.0
                window.add_many(texts_of(int(now[0]), 10))
        n_files = len(files_of(tmp_path / "store"))
        now[0] += 1.0
        window.add_many(texts_of(5, 10))
        assert n_files > len(files_of(tmp_path / "store"))
    assert answers(tmp_path / "store", horizon=100.0) == derived(tmp_path / "store", horizon=100.0)


def test_files_that_cannot_be_given_up_are_kept_and_it_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are deleted when what is to be noted before can be written."""
    now, n_files = [0.0], []
    with Window.open(tmp_path / "store", CONFIG, horizon=100.0, clock=lambda: now[0]) as window:

        def send(n: int) -> None:
            for _ in range(n):
                now[0] += 20.0
                window.add_many(texts_of(int(now[0]), 20))
            n_files.append(len(files_of(tmp_path / "store")))

        send(10)
        with monkeypatch.context() as patched, caplog.at_level("WARNING", "hybriddup"):
            patched.setattr(kept_log, "replace_file", full)
            send(10)
        send(1)
    assert caplog.text.count("cannot write the index snapshot") == 1
    assert n_files[0] < n_files[1] > n_files[2]
    assert answers(tmp_path / "store", horizon=100.0) == derived(tmp_path / "store", horizon=100.0)
