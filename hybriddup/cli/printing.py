"""Prints JSON, and tables: with colors and folded lines on a terminal, elsewhere as aligned plain text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from io import StringIO
from typing import Any, TextIO

WIDEST = 10**6
"""Width of a table in plain text, in characters; only longer lines are folded."""


def print_table(
    rows: Sequence[Sequence[str]],
    *,
    headers: Sequence[str] = (),
    title: str = "",
    right: Sequence[int] = (),
    stream: TextIO | None = None,
) -> None:
    """Print rows of cells on standard output or another stream; ``right`` are the indices of right-aligned columns."""
    from rich.console import Console  # loads for 20 ms, and most runs print no table
    from rich.table import Table
    from rich.text import Text

    target = stream or sys.stdout
    table = Table(show_header=bool(headers), box=None, pad_edge=False)
    for i in range(max(len(row) for row in [headers, *rows])):
        header = Text(headers[i] if i < len(headers) else "")
        table.add_column(header, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    if target.isatty():
        Console(file=target).print(*([Text(title, "bold")] if title else []), table, sep="\n")
        return
    if title:
        target.write(f"{title}\n")
    plain = StringIO()
    Console(file=plain, width=WIDEST, color_system=None, force_terminal=False).print(table)
    target.writelines(line.rstrip() + "\n" for line in plain.getvalue().split("\n")[:-1])


def print_json(data: Any) -> None:
    """Print data as indented JSON on standard output."""
    from hybriddup.files.tables import to_json

    sys.stdout.buffer.write(to_json(data))
    sys.stdout.buffer.flush()
