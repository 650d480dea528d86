"""Options that several subcommands share, and parsers for values with units or names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybriddup.errors import ConfigError

if TYPE_CHECKING:
    from hybriddup.files.inputs import ReadOptions

DEFAULT_CONFIG = "posts"
"""Default of ``--config``, as in `hybriddup.config.load`, which is not imported because that would slow ``--help``."""
DEBUG = "hybriddup.debug"
"""Key for the value of ``--debug`` in the ``meta`` dictionary of click's context."""

EXIT_BAD_LINES = 1
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141

EXIT_CODES = (
    "Exit codes: 0 done; 1 done, but some lines were bad; 2 an error, nothing was written; 130 interrupted, nothing "
    "was written (143: terminated by SIGTERM; 129: the terminal was closed; 141: standard output was closed early)."
)

NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+) *([a-zA-Z]*)")
"""Pattern of a number and a unit. A comma or underscore must be between groups of three digits; 1,5 does not match."""
COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
BYTES = COUNTS | {f"{prefix}b": 10 ** (3 * power) for power, prefix in enumerate(("", *"kmgt"))}
BYTES |= {"b": 1, "t": 10**12} | {f"{prefix}ib": 2 ** (10 * power) for power, prefix in enumerate("kmgt", 1)}
MOST = 2**63
A_SIZE = "a number of bytes of at least 1, such as 1500000000, 1.5GB or 512MiB"


def parse_number(text: str, option: str, units: dict[str, int], example: str) -> int:
    """Parse a number with a unit, such as ``50M``, ``50_000_000`` or ``1.5GB``; raise ConfigError if it is invalid.

    ``units`` maps units in lower case to their size. Error messages use ``option``, the name of the option, and
    ``example``, a description of the allowed values.
    """
    match = NUMBER.fullmatch(text.strip())
    unit = units.get(match[2].lower()) if match else None
    value = round(float(re.sub("[_,]", "", match[1])) * unit, 6) if match and unit else 0
    if not 1 <= value < MOST or (units is COUNTS and value != int(value)):
        shown = repr(text if len(text) <= 40 else text[:40] + "...")
        raise ConfigError(f"{option} must be {example}; got {shown}.")
    return int(value)


def parse_delimiter(text: str) -> str:
    r"""Parse a delimiter of one character; a tab may be written ``tab`` or ``\t``."""
    character = "\t" if text in {"tab", "\\t"} else text
    if len(character) != 1 or character in '"\r\n\0':
        raise ConfigError(f"--delimiter must be one character, no quote or line end, such as ';' or tab; got {text!r}.")
    return character


def parse_line_size(text: str) -> int:
    """Parse the maximum size of a line, in bytes."""
    return parse_number(text, "--max-line", BYTES, A_SIZE)


def reading(format_name: str | None, max_line: int, encoding: str, delimiter: str | None) -> ReadOptions:
    """Return the options for reading files as one object."""
    from hybriddup.files.inputs import ReadOptions

    return ReadOptions(format_name, max_line, encoding, delimiter)


def option(metavar: str, description: str, names: str = "", **more: Any) -> Any:
    """Return a typer option with a value, which ``--help`` shows as ``metavar``.

    ``names`` are separated by spaces, such as ``--output -o``; without names, the parameter gives the name.
    """
    return typer.Option(*names.split(), metavar=metavar, help=description, **more)


def flag(names: str, description: str, **more: Any) -> Any:
    """Return a typer option without a value; ``names`` are separated by spaces, such as ``--quiet -q``."""
    return typer.Option(*names.split(), help=description, **more)


def argument(metavar: str, description: str) -> Any:
    """Return a typer argument, which ``--help`` shows as ``metavar``, without its default."""
    return typer.Argument(metavar=metavar, help=description, show_default=False)


def exit_with(code: int) -> None:
    """End the command with an exit code; return if it is 0."""
    if code:
        raise typer.Exit(code)


def remember_debug(context: typer.Context, value: bool) -> bool:
    """Store the value of ``--debug`` in the context, where the error handling reads it."""
    if value:
        context.meta[DEBUG] = True
    return value


def shipped_configurations() -> list[str]:
    """Return the names of the shipped configurations, for shell completion of ``--config``."""
    from hybriddup.config.read import shipped_names

    return shipped_names()


FORMATS = ["jsonl", "json", "csv", "tsv", "lines", "parquet"]
ENCODINGS = ["auto", "utf-8", "gb18030", "big5", "shift_jis", "cp949", "cp1251", "cp1252", "latin-1"]
"""Encodings for shell completion; other encodings are also allowed."""

Config = Annotated[
    str,
    option(
        "NAME|FILE",
        "Configuration: the name of a shipped one, or a YAML file with your changes.",
        "--config -c",
        autocompletion=shipped_configurations,
    ),
]
Plugins = Annotated[
    list[str] | None,
    option(
        "MODULE|FILE",
        "Load a Python module as a plugin, by its name or as ./FILE.py; may be given several times.",
        "--plugin",
    ),
]
TextField = Annotated[
    str,
    option(
        "FIELD",
        "Field or column with the text of a post; a path such as retweeted.text; several, such as "
        "'title + body', whose texts are joined by a line end; or alternatives, such as 'full_text | text', of which "
        "the first that is not empty counts.",
    ),
]
IdField = Annotated[
    str, option("FIELD", "Field or column with the id of a post, or a path; without one, the row is the id.")
]
Format = Annotated[
    str | None,
    option(
        "FORMAT",
        "Format of the input, if its name does not show it: jsonl, json, csv, tsv, lines, parquet or a plugin's.",
        "--format",
        autocompletion=lambda: FORMATS,
    ),
]
Encoding = Annotated[
    str,
    option(
        "NAME",
        "Encoding of text files, such as gb18030, big5 or latin-1; auto to detect it. Posts that dedupe copies "
        "keep it.",
        autocompletion=lambda: ENCODINGS,
    ),
]
Delimiter = Annotated[
    str | None,
    option("CHARACTER", "Separator of the fields in a csv or tsv file, such as ';' or tab.", parser=parse_delimiter),
]
MaxLine = Annotated[
    int, option("SIZE", "Maximum size of a line, such as 64MB; a longer one is a bad line.", parser=parse_line_size)
]
DEFAULT_MAX_LINE: Any = "64MB"
"""Default of ``--max-line``, as in `hybriddup.files.sources`; parsed by `parse_line_size`."""
PostFiles = Annotated[list[str], argument("POSTS", "Files of posts, one corpus in this order.")]
Workers = Annotated[
    int | None, option("N", "Number of cores to use; default: all that are available.", "--workers -j", min=1, max=1024)
]
Pairs = Annotated[str, argument("PAIRS", "File of labeled pairs: a, b, label; - for JSON Lines on standard input.")]
AField = Annotated[str, option("FIELD", "Field or column of the first text.")]
BField = Annotated[str, option("FIELD", "Field or column of the second text.")]
LabelField = Annotated[str, option("FIELD", "Field or column with the label: whether the two should match.")]
Wrong = Annotated[str | None, option("FILE", "File for wrongly judged pairs, .jsonl.", show_default=False)]
Force = Annotated[bool, flag("--force -f", "Overwrite existing files.")]
Json = Annotated[bool, flag("--json", "Print JSON.")]
Debug = Annotated[
    bool,
    flag("--debug", "Show the traceback of an error, for a bug report.", callback=remember_debug, expose_value=False),
]
