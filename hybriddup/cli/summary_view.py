"""The closing summary of a run, for people."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from hybriddup.cli.tables import print_table
from hybriddup.data.corpus import BadRecord
from hybriddup.run.summary import StepTiming, Summary

MAX_BAD_SHOWN = 5


def print_summary(summary: Summary, kept_target: str) -> None:
    """Print counts, steps and remarks on standard error."""
    print_table(_counts(summary, kept_target), right=(1,), stream=sys.stderr)
    print_table(_steps(summary.timings), headers=("step", "seconds", "rate"), right=(1, 2), stream=sys.stderr)
    print_table(_facts(summary), stream=sys.stderr)
    for note in summary.notes:
        typer.echo(f"note: {note}", err=True)


def _counts(summary: Summary, kept_target: str) -> list[list[str]]:
    rows: list[tuple[str, int, str]] = [
        ("read", summary.n_read, ""),
        ("exact repeats", summary.n_exact, _share(summary.n_exact, summary.n_read)),
        ("near repeats", summary.n_near, _share(summary.n_near, summary.n_read)),
        ("kept", summary.n_kept, f"in {kept_target}" if kept_target not in {"", "-"} else ""),
        *([("without text", summary.n_without_text, _without_text(summary))] if summary.n_without_text else []),
        ("bad lines", summary.n_bad_lines, ""),
        ("candidate pairs", summary.n_candidate_pairs, ""),
        ("verified pairs", summary.n_verified_pairs, ""),
        ("largest bucket", summary.blocks.largest_bucket, ""),
    ]
    return [[label, f"{number:,}", remark] for label, number, remark in rows]


def _without_text(summary: Summary) -> str:
    """Return what became of the posts without text."""
    n_of_others = summary.n_exact + summary.n_near + summary.n_kept
    return "left out" if n_of_others < summary.n_read else "among these"


def _share(n: int, total: int) -> str:
    return f"{n / total:.1%}" if total else ""


def _steps(timings: list[StepTiming]) -> list[list[str]]:
    rows = [[step.step, f"{step.seconds:.2f}", f"{step.rate:,.0f} {step.unit}/s"] for step in timings]
    seconds = sum(step.seconds for step in timings)
    n_posts = max((step.n for step in timings if step.unit == "posts"), default=0)
    return [*rows, ["all", f"{seconds:.2f}", f"{StepTiming('all', seconds, n_posts, 'posts').rate:,.0f} posts/s"]]


def _facts(summary: Summary) -> list[list[str]]:
    return [
        ["limits hit", _limits(summary)],
        ["stage-1 recall", _recall(summary)],
        ["block index", summary.blocks.shape or "unknown"],
        ["recipe id", summary.recipe_id],
        ["config", summary.config],
        ["workers", str(summary.workers)],
    ]


def _limits(summary: Summary) -> str:
    hit = {name: n for name, n in summary.blocks.limits_hit.items() if n}
    return ", ".join(f"{name} {n:,} times" for name, n in hit.items()) or "none"


def _recall(summary: Summary) -> str:
    recall, margin = summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin
    if recall is None:
        return "not estimated"
    return f"{recall:.4f} (estimated" + (f", +/- {margin:.4f})" if margin else ")")


def print_bad_records(records: Sequence[BadRecord], n_bad: int, remedy: str) -> None:
    """Print how many records were bad and what became of them, then the first few with their places."""
    if n_bad == 0:
        return
    typer.echo(f"{n_bad:,} bad {'line' if n_bad == 1 else 'lines'}: {remedy}", err=True)
    shown = records[:MAX_BAD_SHOWN]
    for record in shown:
        typer.echo(f"  {_place(record)}: {record.reason}", err=True)
    if n_bad > len(shown):
        typer.echo(f"  and {n_bad - len(shown):,} more", err=True)


def _place(record: BadRecord) -> str:
    return f"{record.source}:{record.line}" if record.line else f"{record.source}, record {record.row + 1}"
