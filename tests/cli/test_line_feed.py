"""Lines as they arrive."""

import os
import threading

from hypothesis import given
from hypothesis import strategies as st

from hybriddup.cli.line_feed import LineFeed


def lines_through_a_pipe(parts: list[bytes]) -> list[bytes]:
    """Return the lines of a feed while its parts are written."""
    out, into = os.pipe()

    def write() -> None:
        with os.fdopen(into, "wb", 0) as stream:
            for part in parts:
                stream.write(part)

    writing = threading.Thread(target=write)
    writing.start()
    lines = [line for some in LineFeed(out) for line in some]
    writing.join()
    os.close(out)
    return lines


@given(st.lists(st.binary(max_size=12), max_size=8))
def test_lines_are_those_of_the_whole_however_it_is_cut(parts: list[bytes]) -> None:
    whole = b"".join(parts).split(b"\n")
    assert lines_through_a_pipe(parts) == (whole if whole[-1] else whole[:-1])


def test_a_long_line_comes_whole() -> None:
    text = b"x" * 1_000_000
    assert lines_through_a_pipe([text + b"\nend\n"]) == [text, b"end"]


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
