"""Runs over files, for `hybriddup dedupe` and `hybriddup.dedupe_files`.

The names of outputs are chosen and checked before posts are read; outputs get their final names at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path, PurePath
from time import perf_counter
from typing import NamedTuple, cast

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value
from hybriddup.data.marks import MARKS, TALLIES, Marks, Tallies, clusters_table, removed_table
from hybriddup.data.records import Bools, Int64s
from hybriddup.data.removed import RemovedPosts
from hybriddup.errors import InputError, OutputError
from hybriddup.files.compression import split_compression
from hybriddup.files.formats import Fields, MarkingWriter
from hybriddup.files.inputs import TEXT_FORMATS, Inputs, ReadOptions, listed, open_inputs, output_endings
from hybriddup.files.outputs import KINDS, PLAIN_TEXT, STANDARD_OUTPUT, Kind, Output, Outputs, check_ending
from hybriddup.files.sources import STANDARD_INPUT
from hybriddup.files.table_names import EXAMPLE, FORMAT, is_table
from hybriddup.files.tables import need_writer, to_json, write_table
from hybriddup.plugin.manager import PluginManager
from hybriddup.plugin.registry import Registry
from hybriddup.run.file_inputs import check_against, files_of, read_against, read_posts
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.report.page import check_installed
from hybriddup.run.result import TIME_FIELD, Result
from hybriddup.run.summary import StepTiming


@dataclass(frozen=True, kw_only=True)
class FileRun:
    """The inputs and outputs of a run, named like the options of `hybriddup dedupe`."""

    inputs: Sequence[str]
    output: str | None = None
    mark: bool = False
    counts: bool = False
    time_field: str = TIME_FIELD
    authors: str | None = None
    against: Sequence[str] = ()
    against_text_field: str | None = None
    removed: str | None = None
    clusters: str | None = None
    bad: str | None = None
    summary: str | None = None
    report: str | None = None
    save_recipe: str | None = None
    force: bool = False
    text_field: str = "text"
    id_field: str = "id"
    per: str | None = None
    reading: ReadOptions = ReadOptions()  # noqa: RUF009  immutable
    strict: bool = False
    dry_run: bool = False
    notes: Sequence[str] = ()
    """Remarks to put first in the summary."""

    @property
    def marks(self) -> list[str]:
        """Names of the fields that may be added to posts."""
        if not (self.mark or self.counts or self.authors):
            return []
        tallies = [name for name in TALLIES if self.authors is not None or name != "authors"]
        return [*(MARKS if self.mark else ()), *tallies]

    @property
    def optional(self) -> tuple[str, ...]:
        """Names of optional fields, which are read from the posts that have these fields."""
        times = (self.time_field,) if self.report or self.marks else ()
        return (*times, *(() if self.authors is None else (self.authors,)))

    def check_authors(self, corpus: Corpus) -> None:
        """Raise InputError if no post has the author field that the user named."""
        if self.authors is not None and corpus.texts and all(map(has_no_value, corpus.order_values[self.authors])):
            raise InputError(f"--authors {self.authors}: not one post has this field. Name the right one.")

    def tallies(self, removed: RemovedPosts) -> Tallies:
        """Return the number, times and authors of the copies of each kept post."""
        values = removed.corpus.order_values
        authors = None if self.authors is None else values[self.authors]
        return Tallies(removed, values.get(self.time_field), authors)


class FinishedRun(NamedTuple):
    """A finished run, whose outputs have their final names."""

    result: Result
    outputs: dict[str, Output]
    """Maps each option that names an output, such as ``--report``, to the output."""
    corpus: Corpus


def run_over_files(
    job: FileRun,
    settings: Settings,
    manager: PluginManager,
    *,
    workers: int | None,
    progress: Progress,
    config_name: str,
    on_outputs: Callable[[Outputs], object] = lambda _: None,
) -> FinishedRun:
    """Read posts, decide them, and write the requested outputs.

    ``on_outputs`` is called before anything is written. The hook of plugins for finished runs is called before the
    outputs get their final names.
    """
    registry = manager.registry
    inputs = files_of(job.inputs, registry, job.reading, progress.note)
    target = target_of(inputs, job.output, mark=job.mark, dry_run=job.dry_run)
    check_against(inputs, job.against)
    wanted = {"-o": target, "--removed": job.removed, "--clusters": job.clusters, "--bad": job.bad}
    wanted |= {"--summary": job.summary, "--report": job.report, "--save-recipe": job.save_recipe}
    with Outputs([*inputs, *job.against], force=job.force) as outputs:
        on_outputs(outputs)
        planned = plan_outputs(wanted, outputs, dry_run=job.dry_run)
        with open_inputs(inputs, registry, job.reading) as opened:
            check_names({"-o": job.output, "--bad": job.bad}, opened, None if job.reading.format else registry)
            if job.marks:
                marking_writer(opened, job).check_marks(opened.sources, job.marks)
            fields = Fields(job.text_field, job.id_field, settings.order_fields)
            times = () if settings.within is None else (job.time_field,)
            began, optional = perf_counter(), (*job.optional, *times)
            read = partial(read_posts, progress=progress, per=job.per, strict=job.strict)
            corpus, remarks = read(opened, fields, optional=optional)
            job.check_authors(corpus)
            timing = StepTiming("read", perf_counter() - began, corpus.n_rows, "posts")
            fields = Fields(job.against_text_field or job.text_field, job.id_field)
            of_other = partial(read, fields=fields, optional=times)
            corpus, of_others = read_against(corpus, job.against, registry, job.reading, of_other)
            write = partial(write_outputs, job, opened, planned, corpus, progress)
            # files are put in place at the end, but data in a stream cannot be taken back
            has_stream = any(one.is_stream for option, one in planned.items() if option != "--summary")
            result = run(
                corpus,
                settings,
                registry,
                workers=workers,
                progress=progress,
                config_name=config_name,
                per=job.per,
                time_field=job.time_field,
                authors=job.authors,
                while_auditing=None if has_stream else write,
            )
            manager.run_finished(result)
            if has_stream:
                write(result)
            result.summary.timings.insert(0, timing)
            result.summary.notes += [*job.notes, *remarks, *of_others]
        if "--summary" in planned:
            details = {"inputs": inputs, "against": list(job.against), "settings": settings.to_dict()}
            bad_records = list(map(asdict, corpus.bad_records))
            with planned["--summary"].open() as stream:
                stream.write(to_json({**result.summary.to_dict(), **details, "bad_records": bad_records}))
        if "--report" in planned:
            progress.start("report", result.n_rows, "posts")
            with planned["--report"].open() as stream:
                result.report(stream, name=listed([PurePath(name).name for name in inputs]))
            progress.finish()
        outputs.commit()
    return FinishedRun(result, planned, corpus)


def plan_outputs(wanted: Mapping[str, str | None], outputs: Outputs, *, dry_run: bool) -> dict[str, Output]:
    """Check the requested outputs before anything is read; return the outputs by option, such as ``--report``."""
    if wanted["--report"] is not None:
        check_installed()
    if dry_run:
        for option, kind in KINDS.items():
            if name := wanted[option]:
                check_ending(name, option, kind)
        for option, instead in (("--summary", "use --summary - to print it"), ("--report", "leave one of the two out")):
            if wanted[option] not in {None, STANDARD_OUTPUT}:
                raise OutputError(f"{option} {wanted[option]} is a file, but --dry-run writes none; {instead}.")
        wanted = {"--summary": wanted["--summary"]}
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


def check_names(names: Mapping[str, str | None], inputs: Inputs, registry: Registry | None) -> None:
    """Raise OutputError if an output for posts is a table but the inputs are files, or the other way round.

    Also raise it if an output has the file ending of a format other than the input's, except if ``registry`` is None.
    """
    endings = () if registry is None else output_endings(inputs, registry)
    what = f"posts keep the format of the input, {inputs.format}, and are"
    for option, name in names.items():
        if name is not None and is_table(name) != (inputs.format == FORMAT):
            into = "files, not tables" if is_table(name) else f"tables; name one, as in {EXAMPLE}"
            raise OutputError(f"{option} {name}: {what} written to {into}.")
        if name not in {None, STANDARD_OUTPUT} and endings:
            of_text = PLAIN_TEXT if option == "--bad" and inputs.format in TEXT_FORMATS else ()
            check_ending(str(name), option, Kind(what, (*endings, *of_text)))


def target_of(inputs: Sequence[str], output: str | None, *, mark: bool, dry_run: bool) -> str:
    """Return the name of the output for posts: ``output``, or else `default_output` of the first input.

    ``mark``: the output has all posts, with marks. Raises OutputError if there are several inputs but no ``output``,
    unless nothing is written (``dry_run``) or the posts go to standard output.
    """
    target = default_output(inputs[0], "marked" if mark else "kept") if output is None else output
    if len(inputs) > 1 and not (output is not None or target == STANDARD_OUTPUT or dry_run):
        raise OutputError(f"{len(inputs):,} inputs, and no -o: name one file for all kept posts, with -o KEPT.")
    return target


def marking_writer(inputs: Inputs, job: FileRun) -> MarkingWriter:
    """Return the writer of the inputs' format; raise InputError if it cannot add marks to posts."""
    if not hasattr(inputs.writer, "write_marked"):
        option = "--mark" if job.mark else "--counts"
        raise InputError(
            f"{option} writes fields into each post, for which the format {inputs.format!r} has no room; use --removed "
            f"FILE, which names each removed post by its row, or give the posts as JSON Lines, CSV or Parquet."
        )
    return cast("MarkingWriter", inputs.writer)


