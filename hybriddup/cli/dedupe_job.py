"""What `hybriddup dedupe` does: read, run the pipeline, copy what is kept, say what was done."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import orjson
import typer

from hybriddup.cli.stopping import on_stop
from hybriddup.cli.summary_view import print_bad_records, print_summary
from hybriddup.config import Settings, open_session
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Bools
from hybriddup.errors import InputError, OutputError
from hybriddup.files.compression import split_compression
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import Inputs, find_format, open_inputs, read_corpus
from hybriddup.files.jsonl import write_removed
from hybriddup.files.outputs import STANDARD_OUTPUT, Output, Outputs
from hybriddup.files.sources import STANDARD_INPUT
from hybriddup.plugin.manager import PluginManager
from hybriddup.plugin.registry import Registry
from hybriddup.report.page import check_installed
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.result import TIME_FIELD, Result
from hybriddup.run.summary import StepTiming, Summary
from hybriddup.run.terminal import show_progress
from hybriddup.steps.parallel import available_workers


def perform(
    inputs: Sequence[str],
    *,
    targets: Mapping[str, str | None],
    force: bool,
    config: str,
    plugins: Sequence[str],
    text_field: str,
    id_field: str,
    format_name: str | None,
    max_line: int,
    workers: int | None,
    strict: bool,
    dry_run: bool,
    quiet: bool,
) -> int:
    """Deduplicate files and return the number of bad lines.

    Parameters
    ----------
    targets
        Where outputs go, by the options that name them; None where one is not wanted, or goes where it does by default.
    """
    settings, manager = open_session(config, plugins)
    with Outputs(inputs, force=force) as outputs, show_progress(quiet=quiet) as progress:
        on_stop(outputs.abandon)
        wanted = {**targets, "-o": targets["-o"] or default_output(inputs[0])}
        planned = plan_outputs(wanted, outputs, dry_run=dry_run)
        fields = Fields(text_field, id_field, settings.order_fields)
        with open_inputs(inputs, manager.registry, format_name, max_line) as opened:
            corpus, notes = read(opened, fields, progress, strict=strict, has_report="--report" in planned)
            result = decide(corpus, settings, manager, workers, config, progress)
            result.summary.timings.insert(0, notes.timing)
            result.summary.notes += notes.remarks
            if not (dry_run or format_name):
                result.summary.notes += notes_on_name(targets["-o"], opened, manager.registry)
            write(opened, planned, corpus, result, progress)
        write_summary(planned, inputs, settings, corpus, result)
        write_report(planned, result, progress)
        outputs.commit()
    report(result.summary, planned, corpus, dry_run=dry_run, quiet=quiet)
    return corpus.n_bad_records


def plan_outputs(wanted: Mapping[str, str | None], outputs: Outputs, *, dry_run: bool) -> dict[str, Output]:
    """Return the outputs that were asked for, by option, checked before anything is read."""
    if wanted["--report"] is not None:
        check_installed()
    if dry_run:
        summary, report = wanted["--summary"], wanted["--report"]
        if summary not in {None, STANDARD_OUTPUT}:
            raise OutputError(f"--summary {summary} is a file, but --dry-run writes none; use --summary - to print it.")
        if report is not None:
            raise OutputError(f"--report {report} is a file, but --dry-run writes none; leave one of the two out.")
        wanted = {"--summary": summary}
    return {option: outputs.add(target, option) for option, target in wanted.items() if target is not None}


def default_output(name: str) -> str:
    """Return where kept posts go when nothing was said.

    Examples
    --------
    >>> default_output("posts.jsonl.gz")
    'posts.kept.jsonl.gz'
    """
    path = Path(name)
    if name == STANDARD_INPUT or (path.exists() and not path.is_file()):
        return STANDARD_OUTPUT
    plain, compression = split_compression(path.name)
    suffix = Path(plain).suffix
    ending = f".kept{suffix}" + (f".{compression}" if compression else "")
    return str(path.with_name(plain.removesuffix(suffix) + ending))


class Notes(NamedTuple):
    """What reading tells the summary."""

    timing: StepTiming
    remarks: list[str]


def read(inputs: Inputs, fields: Fields, progress: Progress, *, strict: bool, has_report: bool) -> tuple[Corpus, Notes]:
    """Return the posts, and what to say of them."""
    progress.start("read", None, "posts")
    began = perf_counter()
    optional = (TIME_FIELD,) if has_report and TIME_FIELD not in fields.order else ()
    corpus, remarks = read_corpus(inputs, fields, optional=optional, strict=strict, advance=progress.advance)
    progress.finish()
    return corpus, Notes(StepTiming("read", perf_counter() - began, corpus.n_rows, "posts"), remarks)


def decide(
    corpus: Corpus,
    settings: Settings,
    manager: PluginManager,
    workers: int | None,
    config: str,
    progress: Progress,
) -> Result:
    """Return what was decided about the posts, which plugins have looked at."""
    n_workers = workers or available_workers()
    result = run(corpus, settings, manager.registry, workers=n_workers, progress=progress, config_name=config)
    manager.run_finished(result)
    return result


def notes_on_name(output: str | None, inputs: Inputs, registry: Registry) -> list[str]:
    """Return a remark where the name of the output promises another format than it has."""
    if output in {None, STANDARD_OUTPUT}:
        return []
    try:
        promised = find_format(str(output), registry)
    except InputError:
        return []
    if promised == inputs.format:
        return []
    return [f"{output} holds {inputs.format}, the format of the input, whatever its name says."]


def write(inputs: Inputs, outputs: Mapping[str, Output], corpus: Corpus, result: Result, progress: Progress) -> None:
    """Write kept, removed and bad records, and what was learned, to temporary files, or to streams."""
    if "-o" not in outputs:
        return
    progress.start("write", corpus.n_rows, "posts")
    began = perf_counter()
    inputs.check_unchanged()
    copy(inputs, outputs["-o"], rows_chosen(result.kept, corpus.n_rows))
    if "--bad" in outputs:
        copy(inputs, outputs["--bad"], ~rows_chosen(corpus.rows, corpus.n_rows))
    if "--removed" in outputs:
        with outputs["--removed"].open() as stream:
            write_removed(stream, result.removed)
    inputs.check_unchanged()
    result.summary.timings.append(StepTiming("write", perf_counter() - began, corpus.n_rows, "posts"))
    progress.finish()
    if "--save-recipe" in outputs and result.recipe is not None:
        with outputs["--save-recipe"].open() as stream:
            result.recipe.write(stream)


def rows_chosen(rows: object, n_rows: int) -> Bools:
    """Return bool[n_rows], true at the given rows."""
    chosen = np.zeros(n_rows, np.bool_)
    chosen[np.asarray(rows, np.int64)] = True
    return chosen


def copy(inputs: Inputs, output: Output, keep: Bools) -> None:
    """Copy the chosen records of the inputs to an output."""
    with output.open() as stream:
        inputs.writer.write(inputs.sources, stream, keep)


def write_summary(
    outputs: Mapping[str, Output], inputs: Sequence[str], settings: Settings, corpus: Corpus, result: Result
) -> None:
    """Write the summary for machines, where it is wanted, with what is needed to repeat the run."""
    if "--summary" not in outputs:
        return
    data = {
        **result.summary.to_dict(),
        "inputs": list(inputs),
        "settings": settings.to_dict(),
        "bad_records": list(map(asdict, corpus.bad_records)),
    }
    with outputs["--summary"].open() as stream:
        stream.write(indented(data))


def write_report(outputs: Mapping[str, Output], result: Result, progress: Progress) -> None:
    """Write the report for people, where it is wanted."""
    if "--report" not in outputs:
        return
    progress.start("report", result.n_rows, "posts")
    with outputs["--report"].open() as stream:
        result.report(stream)
    progress.finish()


def indented(data: dict[str, Any]) -> bytes:
    """Return JSON for people and machines."""
    try:
        return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, which stand for the bytes of a file name that is not UTF-8
        return json.dumps(data, indent=2).encode() + b"\n"


def report(summary: Summary, outputs: Mapping[str, Output], corpus: Corpus, *, dry_run: bool, quiet: bool) -> None:
    """Show the summary and the first bad lines on standard error."""
    if not quiet:
        print_summary(summary, outputs["-o"].target if "-o" in outputs else "")
    saved = f"saved in {outputs['--bad'].target}" if "--bad" in outputs else ""
    remedy = saved or "neither kept nor removed; save them with --bad FILE"
    print_bad_records(corpus.bad_records, corpus.n_bad_records, remedy)
    if dry_run and not quiet:
        typer.echo("dry run: nothing was written", err=True)
