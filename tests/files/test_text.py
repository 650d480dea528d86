"""Lines in blocks: the same lines as Python's own, whatever the bytes and wherever a block ends."""

import io

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.files.text import UTF8_MARK, LineBlock, line_blocks, whole_lines, why_too_long

CONTENT = st.lists(st.sampled_from([b"a", b"bcd", b"\n", b"\r\n", b" ", b"\t", b"\x0b", b"\xff", UTF8_MARK])).map(
    b"".join
)


def lines_of(block: LineBlock) -> list[bytes]:
    return [block.data[start:end] for start, end in zip(block.starts.tolist(), block.ends.tolist(), strict=True)]


@given(content=CONTENT, block_bytes=st.integers(1, 12))
@example(b"ab\n" + UTF8_MARK + b"c\n", 3)
def test_lines_are_those_of_the_file_without_its_mark(content: bytes, block_bytes: int) -> None:
    blocks = line_blocks(io.BytesIO(content), 100, max(block_bytes, len(UTF8_MARK)))
    found = [line for block in blocks for line in lines_of(block)]
    assert found == list(io.BytesIO(content.removeprefix(UTF8_MARK)))


@given(content=CONTENT)
def test_blank_lines_are_those_of_white_space_alone(content: bytes) -> None:
    for block in line_blocks(io.BytesIO(content), 100):
        assert lines_of(block.without_blank(100)) == [line for line in lines_of(block) if not line.isspace()]


@given(content=CONTENT, seed=st.integers(0, 2**32 - 1))
def test_runs_are_the_chosen_lines_joined(content: bytes, seed: int) -> None:
    """Nothing is lost, repeated or moved, and no two runs could be one."""
    for block in line_blocks(io.BytesIO(content), 100):
        chosen = np.random.default_rng(seed).random(len(block.starts)) < 0.5
        runs = list(block.take(chosen).runs())
        assert b"".join(runs) == b"".join(line for line, taken in zip(lines_of(block), chosen, strict=True) if taken)
        assert len(runs) == int((np.diff(chosen.astype(np.int8), prepend=0) == 1).sum())


@given(content=CONTENT, cuts=st.lists(st.integers(1, 5), min_size=1), most=st.integers(0, 6))
def test_of_a_line_that_is_too_long_so_much_stays_that_it_is_known(content: bytes, cuts: list[int], most: int) -> None:
    stream = io.BytesIO(content)
    pieces = list(whole_lines(iter(lambda: stream.read(cuts[stream.tell() % len(cuts)]), b""), most))
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])
    found, lines = list(io.BytesIO(b"".join(pieces))), list(io.BytesIO(content))
    assert len(found) == len(lines)
    for one, line in zip(found, lines, strict=True):
        if len(line.removesuffix(b"\n")) <= most:
            assert one == line
        else:
            assert line.startswith(one.removesuffix(b"\n"))
            assert len(one.removesuffix(b"\n")) >= min(len(line.removesuffix(b"\n")), most + 1)


def test_a_line_end_is_no_part_of_the_length() -> None:
    lines = (b"abc", b"abc\n", b"abc\r\n", b"abcd", b"abcd\n")
    assert [bool(why_too_long(line, 3)) for line in lines] == [False, False, False, True, True]
