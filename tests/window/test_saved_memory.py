"""A window that is opened again: from what was saved where that can be believed, else from the posts themselves."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from random import Random

import pytest

from hybriddup.window import Window
from hybriddup.window.memory import deriving
from hybriddup.window.memory.saved_memory import INDEX_FILE, KEPT_FILE
from tests.window.reference_window import CONFIG


def texts_of(seed: int, n: int) -> list[str]:
    """Texts that repeat each other here and there."""
    random = Random(seed)  # noqa: S311
    return ["".join(random.choices("abcdef", k=random.randrange(8))) for _ in range(n)]


def answers(folder: Path, config: object = CONFIG) -> list[object]:
    """What an opened window says of some texts, without adding them."""
    with Window.open(folder, config) as window:  # type: ignore[arg-type]
        found = [[(match.id, match.score) for match in window.match(text, 50)] for text in texts_of(2, 60)]
        return [found, window.stats().n_kept_in_window, window.stats().index_bytes > 0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store that was closed in good order."""
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add_many(texts_of(1, 200))
    return tmp_path / "store"


@pytest.fixture
def derived(folder: Path) -> list[object]:
    """What a window says that is derived from the posts."""
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    for name in (INDEX_FILE, KEPT_FILE):
        (copy / name).unlink()
    return answers(copy)


def test_what_was_saved_says_what_the_posts_say(
    folder: Path, derived: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no text is looked at."""

    def fail(*_: object) -> None:
        raise AssertionError("a stored text was looked at")

    monkeypatch.setattr(deriving, "prepare_stored", fail)
    assert answers(folder) == derived


@pytest.mark.parametrize("name", [INDEX_FILE, KEPT_FILE])
@pytest.mark.parametrize("fault", ["flipped", "cut", "empty", "missing"])
def test_what_is_damaged_is_not_believed(
    folder: Path, derived: list[object], name: str, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The posts are, and the log says why."""
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    faulty = {"flipped": bytes(content), "cut": bytes(content[:-20]), "empty": b""}
    if fault == "missing":
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(faulty[fault])
    with caplog.at_level(logging.WARNING, "hybriddup"):
        assert answers(folder) == derived
    assert ("not used" in caplog.text) is (fault != "missing" or name == KEPT_FILE)


def test_posts_after_what_was_saved_count(folder: Path) -> None:
    """The window was killed later, so that what was saved is old."""
    saved = {name: (folder / name).read_bytes() for name in (INDEX_FILE, KEPT_FILE)}
    with Window.open(folder, CONFIG) as window:
        window.add_many(texts_of(3, 50))
    now = answers(folder)
    for name, content in saved.items():
        (folder / name).write_bytes(content)
    assert answers(folder) == now


def test_files_that_do_not_belong_together_are_not_believed(folder: Path) -> None:
    """One was saved, and the disk was full before the other."""
    old = (folder / KEPT_FILE).read_bytes()
    with Window.open(folder, CONFIG) as window:
        window.add_many(texts_of(3, 50))
    now = answers(folder)
    (folder / KEPT_FILE).write_bytes(old)
    assert answers(folder) == now


def test_other_limits_are_not_those_that_were_saved(folder: Path) -> None:
    """The lengths of the configuration changed, which the recipe does not tell."""
    other = CONFIG | {"lengths": [{"max_hamming_distance": 5, "verifier": {"use": "edit", "threshold": 0.7}}]}
    copy = folder.with_name("copy")
    shutil.copytree(folder, copy)
    (copy / INDEX_FILE).unlink()
    assert answers(folder, other) == answers(copy, other)
