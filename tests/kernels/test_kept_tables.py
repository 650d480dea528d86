"""Tables that are kept next to the compiled kernels."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hybriddup.data.records import UInt64s
from hybriddup.kernels.kept_tables import load_or_make

Make = Callable[[], UInt64s]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder in which tables are kept."""
    kept = tmp_path / "kept"
    kept.mkdir()
    return kept


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file on which a table depends."""
    file = tmp_path / "words.txt"
    file.write_text("tea 1")
    return file


@pytest.fixture
def made() -> list[UInt64s]:
    """The tables that were made, in order."""
    return []


@pytest.fixture
def make(made: list[UInt64s]) -> Make:
    """Makes tables that differ from each other."""

    def make_next() -> UInt64s:
        made.append(np.array([len(made), 2**63], np.uint64))
        return made[-1]

    return make_next


def test_a_table_is_made_once(folder: Path, source: Path, make: Make, made: list[UInt64s]) -> None:
    """The stored one is equal, has the same type, and can be changed by its user, as the made one."""
    first, second = (
        load_or_make("words", make, [source], folder=folder),
        load_or_make("words", make, [source], folder=folder),
    )
    assert len(made) == 1
    assert first.dtype == second.dtype
    assert first.tolist() == second.tolist() == [0, 2**63]
    second[0] = 7
    assert load_or_make("words", make, [source], folder=folder).tolist() == [0, 2**63]
    assert [file.name[:6] for file in folder.iterdir()] == ["words-"]


def test_a_table_is_made_again_for_other_inputs(folder: Path, source: Path, make: Make, made: list[UInt64s]) -> None:
    """For another version, another name, or a file that has changed."""
    load_or_make("words", make, [source], "1", folder=folder)
    load_or_make("words", make, [source], "2", folder=folder)
    load_or_make("names", make, [source], "1", folder=folder)
    source.write_text("tea 2")
    load_or_make("words", make, [source], "1", folder=folder)
    assert len(made) == len(list(folder.iterdir())) == 4


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY\x01\x00", b"PK\x03\x04 broken", b"words"])
def test_a_broken_file_is_replaced(folder: Path, source: Path, make: Make, made: list[UInt64s], content: bytes) -> None:
    """By a table made anew."""
    load_or_make("words", make, [source], folder=folder)
    (kept,) = folder.iterdir()
    kept.write_bytes(content)
    assert load_or_make("words", make, [source], folder=folder).tolist() == [1, 2**63]
    assert load_or_make("words", make, [source], folder=folder).tolist() == [1, 2**63]
    assert len(made) == 2


def test_without_a_folder_each_process_makes_its_tables(source: Path, make: Make, made: list[UInt64s]) -> None:
    """Nothing is read or written."""
    load_or_make("words", make, [source], folder=None)
    load_or_make("words", make, [source], folder=None)
    assert len(made) == 2


def test_what_cannot_be_read_or_stored_is_made(
    folder: Path, source: Path, make: Make, made: list[UInt64s], tmp_path: Path
) -> None:
    """A file inside an archive has no bytes of its own, and a folder may be gone."""
    load_or_make("words", make, [tmp_path / "archive.zip" / "words.txt"], folder=folder)
    folder.rmdir()
    load_or_make("words", make, [source], folder=folder)
    assert len(made) == 2
