"""Tables away from a terminal."""

from __future__ import annotations

from hybriddup.cli.printing import plain_table


def test_columns_are_aligned_by_what_characters_take_in_a_terminal() -> None:
    assert plain_table([["你好", "x"], ["abcde", "y"]]) == "你好   x\nabcde  y\n"


def test_an_empty_table_is_nothing() -> None:
    assert plain_table([]) == ""
