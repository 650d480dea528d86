"""Finding copies in a file: each whole one up to the first place that cannot be one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.copies import find_copies, sound_sizes
from hybriddup.window.stores.kept_copies import UNIT, id_of, pack, text_of

ANY_TEXT = st.text(st.characters(), max_size=40)


def copy_of(position: int, post_id: str | int, text: str) -> bytes:
    """The copy of one post."""
    copies, bounds = pack(np.array([position]), [post_id], [text])
    assert bounds.tolist() == [0, len(copies)]
    return copies.tobytes()


def words_of(data: bytes) -> np.ndarray:
    """The words of a file, without what is no whole word at its end."""
    return np.frombuffer(data[: len(data) // 8 * 8], np.uint64)


def sound_size(data: bytes, position: int, n_read: int = 512, room: int = 2**40) -> int:
    """The size of a copy that so many bytes were read of."""
    read = np.zeros((1, 512), np.uint8)
    n_read = min(n_read, len(data))
    read[0, :n_read] = np.frombuffer(data[:n_read], np.uint8)
    return int(sound_sizes(read, np.array([n_read]), np.array([position]), np.array([room]))[0])


@given(st.lists(st.tuples(st.integers(0, 2**62), ANY_TEXT | st.integers(-(2**63), 2**63 - 1), ANY_TEXT), max_size=9))
def test_copies_say_what_was_copied(posts: list[tuple[int, str | int, str]]) -> None:
    """Whatever the characters are, and whether the id is a number or its digits; together as one by one."""
    positions, ids, texts = ([post[field] for post in posts] for field in range(3))
    copies, bounds = pack(np.array(positions, np.int64), ids, texts)
    each = [copies[first:end].tobytes() for first, end in pairwise(bounds.tolist())]
    assert each == [copy_of(*post) for post in posts]
    assert [(id_of(copy), text_of(copy)) for copy in each] == list(zip(ids, texts, strict=True))
    assert [type(id_of(copy)) for copy in each] == [type(post_id) for post_id in ids]
    assert [sound_size(copy, position) for copy, position in zip(each, positions, strict=True)] == [*map(len, each)]
    assert all(len(copy) % UNIT == 0 for copy in each)


def test_a_copy_that_is_not_whole_or_of_another_post_is_not_sound() -> None:
    """Every byte counts; only where fewer were asked for, the size of the copy is told."""
    copy, long = copy_of(7, "id", "some text"), copy_of(8, "id", "long " * 200)
    assert sound_size(copy, 7) == len(copy)
    assert sound_size(copy, 7, n_read=len(copy) - 1) == sound_size(copy, 7, n_read=23) == sound_size(b"", 7) == 0
    assert sound_size(copy, 8) == sound_size(copy, 7, room=len(copy) - 1) == 0
    for place in range(len(copy)):
        size = sound_size(copy[:place] + bytes([copy[place] ^ 4]) + copy[place + 1 :], 7)
        assert size == 0 or (size > 512 and place in range(16, 24))
    assert sound_size(long, 8) == len(long) > 512
    assert sound_size(long, 8, room=len(long) - 1) == 0


@given(
    st.lists(st.tuples(st.integers(1, 2**40), st.text("a中", max_size=30)), max_size=1100),
    st.integers(-1, 50),
    st.integers(0, 40),
)
def test_every_whole_copy_is_found(steps: list[tuple[int, str]], after: int, n_cut: int) -> None:
    """In order, with the units before it and after the last; one that is cut off is left out."""
    positions, places, data, position = [], [], b"", after
    for step, text in steps:
        position += step
        positions.append(position)
        places.append(len(data) // UNIT)
        data += copy_of(position, f"id {position}", text)
    cut = data[: max(len(data) - n_cut, 0)]
    ends = [*(place * UNIT for place in places[1:]), len(data)]
    n_whole = sum(end <= len(cut) // 8 * 8 for end in ends)

    found, bounds = find_copies(words_of(cut), after)
    assert found.tolist() == positions[:n_whole]
    assert bounds.tolist() == [*places, len(data) // UNIT][: n_whole + 1]


def test_it_ends_where_positions_do_not_rise() -> None:
    """Zeros, as a file has them after a power cut, are the position 0 for the second time."""
    first, second = copy_of(7, "a", "b"), copy_of(5, "c", "d")
    assert find_copies(words_of(first + second + first), -1)[0].tolist() == [7]
    assert find_copies(words_of(first + bytes(800)), -1)[0].tolist() == [7]
    assert find_copies(words_of(first), 7)[0].tolist() == []
    assert find_copies(words_of(b""), -1)[0].tolist() == []


@given(st.binary(max_size=400))
def test_garbage_is_no_error(data: bytes) -> None:
    """Whatever is read, positions rise and places are within the file."""
    positions, bounds = find_copies(words_of(data), -1)
    assert (np.diff(positions) > 0).all()
    assert len(bounds) == len(positions) + 1
    assert (bounds.astype(np.int64) * UNIT <= len(data)).all()
