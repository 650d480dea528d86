"""Lines in blocks: the same lines as Python's own, whatever the bytes and wherever a block ends."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.files.line_blocks import LineBlock, line_blocks
from hybriddup.files.text import UTF8_MARK

CONTENT = st.lists(st.sampled_from([b"a", b"bcd", b"\n", b"\r\n", b" ", b"\t", b"\x0b", b"\xff", UTF8_MARK])).map(
    b"".join
)


def lines_of(block: LineBlock) -> list[bytes]:
    return [block.data[start:end] for start, end in zip(block.starts.tolist(), block.ends.tolist(), strict=True)]


@given(content=CONTENT, block_bytes=st.integers(1, 12))
def test_lines_are_those_of_the_file_without_its_mark(content: bytes, block_bytes: int) -> None:
    """A mark at the start is no text, elsewhere it is; a line may span many blocks."""
    blocks = line_blocks(io.BytesIO(content), 100, max(block_bytes, len(UTF8_MARK)))
    found = [line for block in blocks for line in lines_of(block)]
    assert found == list(io.BytesIO(content.removeprefix(UTF8_MARK)))


@given(content=CONTENT)
def test_blank_lines_are_those_of_white_space_alone(content: bytes) -> None:
    """Also where a line begins with a space and goes on."""
    for block in line_blocks(io.BytesIO(content), 100):
        assert lines_of(block.without_blank()) == [line for line in lines_of(block) if not line.isspace()]


@given(content=CONTENT, seed=st.integers(0, 2**32 - 1))
def test_runs_are_the_chosen_lines_joined(content: bytes, seed: int) -> None:
    """Nothing is lost, repeated or moved, and no two runs could be one."""
    for block in line_blocks(io.BytesIO(content), 100):
        chosen = np.random.default_rng(seed).random(len(block.starts)) < 0.5
        runs = list(block.take(chosen).runs())
        assert b"".join(runs) == b"".join(line for line, taken in zip(lines_of(block), chosen, strict=True) if taken)
        assert len(runs) == int((np.diff(chosen.astype(np.int8), prepend=0) == 1).sum())