def write_outputs(
    job: FileRun, inputs: Inputs, outputs: Mapping[str, Output], corpus: Corpus, progress: Progress, result: Result
) -> None:
    """Write all requested outputs except summary and report, to temporary files or to streams."""
    if "-o" not in outputs:
        return
    progress.start("write", corpus.n_rows, "posts")
    began = perf_counter()
    inputs.check_unchanged()
    are_posts = rows_chosen(corpus.rows[corpus.n_against :], corpus.n_rows)
    chosen = are_posts if job.mark else rows_chosen(result.kept_rows, corpus.n_rows)
    with outputs["-o"].open() as stream:
        if job.marks:
            marks = Marks(result.removed, corpus.n_rows, job.tallies(result.removed), with_keepers=job.mark)
            marking_writer(inputs, job).write_marked(inputs.sources, stream, chosen, marks)
        else:
            inputs.writer.write(inputs.sources, stream, chosen)
    if "--bad" in outputs:
        with outputs["--bad"].open() as stream:
            inputs.writer.write(inputs.sources, stream, ~are_posts)
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


def rows_chosen(rows: Int64s, n_rows: int) -> Bools:
    """Return bool[n_rows]: True for the given rows."""
    chosen = np.zeros(n_rows, np.bool_)
    chosen[rows] = True
    return chosen
