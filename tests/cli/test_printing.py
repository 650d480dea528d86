"""Tables away from a terminal."""

from io import StringIO

from hybriddup.cli.printing import print_table


def test_columns_are_aligned_by_what_characters_take_in_a_terminal() -> None:
    printed = StringIO()
    print_table([["你好", "x"], ["abcde", "y"]], title="words [b]", stream=printed)
    assert printed.getvalue() == "words [b]\n你好   x\nabcde  y\n"
