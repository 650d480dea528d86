"""A plan, for people."""

from __future__ import annotations

import typer
import yaml

from hybriddup.cli.printing import print_table
from hybriddup.study.plan import Plan, Shape

HEADERS = ("block index", "keys", "look-ups", "comparisons", "us, window", "us, run", "GB", "recall", "verdict")


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
