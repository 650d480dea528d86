"""Finding copies in a file: each whole one up to the first place that cannot be one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.copy_places import find_copies
from hybriddup.window.stores.kept_copies import UNIT, pack


def words_of(data: bytes) -> np.ndarray:
    """The words of a file, without what is no whole word at its end."""
    return np.frombuffer(data[: len(data) // 4 * 4], "<u4")


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
        data += pack(position, f"id {position}", text)
    cut = data[: max(len(data) - n_cut, 0)]
    ends = [*(place * UNIT for place in places[1:]), len(data)]
    n_whole = sum(end <= len(cut) // 4 * 4 for end in ends)

    found, bounds = find_copies(words_of(cut), after)
    assert found.tolist() == positions[:n_whole]
    assert bounds.tolist() == [*places, len(data) // UNIT][: n_whole + 1]


def test_it_ends_where_positions_do_not_rise() -> None:
    """Zeros, as a file has them after a power cut, are the position 0 for the second time."""
    first, second = pack(7, "a", "b"), pack(5, "c", "d")
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
