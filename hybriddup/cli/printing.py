"""Prints JSON, and tables: with rich on a terminal, elsewhere as aligned plain text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TextIO
from unicodedata import east_asian_width

Rows = Sequence[Sequence[str]]


def print_table(
    rows: Rows, *, headers: Sequence[str] = (), title: str = "", right: Sequence[int] = (), stream: TextIO | None = None
) -> None:
    """Print rows of cells on standard output or another stream; ``right`` are the indices of right-aligned columns."""
    target = stream or sys.stdout
    if target.isatty():
        _draw(rows, headers, title, right, target)
    else:
        target.write(plain_table(rows, headers=headers, title=title, right=right))


def plain_table(rows: Rows, *, headers: Sequence[str] = (), title: str = "", right: Sequence[int] = ()) -> str:
    """Return rows of cells as aligned text; ``right`` are the indices of right-aligned columns."""
    lines = [list(map(str, row)) for row in ([headers] if headers else []) + list(rows)]
    n_columns = max(map(len, lines), default=0)
    widths = [max(_width(line[i]) for line in lines if i < len(line)) for i in range(n_columns)]
    text = "".join(_aligned(line, widths, right).rstrip() + "\n" for line in lines)
    return f"{title}\n{text}" if title else text


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padding = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=False)]
    return "  ".join(
        pad + cell if i in right else cell + pad for i, (cell, pad) in enumerate(zip(cells, padding, strict=True))
    )


def _width(cell: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in cell)


def _draw(rows: Rows, headers: Sequence[str], title: str, right: Sequence[int], target: TextIO) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, show_header=bool(headers), box=None, pad_edge=False)
    table.title_justify, table.title_style = "left", "bold"
    n_columns = max((len(row) for row in [headers, *rows]), default=0)
    for i in range(n_columns):
        header = headers[i] if i < len(headers) else ""
        table.add_column(header, justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(file=target).print(table)


def print_json(data: Any) -> None:
    """Print data as indented JSON on standard output."""
    from hybriddup.files.tables import to_json

    sys.stdout.buffer.write(to_json(data))
    sys.stdout.buffer.flush()
