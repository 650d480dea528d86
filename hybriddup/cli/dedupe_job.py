"""What `hybriddup dedupe` does: read, run the pipeline, copy what is kept, say what was done."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import orjson
import typer

from hybriddup.cli.stopping import on_stop
from hybriddup.cli.summary_view import print_bad_records, print_summary
from hybriddup.config import Settings, open_session
from hybriddup.config.settings import KeepHighest
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
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.result import Result
from hybriddup.run.summary import StepTiming
from hybriddup.run.terminal import show_progress
from hybriddup.steps.parallel import available_workers


@dataclass(frozen=True)
class Request:
    """What the user asked for; the fields are the options of the command."""

    inputs: tuple[str, ...]
    output: str | None
    removed: str | None
    bad: str | None
    summary: str | None
    save_recipe: str | None
    force: bool
    config: str
    plugins: tuple[str, ...]
    text_field: str
    id_field: str
    format: str | None
    workers: int | None
    strict: bool
    dry_run: bool
    quiet: bool


@dataclass(frozen=True)
class Targets:
    """The outputs of a run; None where one is not wanted."""

    kept: Output | None
    removed: Output | None
    bad: Output | None
    summary: Output | None
    recipe: Output | None = None


def perform(request: Request) -> int:
    """Deduplicate files and return the number of bad lines."""
    settings, manager = open_session(request.config, request.plugins)
    with Outputs(request.inputs, force=request.force) as outputs:
        on_stop(outputs.abandon)
        targets = plan_targets(request, outputs)
        with (
            open_inputs(request.inputs, manager.registry, request.format) as inputs,
            show_progress(quiet=request.quiet) as progress,
        ):
            corpus, result = decide(request, inputs, settings, manager, progress)
            write(inputs, targets, corpus, result, progress)
        if targets.summary is not None:
            write_summary(targets.summary, request, settings, corpus, result)
        if targets.recipe is not None and result.recipe is not None:
            with targets.recipe.open() as stream:
                result.recipe.write(stream)
        outputs.commit()
    report(request, targets, corpus, result)
    return corpus.n_bad_records


def plan_targets(request: Request, outputs: Outputs) -> Targets:
    """Return the outputs that were asked for, checked before anything is read."""
    if request.dry_run:
        if request.summary not in {None, STANDARD_OUTPUT}:
            raise OutputError(
                f"--summary {request.summary} is a file, but --dry-run writes none; use --summary - to print it."
            )
        return Targets(None, None, None, outputs.add("-", "--summary") if request.summary else None)

    def optional(target: str | None, option: str) -> Output | None:
        return None if target is None else outputs.add(target, option)

    return Targets(
        outputs.add(request.output or default_output(request.inputs[0]), "-o"),
        optional(request.removed, "--removed"),
        optional(request.bad, "--bad"),
        optional(request.summary, "--summary"),
        optional(request.save_recipe, "--save-recipe"),
    )


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


def decide(
    request: Request, inputs: Inputs, settings: Settings, manager: PluginManager, progress: Progress
) -> tuple[Corpus, Result]:
    """Return the posts and what was decided about them."""
    order_field = settings.keep.highest if isinstance(settings.keep, KeepHighest) else None
    fields = Fields(request.text_field, request.id_field, order_field)
    progress.start("read", None, "posts")
    began = perf_counter()
    corpus, notes = read_corpus(inputs, fields, strict=request.strict, advance=progress.advance)
    reading = StepTiming("read", perf_counter() - began, corpus.n_rows, "posts")
    progress.finish()
    workers = request.workers or available_workers()
    result = run(corpus, settings, manager.registry, workers=workers, progress=progress, config_name=request.config)
    manager.run_finished(result)
    result.summary.timings.insert(0, reading)
    result.summary.notes += notes + _notes_on_name(request, inputs, manager.registry)
    return corpus, result


def _notes_on_name(request: Request, inputs: Inputs, registry: Registry) -> list[str]:
    """Return a remark where the name of the output promises another format than it has."""
    if request.output in {None, STANDARD_OUTPUT} or request.dry_run or request.format:
        return []
    try:
        promised = find_format(str(request.output), registry)
    except InputError:
        return []
    if promised == inputs.format:
        return []
    return [f"{request.output} holds {inputs.format}, the format of the input, whatever its name says."]


def write(inputs: Inputs, targets: Targets, corpus: Corpus, result: Result, progress: Progress) -> None:
    """Write kept, removed and bad records to temporary files, or to streams."""
    if targets.kept is None:
        return
    progress.start("write", corpus.n_rows, "posts")
    began = perf_counter()
    inputs.check_unchanged()
    copy(inputs, targets.kept, rows_chosen(result.kept, corpus.n_rows))
    if targets.bad is not None:
        copy(inputs, targets.bad, ~rows_chosen(corpus.rows, corpus.n_rows))
    if targets.removed is not None:
        with targets.removed.open() as stream:
            write_removed(stream, result.removed)
    inputs.check_unchanged()
    result.summary.timings.append(StepTiming("write", perf_counter() - began, corpus.n_rows, "posts"))
    progress.finish()


def rows_chosen(rows: object, n_rows: int) -> Bools:
    """Return bool[n_rows], true at the given rows."""
    chosen = np.zeros(n_rows, np.bool_)
    chosen[np.asarray(rows, np.int64)] = True
    return chosen


def copy(inputs: Inputs, output: Output, keep: Bools) -> None:
    """Copy the chosen records of the inputs to an output."""
    with output.open() as stream:
        inputs.writer.write(inputs.sources, stream, keep)


def write_summary(output: Output, request: Request, settings: Settings, corpus: Corpus, result: Result) -> None:
    """Write the summary for machines, with what is needed to repeat the run."""
    data = {
        **result.summary.to_dict(),
        "inputs": list(request.inputs),
        "settings": settings.to_dict(),
        "bad_records": list(map(asdict, corpus.bad_records)),
    }
    with output.open() as stream:
        stream.write(indented(data))


def indented(data: dict[str, Any]) -> bytes:
    """Return JSON for people and machines."""
    try:
        return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # lone surrogates, which stand for the bytes of a file name that is not UTF-8
        return json.dumps(data, indent=2).encode() + b"\n"


def report(request: Request, targets: Targets, corpus: Corpus, result: Result) -> None:
    """Show the summary and the first bad lines on standard error."""
    if not request.quiet:
        print_summary(result.summary, "" if targets.kept is None else targets.kept.target)
    saved = request.bad if not request.dry_run else None
    remedy = f"saved in {saved}" if saved else "neither kept nor removed; save them with --bad FILE"
    print_bad_records(corpus.bad_records, corpus.n_bad_records, remedy)
    if request.dry_run and not request.quiet:
        typer.echo("dry run: nothing was written", err=True)
