"""Writes the outputs of a run over files; their names are chosen and checked before posts are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from time import perf_counter
from typing import cast

import numpy as np

from hybriddup.config import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.marks import Marks, clusters_table, removed_table
from hybriddup.data.records import Bools, Int64s
from hybriddup.data.tallies import Tallies
from hybriddup.errors import InputError, OutputError
from hybriddup.files.compression import split_compression
from hybriddup.files.formats import MarkingWriter
from hybriddup.files.inputs import TEXT_FORMATS, Inputs, listed, output_endings
from hybriddup.files.output_names import CLUSTERS, PLAIN_TEXT, RECIPE, REMOVED, REPORT, SUMMARY, Kind, check_ending
from hybriddup.files.outputs import STANDARD_OUTPUT, Output, Outputs
from hybriddup.files.sources import STANDARD_INPUT
from hybriddup.files.table_names import EXAMPLE, FORMAT, is_table
from hybriddup.files.tables import need_writer, to_json, write_table
from hybriddup.plugin.registry import Registry
from hybriddup.run.progress import Progress
from hybriddup.run.report.page import check_installed
from hybriddup.run.result import Result
from hybriddup.run.summary import StepTiming

KINDS = {
    "--removed": REMOVED,
    "--clusters": CLUSTERS,
    "--summary": SUMMARY,
    "--report": REPORT,
    "--save-recipe": RECIPE,
}
"""Kinds of outputs, by option. Outputs of posts are not listed: they have the format of the input."""


def plan_outputs(wanted: Mapping[str, str | None], outputs: Outputs, *, dry_run: bool) -> dict[str, Output]:
    """Check the requested outputs before anything is read; return the outputs by option, such as ``--report``."""
    if wanted["--report"] is not None:
        check_installed()
    if dry_run:
        for option, kind in KINDS.items():
            if name := wanted[option]:
                check_ending(name, option, kind)
        summary, report = wanted["--summary"], wanted["--report"]
        if summary not in {None, STANDARD_OUTPUT}:
            raise OutputError(f"--summary {summary} is a file, but --dry-run writes none; use --summary - to print it.")
        if report is not None:
            raise OutputError(f"--report {report} is a file, but --dry-run writes none; leave one of the two out.")
        wanted = {"--summary": summary}
    for option in ("--removed", "--clusters"):
        if name := wanted.get(option):
            need_writer(name)
    return {
        option: outputs.add(target, option, KINDS.get(option))
        for option, target in wanted.items()
        if target is not None
    }


def default_output(name: str, what: str = "kept") -> str:
    """Return the default output for an input: its name with ``what`` added, as in ``posts.kept.txt`` or ``TABLE_kept``.

    The result is standard output if the input is standard input, or not a regular file.
    """
    path = Path(name)
    if name == STANDARD_INPUT or (path.exists() and not path.is_file()):
        return STANDARD_OUTPUT
    if is_table(name):
        return f"{name}_{what}"
    plain, compression = split_compression(path.name)
    suffix = Path(plain).suffix
    ending = f".{what}{'.jsonl' if suffix == '.js' else suffix}" + (f".{compression}" if compression else "")
    return str(path.with_name(plain.removesuffix(suffix) + ending))


def check_tables(names: Mapping[str, str | None], inputs: Inputs) -> None:
    """Raise OutputError if posts of a table would be written to a file, or posts of files to a table."""
    for option, name in names.items():
        if name is not None and is_table(name) != (inputs.format == FORMAT):
            into = "files, not tables" if is_table(name) else f"tables; name one, as in {EXAMPLE}"
            raise OutputError(
                f"{option} {name}: posts keep the format of the input, {inputs.format}, and are written to {into}."
            )


def check_endings(names: Mapping[str, str | None], inputs: Inputs, registry: Registry) -> None:
    """Raise OutputError if an output for posts has the file ending of a format other than the input's."""
    endings = output_endings(inputs, registry)
    what = f"posts keep the format of the input, {inputs.format}, and are"
    for option, name in names.items():
        if name is not None and name != STANDARD_OUTPUT and not is_table(name):
            of_text = PLAIN_TEXT if option == "--bad" and inputs.format in TEXT_FORMATS else ()
            check_ending(name, option, Kind(what, (*endings, *of_text)))


