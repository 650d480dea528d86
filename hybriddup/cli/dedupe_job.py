"""What `hybriddup dedupe` does: read, run the pipeline, copy what is kept, say what was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import cast

import numpy as np

from hybriddup.cli.dedupe_outputs import check_endings, default_output, plan_outputs
from hybriddup.cli.inputs import check_against, files_of, read_against, read_posts
from hybriddup.cli.printing import to_json
from hybriddup.cli.stopping import on_stop
from hybriddup.cli.summary_view import print_bad_records, print_notes, print_outcome, print_tables
from hybriddup.config import Settings, open_session
from hybriddup.config.load import with_threshold
from hybriddup.data.corpus import Corpus
from hybriddup.data.marks import MARKS, Marks, clusters_table, removed_table
from hybriddup.data.records import Bools, Int64s
from hybriddup.data.removed import RemovedPosts
from hybriddup.errors import InputError, OutputError
from hybriddup.files.formats import Fields, MarkingWriter
from hybriddup.files.inputs import Inputs, ReadOptions, open_inputs
from hybriddup.files.outputs import STANDARD_OUTPUT, Output, Outputs
from hybriddup.files.tables import write_table
from hybriddup.kernels.cache import set_up_without_blas
from hybriddup.plugin.manager import PluginManager
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.result import TIME_FIELD, Result
from hybriddup.run.summary import StepTiming, Summary
from hybriddup.run.terminal import COURSE_OF_A_RUN, show_progress
from hybriddup.steps.parallel import available_workers


def perform(
    inputs: Sequence[str],
    *,
    mark: bool,
    against: Sequence[str] | None,
    force: bool,
    config: str,
    threshold: float | None,
    plugins: Sequence[str],
    text_field: str,
    id_field: str,
    per: str | None,
    reading: ReadOptions,
    workers: int | None,
    strict: bool,
    dry_run: bool,
    verbose: bool,
    quiet: bool,
    output: str | None,
    **others: str | None,
) -> int:
    """Deduplicate files and return the exit code.

    Kept posts go to ``output``, or where they do by default; ``others`` are further outputs, by their options' names.
    """
    settings, manager, meaning = open_settings(config, plugins, threshold)
    inputs, against = files_of(inputs, manager.registry, reading, quiet=quiet), against or ()
    target = default_output(inputs[0], "marked" if mark else "kept") if output is None else output
    if len(inputs) > 1 and not (output is not None or target == STANDARD_OUTPUT or dry_run):
        raise OutputError(f"{len(inputs):,} inputs, and no -o: name one file for what is kept of all, with -o KEPT.")
    check_against(inputs, against)
    shown = show_progress(quiet=quiet, course=COURSE_OF_A_RUN)
    with Outputs([*inputs, *against], force=force) as outputs, shown as progress:
        on_stop(outputs.abandon)
        wanted = {"-o": target} | {f"--{name.replace('_', '-')}": file for name, file in others.items()}
        planned = plan_outputs(wanted, outputs, dry_run=dry_run)
        with open_inputs(inputs, manager.registry, reading) as opened:
            if reading.format is None:
                check_endings({"-o": output, "--bad": others["bad"]}, opened, manager.registry)
            if mark:
                marking_writer(opened).check_marks(opened.sources, MARKS)
            fields = Fields(text_field, id_field, settings.order_fields)
            corpus, timing, remarks = read(
                opened, fields, per, progress, strict=strict, has_report="--report" in planned
            )
            corpus, of_others = read_against(corpus, against, manager.registry, fields, per, reading, strict, progress)
            result = decide(corpus, settings, manager, workers, config, per, progress)
            result.summary.timings.insert(0, timing)
            result.summary.notes += meaning + remarks + of_others
            write(opened, planned, corpus, result, progress, mark=mark)
        write_summary(planned, inputs, against, settings, corpus, result)
        write_report(planned, result, progress)
        outputs.commit()
    return report(result.summary, planned, corpus, against, mark=mark, verbose=verbose, quiet=quiet)


def open_settings(
    config: str, plugins: Sequence[str], threshold: float | None
) -> tuple[Settings, PluginManager, list[str]]:
    """Return the settings, the plugins, and what to say of a threshold that was given."""
    settings, manager = open_session(config, plugins)
    if threshold is None:
        return settings, manager, []
    settings, meaning = with_threshold(settings, threshold, config)
    return settings, manager, [f"--threshold: {meaning}."]


def marking_writer(inputs: Inputs) -> MarkingWriter:
    """Return the writer of the inputs' format as one that can mark posts; InputError where it cannot."""
    if not hasattr(inputs.writer, "write_marked"):
        raise InputError(
            f"--mark writes fields into each post, for which the format {inputs.format!r} has no room; use --removed "
            f"FILE, which names each removed post by its row, or give the posts as JSON Lines, CSV or Parquet."
        )
    return cast("MarkingWriter", inputs.writer)


