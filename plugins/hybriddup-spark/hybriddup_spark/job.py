"""The job of `hybriddup spark dedupe`: read, decide, write, report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from rich.console import Console

from hybriddup.errors import InputError, OutputError
from hybriddup.run.report.page import check_installed
from hybriddup_spark.evidence import check_marks
from hybriddup_spark.fields import Fields
from hybriddup_spark.reading import other_header, read
from hybriddup_spark.result import OUTPUTS, SparkSummary
from hybriddup_spark.running import dedupe
from hybriddup_spark.task_counter import context_of

REPORTED_POSTS = 20_000
"""Approximate number of posts in a report."""


def perform(
    inputs: Sequence[str],
    output: str,
    *,
    config: str,
    text_field: str,
    id_field: str,
    order_by: Sequence[str],
    per: Sequence[str] = (),
    against: Sequence[str] = (),
    mark: bool = False,
    report: str | None = None,
    format_name: str | None,
    work: str | None,
    plugins: Sequence[str],
    quiet: bool,
) -> None:
    """Decide the posts of files, and write kept and removed posts."""
    if not order_by:
        raise InputError("--order-by: name the column that orders the posts; files on Spark have no order.")
    if report is not None:
        check_installed()
    session = open_session()
    check_free(session, output)
    if both := set(inputs) & set(against):
        raise InputError(f"--against {min(both)} is also an input, so that all its posts would repeat themselves.")
    posts = read(session, inputs, format_name, text_field)
    others = read(session, against, None, text_field) if against else None
    if mark:
        check_marks(posts.columns, Fields(text_field, id_field, tuple(order_by)))
    console = Console(stderr=True, quiet=quiet)
    try:
        result = dedupe(
            posts,
            config=config,
            text=text_field,
            id=id_field,
            order_by=order_by,
            per=per,
            against=others,
            work=work,
            plugins=plugins,
            advance=lambda n: console.print(f"{n:,} posts decided"),
        )
    except Exception as error:
        if refused := other_header(error):
            raise refused from error
        raise
    result.write(output, mark=mark)
    if report is not None:
        result.sample(REPORTED_POSTS).report(report, name=", ".join(inputs))
    console.print(describe(result.summary, output, mark=mark), soft_wrap=True)


def open_session() -> SparkSession:
    """Return the session that spark-submit configured, else a session on this machine."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.appName("hybriddup").getOrCreate()
    if (context := context_of(session)) is not None:
        context.setLogLevel("ERROR")
    return session


def check_free(session: SparkSession, output: str) -> None:
    """Check that the output directories do not exist.

    Raises
    ------
    OutputError
        One exists, or cannot be checked.
    """
    for name in OUTPUTS:
        try:
            session.read.text(f"{output}/{name}")
        except AnalysisException as error:
            if error.getCondition() == "PATH_NOT_FOUND":
                continue
            raise OutputError(f"{output}: {error.getCondition()}. Name a directory that can be written to.") from error
        raise OutputError(f"{output}/{name} exists already. Name another directory, or delete it.")


def describe(summary: SparkSummary, output: str, *, mark: bool = False) -> str:
    """Return the final message of a run: counts and notes."""
    n_removed = summary.n_exact + summary.n_near
    share = n_removed / summary.n_read if summary.n_read else 0.0
    of_others = f"; {summary.n_removed_against:,} of them repeat posts of --against" if summary.n_against else ""
    posts_in = "marked" if mark else "kept"
    remarks = [f"{summary.n_bad:,} records had no text, or could not be read."] if summary.n_bad else []
    if n := summary.n_repeated_ids:
        posts = "1 post has" if n == 1 else f"{n:,} posts have"
        remarks.append(f"{posts} the id of another one: ids do not identify them.")
    remarks += order_remarks(summary)
    return (
        f"Removed {n_removed:,} of {summary.n_read:,} posts ({share:.1%}): {summary.n_exact:,} exact, "
        f"{summary.n_near:,} near{of_others}. "
        f"Kept {summary.n_kept:,} in {' '.join([f'{output}/{posts_in}.', *remarks])}"
    )


def order_remarks(summary: SparkSummary) -> list[str]:
    """Return notes on how text columns were compared."""
    remarks = []
    for name, kind in summary.compared_as.items():
        n = summary.n_without_value[name]
        without = f"; {n:,} without one came last" if n else ""
        remarks.append(f"{name!r} was compared as {kind}{without}.")
    return remarks