def target_of(inputs: Sequence[str], output: str | None, *, mark: bool, dry_run: bool) -> str:
    """Return the name of the output for posts: ``output``, or else `default_output` of the first input.

    ``mark``: the output has all posts, with marks. Raises OutputError if there are several inputs but no ``output``,
    unless nothing is written (``dry_run``) or the posts go to standard output.
    """
    target = default_output(inputs[0], "marked" if mark else "kept") if output is None else output
    if len(inputs) > 1 and not (output is not None or target == STANDARD_OUTPUT or dry_run):
        raise OutputError(f"{len(inputs):,} inputs, and no -o: name one file for all kept posts, with -o KEPT.")
    return target


def check_marks(inputs: Inputs, names: Sequence[str], option: str) -> None:
    """Raise InputError if the inputs' format cannot store marks, or posts already have a field among ``names``."""
    marking_writer(inputs, option).check_marks(inputs.sources, names)


def marking_writer(inputs: Inputs, option: str = "--mark") -> MarkingWriter:
    """Return the writer of the inputs' format; raise InputError if it cannot add marks to posts."""
    if not hasattr(inputs.writer, "write_marked"):
        raise InputError(
            f"{option} writes fields into each post, for which the format {inputs.format!r} has no room; use --removed "
            f"FILE, which names each removed post by its row, or give the posts as JSON Lines, CSV or Parquet."
        )
    return cast("MarkingWriter", inputs.writer)


def write(
    inputs: Inputs,
    outputs: Mapping[str, Output],
    corpus: Corpus,
    result: Result,
    progress: Progress,
    *,
    mark: bool,
    tallies: Tallies | None,
) -> None:
    """Write all requested outputs except summary and report, to temporary files or to streams."""
    if "-o" not in outputs:
        return
    progress.start("write", corpus.n_rows, "posts")
    began = perf_counter()
    inputs.check_unchanged()
    write_posts(inputs, outputs, corpus, result, mark=mark, tallies=tallies)
    for option, make_table in (("--removed", removed_table), ("--clusters", clusters_table)):
        if option in outputs:
            with outputs[option].open() as stream:
                write_table(stream, outputs[option].target, make_table(result.removed))
    inputs.check_unchanged()
    result.summary.timings.append(StepTiming("write", perf_counter() - began, corpus.n_rows, "posts"))
    progress.finish()
    if "--save-recipe" in outputs and result.recipe is not None:
        with outputs["--save-recipe"].open() as stream:
            result.recipe.write(stream)


def write_posts(
    inputs: Inputs,
    outputs: Mapping[str, Output],
    corpus: Corpus,
    result: Result,
    *,
    mark: bool,
    tallies: Tallies | None,
) -> None:
    """Write the kept posts, or all posts with marks if ``mark``; and the bad lines, if requested."""
    are_posts = rows_chosen(corpus.rows[corpus.n_against :], corpus.n_rows)
    chosen = are_posts if mark else rows_chosen(result.kept_rows, corpus.n_rows)
    if tallies is not None:
        marks = Marks(result.removed, corpus.n_rows, tallies, with_keepers=mark)
        with outputs["-o"].open() as stream:
            marking_writer(inputs).write_marked(inputs.sources, stream, chosen, marks)
    else:
        copy(inputs, outputs["-o"], chosen)
    if "--bad" in outputs:
        copy(inputs, outputs["--bad"], ~are_posts)


def rows_chosen(rows: Int64s, n_rows: int) -> Bools:
    """Return bool[n_rows]: True for the given rows."""
    chosen = np.zeros(n_rows, np.bool_)
    chosen[rows] = True
    return chosen


def copy(inputs: Inputs, output: Output, keep: Bools) -> None:
    """Copy to an output the input records whose row is True in ``keep``, bool[n_rows]."""
    with output.open() as stream:
        inputs.writer.write(inputs.sources, stream, keep)


def write_summary(
    outputs: Mapping[str, Output],
    inputs: Sequence[str],
    against: Sequence[str],
    settings: Settings,
    corpus: Corpus,
    result: Result,
) -> None:
    """Write the summary as JSON, if requested, with inputs and settings, so that the run can be repeated."""
    if "--summary" not in outputs:
        return
    data = {
        **result.summary.to_dict(),
        "inputs": list(inputs),
        "against": list(against),
        "settings": settings.to_dict(),
        "bad_records": list(map(asdict, corpus.bad_records)),
    }
    with outputs["--summary"].open() as stream:
        stream.write(to_json(data))


def write_report(outputs: Mapping[str, Output], inputs: Sequence[str], result: Result, progress: Progress) -> None:
    """Write the HTML report, if requested."""
    if "--report" not in outputs:
        return
    progress.start("report", result.n_rows, "posts")
    with outputs["--report"].open() as stream:
        result.report(stream, name=listed([PurePath(name).name for name in inputs]))
    progress.finish()
