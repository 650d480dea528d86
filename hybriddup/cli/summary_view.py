"""Prints the summary of a run on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from hybriddup.cli.options import EXIT_BAD_LINES
from hybriddup.cli.printing import print_table
from hybriddup.data.corpus import BadRecord
from hybriddup.run.summary import StepTiming, Summary

if TYPE_CHECKING:
    from hybriddup.run.over_files import FileRun, FinishedRun

MAX_BAD_SHOWN = 5
WORTH_TELLING = 0.9995
"""Limit for the estimated recall of the candidate search: a lower estimate is printed even without ``--verbose``."""
FOUND = (
    "Candidate search found an estimated {} of the pairs that the second stage accepts{}; repeats that it does not "
    "accept are not counted."
)


def report_run(job: FileRun, done: FinishedRun, *, verbose: bool, quiet: bool) -> int:
    """Print the results of a run, the first bad lines and remarks on standard error; return the exit code."""
    summary, outputs, corpus = done.result.summary, done.outputs, done.corpus
    if verbose:
        print_table(_counts(summary), right=(1,), stream=sys.stderr)
        print_table(_steps(summary.timings), headers=("step", "seconds", "rate"), right=(1, 2), stream=sys.stderr)
        print_table(_facts(summary), stream=sys.stderr)
    if not quiet:
        print_outcome(summary, outputs["-o"].target if "-o" in outputs else None, job)
    saved = f"saved in {outputs['--bad'].target}" if "--bad" in outputs else ""
    remedy = saved or "neither kept nor removed; save them with --bad FILE"
    code = print_bad_records(corpus.bad_records, corpus.n_bad_records, remedy)
    for note in () if quiet else summary.notes:
        typer.echo(f"note: {note}", err=True)
    return code


def print_outcome(summary: Summary, target: str | None, job: FileRun) -> None:
    """Print on standard error how many posts were removed and kept, and why repeats may have been missed.

    ``target`` is the name of the output with the kept posts, or with all posts if they are marked; None = nothing was
    written.
    """
    typer.echo(f"{_removed(summary, target, job)} {_rest(summary, target, job)}", err=True)
    if (recall := summary.estimated_stage1_recall) is not None and recall < WORTH_TELLING:
        margin = summary.estimated_stage1_recall_margin
        give_or_take = f", give or take {_percent(margin)}" if margin else ""
        typer.echo(FOUND.format(_percent(recall), give_or_take), err=True)
    if hit := _limits_hit(summary):
        typer.echo(f"Limits hit, so that repeats may have been missed: {hit}.", err=True)


def _removed(summary: Summary, target: str | None, job: FileRun) -> str:
    """Return a sentence with the number of removed posts: the total, the exact repeats and the near repeats."""
    n = summary.n_exact + summary.n_near
    verb = "Would remove" if target is None else "Marked" if job.mark else "Removed"
    if n == 0:
        return f"{verb} none of {summary.n_read:,}."
    of_others = f"; {summary.n_removed_against:,} of them repeat {', '.join(job.against)}" if job.against else ""
    kinds = f"{summary.n_exact:,} exact, {summary.n_near:,} near{of_others}"
    return f"{verb} {n:,} of {summary.n_read:,} ({_percent(n / summary.n_read)}): {kinds}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _rest(summary: Summary, target: str | None, job: FileRun) -> str:
    """Return sentences with the numbers of posts that were kept, and of posts left out of the output."""
    where = f" in {target}" if target not in {None, "-"} else ""
    if job.mark and target is not None:
        return f"Wrote all {summary.n_read:,}{where}."
    n_left_out = summary.n_read - summary.n_exact - summary.n_near - summary.n_kept - summary.n_originals
    left_out = f" Left out {n_left_out:,} without text." if n_left_out else ""
    if summary.n_originals:
        left_out += f" Left out {summary.n_originals:,} that these repeat (keep: none)."
    if target is None:
        return f"Would keep {summary.n_kept:,}.{left_out} Dry run: nothing was written."
    return f"Kept {summary.n_kept:,}{where}.{left_out}"


def _counts(summary: Summary) -> list[list[str]]:
    n_with_text = summary.n_exact + summary.n_near + summary.n_kept + summary.n_originals
    of_these = "left out" if n_with_text < summary.n_read else "among these"
    rows: list[tuple[str, int, str]] = [
        ("read", summary.n_read, ""),
        ("exact repeats", summary.n_exact, _share(summary.n_exact, summary.n_read)),
        ("near repeats", summary.n_near, _share(summary.n_near, summary.n_read)),
        ("kept", summary.n_kept, ""),
        *([("without text", summary.n_without_text, of_these)] if summary.n_without_text else []),
        *([("other posts", summary.n_against, "of --against")] if summary.n_against else []),
        ("bad lines", summary.n_bad_lines, ""),
        ("candidate pairs", summary.n_candidate_pairs, ""),
        ("verified pairs", summary.n_verified_pairs, ""),
        ("largest bucket", summary.blocks.largest_bucket, ""),
    ]
    return [[label, f"{number:,}", remark] for label, number, remark in rows]


def _share(n: int, total: int) -> str:
    return f"{n / total:.1%}" if total else ""


def _steps(timings: list[StepTiming]) -> list[list[str]]:
    rows = [[step.step, f"{step.seconds:.2f}", f"{step.rate:,.0f} {step.unit}/s"] for step in timings]
    seconds = sum(step.seconds for step in timings)
    n_posts = max((step.n for step in timings if step.unit == "posts"), default=0)
    return [*rows, ["all", f"{seconds:.2f}", f"{StepTiming('all', seconds, n_posts, 'posts').rate:,.0f} posts/s"]]


def _facts(summary: Summary) -> list[list[str]]:
    return [
        ["limits hit", _limits_hit(summary) or "none"],
        ["stage-1 recall", _recall(summary)],
        ["block index", summary.blocks.shape or "unknown"],
        ["recipe id", summary.recipe_id],
        ["config", summary.config],
        ["workers", str(summary.workers)],
    ]


def _limits_hit(summary: Summary) -> str:
    return ", ".join(f"{name} {n:,} times" for name, n in summary.blocks.limits_hit.items() if n)


def _recall(summary: Summary) -> str:
    recall, margin = summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin
    if recall is None:
        return "not estimated"
    return f"{recall:.4f} (estimated" + (f", +/- {margin:.4f})" if margin else ")")


def print_bad_records(records: Sequence[BadRecord], n_bad: int, remedy: str) -> int:
    """Print the number of bad records and the first few of them; return the exit code.

    ``remedy`` is printed after the number, such as "left out", or advice for the user.
    """
    if n_bad == 0:
        return 0
    typer.echo(f"{n_bad:,} bad {'line' if n_bad == 1 else 'lines'}: {remedy}", err=True)
    shown = records[:MAX_BAD_SHOWN]
    for record in shown:
        typer.echo(f"  {_place(record)}: {record.reason}", err=True)
    if n_bad > len(shown):
        typer.echo(f"  and {n_bad - len(shown):,} more", err=True)
    return EXIT_BAD_LINES


def _place(record: BadRecord) -> str:
    return f"{record.source}:{record.line}" if record.line else f"{record.source}, record {record.row + 1}"