def read(
    inputs: Inputs, fields: Fields, per: str | None, progress: Progress, *, strict: bool, has_report: bool
) -> tuple[Corpus, StepTiming, list[str]]:
    """Return the posts, how long it took, and remarks."""
    began = perf_counter()
    optional = (TIME_FIELD,) if has_report else ()
    corpus, remarks = read_posts(inputs, fields, progress, per=per, optional=optional, strict=strict)
    return corpus, StepTiming("read", perf_counter() - began, corpus.n_rows, "posts"), remarks


def decide(
    corpus: Corpus,
    settings: Settings,
    manager: PluginManager,
    workers: int | None,
    config: str,
    per: str | None,
    progress: Progress,
) -> Result:
    """Return what was decided about the posts, which plugins have looked at."""
    n_workers = workers or available_workers()
    set_up_without_blas()
    result = run(corpus, settings, manager.registry, workers=n_workers, progress=progress, config_name=config, per=per)
    manager.run_finished(result)
    return result


def write(
    inputs: Inputs, outputs: Mapping[str, Output], corpus: Corpus, result: Result, progress: Progress, *, mark: bool
) -> None:
    """Write posts, tables and what was learned to temporary files, or to streams."""
    if "-o" not in outputs:
        return
    progress.start("write", corpus.n_rows, "posts")
    began = perf_counter()
    inputs.check_unchanged()
    write_posts(inputs, outputs, corpus, result, mark=mark)
    removed = cast("RemovedPosts", result.removed)
    for option, make_table in (("--removed", removed_table), ("--clusters", clusters_table)):
        if option in outputs:
            with outputs[option].open() as stream:
                write_table(stream, outputs[option].target, make_table(removed))
    inputs.check_unchanged()
    result.summary.timings.append(StepTiming("write", perf_counter() - began, corpus.n_rows, "posts"))
    progress.finish()
    if "--save-recipe" in outputs and result.recipe is not None:
        with outputs["--save-recipe"].open() as stream:
            result.recipe.write(stream)


def write_posts(inputs: Inputs, outputs: Mapping[str, Output], corpus: Corpus, result: Result, *, mark: bool) -> None:
    """Write the kept posts, or all with marks, and the bad lines."""
    are_posts = rows_chosen(corpus.rows[corpus.n_against :], corpus.n_rows)
    if mark:
        marks = Marks(cast("RemovedPosts", result.removed), corpus.n_rows)
        with outputs["-o"].open() as stream:
            marking_writer(inputs).write_marked(inputs.sources, stream, are_posts, marks)
    else:
        copy(inputs, outputs["-o"], rows_chosen(result.kept_rows, corpus.n_rows))
    if "--bad" in outputs:
        copy(inputs, outputs["--bad"], ~are_posts)


def rows_chosen(rows: Int64s, n_rows: int) -> Bools:
    """Return bool[n_rows], true at the given rows."""
    chosen = np.zeros(n_rows, np.bool_)
    chosen[rows] = True
    return chosen


def copy(inputs: Inputs, output: Output, keep: Bools) -> None:
    """Copy the chosen records of the inputs to an output."""
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
    """Write the summary for machines, where it is wanted, with what is needed to repeat the run."""
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


def write_report(outputs: Mapping[str, Output], result: Result, progress: Progress) -> None:
    """Write the report for people, where it is wanted."""
    if "--report" not in outputs:
        return
    progress.start("report", result.n_rows, "posts")
    with outputs["--report"].open() as stream:
        result.report(stream)
    progress.finish()


def report(
    summary: Summary,
    outputs: Mapping[str, Output],
    corpus: Corpus,
    against: Sequence[str],
    *,
    mark: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Say on standard error what became of the posts, then show the first bad lines, then remarks; return the code."""
    if verbose:
        print_tables(summary)
    if not quiet:
        print_outcome(summary, outputs["-o"].target if "-o" in outputs else None, against, mark=mark)
    saved = f"saved in {outputs['--bad'].target}" if "--bad" in outputs else ""
    remedy = saved or "neither kept nor removed; save them with --bad FILE"
    code = print_bad_records(corpus.bad_records, corpus.n_bad_records, remedy)
    if not quiet:
        print_notes(summary)
    return code
