"""`--help`, the completion of the shell, and tables away from a terminal."""

import re
from io import StringIO
from typing import Any

import pytest
from typer.testing import CliRunner

from hybriddup.cli.app import app
from hybriddup.cli.printing import print_table
from tests.cli.support import Run

COMMANDS = ["dedupe", "watch", "serve", "explain", "evaluate", "label", "tune", "learn", "accounts", "plan", "warm-up"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_no_types_of_python(run: Run, command: str) -> None:
    """Arguments are called as the user knows them."""
    shown = run(command, "--help").out
    assert shown.startswith(f"Usage: hybriddup {command} ")
    assert re.findall(r"<(?:str|list|int|float)\b", shown) == []


def test_many_options_are_in_groups(run: Run) -> None:
    """Each option once; commands with few have one list."""
    shown = run("dedupe", "--help").out
    headings = re.findall(r"^(\w+):$", shown, re.MULTILINE)
    assert headings == ["Arguments", "Outputs", "Fields", "Comparing", "Reading", "Messages"]
    assert len(re.findall(r"^ +(?:-\w, )?--[\w-]+", shown, re.MULTILINE)) > 25
    assert re.findall(r"^(\w+):$", run("warm-up", "--help").out, re.MULTILINE)[:2] == ["Arguments", "Options"]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("hybriddup dedupe --config t", "twitter"),
        ("hybriddup dedupe --encoding gb", "gb18030"),
        ("hybriddup learn --format par", "parquet"),
        ("hybriddup acc", "accounts"),
    ],
)
def test_the_shell_completes_values(words: str, completed: str) -> None:
    """Names of configurations, encodings and formats, besides commands."""
    environment: dict[str, Any] = {
        "_HYBRIDDUP_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)
    }  # fmt: skip
    result = CliRunner().invoke(app, [], env=environment, prog_name="hybriddup")
    assert result.stdout.split() == [completed]


def test_a_typing_error_in_a_command_is_answered_by_a_suggestion() -> None:
    result = CliRunner().invoke(app, ["dedup", "posts.jsonl"], prog_name="hybriddup")
    assert (result.exit_code, "Did you mean 'dedupe'?" in result.output) == (2, True)


def test_columns_are_aligned_by_what_characters_take_in_a_terminal() -> None:
    printed = StringIO()
    print_table([["你好", "x"], ["abcde", "y"]], title="words [b]", stream=printed)
    assert printed.getvalue() == "words [b]\n你好   x\nabcde  y\n"
