"""Lines as they arrive."""

from __future__ import annotations

import os
import threading

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.cli.line_feed import LineFeed


@given(st.lists(st.binary(max_size=12), max_size=8))
def test_lines_are_those_of_the_whole_however_it_is_cut(parts: list[bytes]) -> None:
    """The last one may lack its end."""
    out, into = os.pipe()

    def write() -> None:
        for part in parts:
            os.write(into, part)
        os.close(into)

    writing = threading.Thread(target=write)
    writing.start()
    lines = [line for some in LineFeed(out) for line in some]
    writing.join()
    os.close(out)
    whole = b"".join(parts).split(b"\n")
    assert lines == (whole if whole[-1] else whole[:-1])


def test_stopped_it_yields_what_was_read_and_no_half_line() -> None:
    """Though the other end is still open."""
    out, into = os.pipe()
    os.write(into, b"one\ntwo\nhalf")
    feed = LineFeed(out)
    lines = []
    for some in feed:
        lines += some
        feed.stop(15)
    os.close(into)
    assert lines == [b"one", b"two"]


def test_a_long_line_comes_whole() -> None:
    """Longer than what is read at once."""
    out, into = os.pipe()
    text = b"x" * 1_000_000

    def write() -> None:
        with os.fdopen(into, "wb") as stream:
            stream.write(text + b"\nend\n")

    writing = threading.Thread(target=write)
    writing.start()
    lines = [line for some in LineFeed(out) for line in some]
    writing.join()
    os.close(out)
    assert lines == [text, b"end"]
