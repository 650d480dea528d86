"""Texts in a file, and back."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.testing import NASTY_TEXTS
from hybriddup.window.derived.text_files import HEAD, READ_FIRST, TextPlaces, pack_text, read_texts

TEXTS = st.text(st.characters()) | st.sampled_from([*NASTY_TEXTS, "\ud83d\ude00", "字" * READ_FIRST, "a" * 5000])
SEEDS = st.integers(0, 2**64 - 1)


def written(folder: str | Path, packed: list[bytes]) -> FileIO:
    """A file with these bytes, which the caller closes."""
    path = Path(folder) / "a.texts"
    path.write_bytes(b"".join(packed))
    return FileIO(path, "r+b")


@given(st.lists(st.tuples(TEXTS, SEEDS), max_size=8))
def test_texts_come_back(given_texts: list[tuple[str, int]]) -> None:
    """With any characters, from where they begin."""
    packed = [pack_text(*each) for each in given_texts]
    with TemporaryDirectory() as folder, written(folder, packed) as file:
        places = TextPlaces.of(0, packed).begins.tolist()
        found = read_texts([file] * len(places), places, [seed for _, seed in given_texts])
        assert found == [text for text, _ in given_texts]


@given(TEXTS, SEEDS, st.data())
def test_a_text_that_was_changed_is_none(text: str, seed: int, data: st.DataObject) -> None:
    """Whichever bit was flipped, and wherever the file ends."""
    packed = pack_text(text, seed)
    bit = data.draw(st.integers(0, 8 * len(packed) - 1))
    flipped = bytearray(packed)
    flipped[bit // 8] ^= 1 << bit % 8
    cut = packed[: data.draw(st.integers(0, len(packed) - 1))]
    for damaged in (bytes(flipped), cut, bytes(flipped) + packed):
        with TemporaryDirectory() as folder, written(folder, [damaged]) as file:
            assert read_texts([file], [0], [seed]) == [None]
    with TemporaryDirectory() as folder, written(folder, [packed]) as file:
        assert read_texts([file], [0], [seed ^ 1]) == [None]


def test_a_head_that_lies_asks_for_no_more_than_the_file_has(tmp_path: Path) -> None:
    """So that a flipped bit takes no memory."""
    packed = HEAD.pack(1, 2**32 - 1) + b"short"
    with written(tmp_path, [packed]) as file:
        assert read_texts([file], [0], [1]) == [None]


def test_chinese_takes_two_bytes_a_character_and_latin_one() -> None:
    """The shorter of the two forms is taken."""
    assert len(pack_text("早上好" * 10, 0)) == HEAD.size + 60
    assert len(pack_text("good morning", 0)) == HEAD.size + 12
