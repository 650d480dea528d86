"""A plan, for people: the shapes as a table, the choice, and what the numbers rest on."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shutil import get_terminal_size
from textwrap import wrap

import typer

from hybriddup.cli.tables import plain_table, print_table
from hybriddup.planner.choosing import JudgedShape, Plan
from hybriddup.planner.quantities import show_bytes, show_count, show_duration, show_range
from hybriddup.planner.question import Question

HEADERS = ("shape", "tables", "key bits", "look-ups", "candidates", "time", "bytes", "memory", "recall", "verdict")
COSTS, FINDINGS = range(6), (0, *range(6, 10))
"""The columns of each half, for terminals that are too narrow for both."""
WIDTH = 100


def print_plan(plan: Plan) -> None:
    """Print what was asked, the shapes, the choice with the lines that configure it, and the assumptions."""
    _say(_title(plan.question))
    _print_shapes([HEADERS, *(_row(judged, plan.question) for judged in plan.judged)])
    typer.echo()
    _say(plan.why, fg=None if plan.chosen is None else "green")
    if plan.chosen is not None:
        typer.echo(f"\n{_configuration(plan)}")
    typer.echo()
    for assumption in plan.assumptions:
        _say(f"- {assumption}", indent="  ")


def _print_shapes(lines: Sequence[Sequence[str]]) -> None:
    """Print all columns as one table, or as two where a terminal is too narrow for them."""
    width = max(map(len, plain_table(lines).splitlines()))
    whole = not sys.stdout.isatty() or get_terminal_size().columns >= width
    for columns in [range(len(HEADERS))] if whole else [COSTS, FINDINGS]:
        cells = [[line[column] for column in columns] for line in lines]
        print_table(cells[1:], headers=cells[0], right=range(1, len(columns) - (HEADERS[columns[-1]] == "verdict")))


def _title(question: Question) -> str:
    memory = "any memory" if question.memory is None else f"at most {show_bytes(question.memory)}"
    return (
        f"{question.n_posts:,} posts, {question.bits} bits, within {question.distances.limit}, recall "
        f"{question.recall:g}, {memory}; look-ups, candidates, bytes and time are those of one post"
    )


def _row(judged: JudgedShape, question: Question) -> list[str]:
    shape = judged.shape
    return [
        shape.name,
        str(shape.n_tables),
        show_range(*shape.key_bits) if shape.n_tables else "none",
        show_count(shape.look_ups),
        show_count(shape.candidates),
        show_duration(shape.cost),
        show_count(shape.n_bytes / question.n_posts),
        show_bytes(shape.n_bytes),
        f"{shape.recall:.4f}",
        judged.verdict,
    ]


def _configuration(plan: Plan) -> str:
    if plan.chosen is None or plan.chosen.blocks is None:
        return ""
    options = ", ".join(f"{name}: {value}" for name, value in plan.chosen.blocks.items())
    return (
        f"fingerprint: {{bits: {plan.question.bits}}}\nblocks: {{{options}}}\n"
        f"# in each length band: max_hamming_distance: {plan.question.distances.limit}, or less"
    )


def _say(text: str, *, indent: str = "", fg: str | None = None) -> None:
    width = min(WIDTH, get_terminal_size().columns) if sys.stdout.isatty() else WIDTH
    typer.secho("\n".join(wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)), fg=fg)
