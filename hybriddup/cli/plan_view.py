"""A plan, for people, and the numbers that they ask with."""

from __future__ import annotations

import re

import typer
import yaml

from hybriddup.cli.tables import print_table
from hybriddup.errors import ConfigError
from hybriddup.steps.options import quote
from hybriddup.study.plan import Plan, Shape

NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+) *([a-zA-Z]*)")
"""Separators part three digits each, so that nobody's decimal comma is passed over."""
COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
BYTES = COUNTS | {f"{prefix}b": 10 ** (3 * power) for power, prefix in enumerate(("", *"kmgt"))}
BYTES |= {"b": 1, "t": 10**12} | {f"{prefix}ib": 2 ** (10 * power) for power, prefix in enumerate("kmgt", 1)}
MOST = 2**63
HEADERS = ("block index", "keys", "look-ups", "comparisons", "us, window", "us, run", "GB", "recall", "verdict")


def parse_number(text: str, option: str, units: dict[str, int], example: str) -> int:
    """Return a number with a unit, such as ``50M``, ``50_000_000`` or ``1.5GB``.

    Raises
    ------
    ConfigError
        It is none, below 1, or past 64 bits; the message names the option.

    Examples
    --------
    >>> parse_number("50M", "--posts", COUNTS, ""), parse_number("1.5 KiB", "--memory", BYTES, "")
    (50000000, 1536)
    """
    match = NUMBER.fullmatch(text.strip())
    unit = units.get(match[2].lower()) if match else None
    value = round(float(re.sub("[_,]", "", match[1])) * unit, 6) if match and unit else 0
    if not 1 <= value < MOST or (units is COUNTS and value != int(value)):
        raise ConfigError(f"{option} must be {example}; got {quote(text)}.")
    return int(value)


def print_plan(plan: Plan) -> None:
    """Print the shapes, the choice with the lines that configure it, and what was noted."""
    print_table([_row(shape) for shape in plan.shapes], headers=HEADERS, right=range(1, len(HEADERS) - 1))
    typer.echo(f"\n{plan.why}")
    for note in plan.notes:
        typer.echo(note)
    if plan.configuration:
        written = yaml.safe_dump(plan.configuration, sort_keys=False, default_flow_style=None)
        typer.echo(f"\n{written}", nl=False)


def _row(shape: Shape) -> list[str]:
    costs = (shape.window_ns / 1e3, shape.run_ns / 1e3, shape.n_bytes / 1e9)
    counts = map(show, (shape.keys, shape.look_ups, shape.comparisons, *costs))
    recall = "by text" if shape.recall is None else f"{shape.recall:.4f}"
    return [shape.name, *counts, recall, shape.verdict]


def show(value: float) -> str:
    """Return a number with about three digits, such as ``696``, ``0.75``, ``3,052`` or ``1.2e+30``."""
    if value >= 1e9:
        return f"{value:.1e}"
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
