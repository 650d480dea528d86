"""Runs over files, for `hybriddup dedupe` and `hybriddup.dedupe_files`. Outputs get their final names at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import NamedTuple

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.fields import has_no_value
from hybriddup.data.marks import MARKS
from hybriddup.data.tallies import TALLIES, Tallies
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import ReadOptions, open_inputs
from hybriddup.files.outputs import Output, Outputs
from hybriddup.plugin.registry import Registry
from hybriddup.run import file_outputs
from hybriddup.run.file_inputs import check_against, files_of, read_against, read_posts
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.result import AUTHORS, TIME_FIELD, Result
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

    def checked(self, corpus: Corpus) -> Corpus:
        """Return the corpus with its times and authors under the names `TIME_FIELD` and `AUTHORS`, for reports.

        Raises InputError if no post has the author field that the user named.
        """
        values = corpus.order_values
        if self.authors is not None and corpus.texts and all(map(has_no_value, values[self.authors])):
            raise InputError(f"--authors {self.authors}: not one post has this field. Name the right one.")
        if not self.optional:
            return corpus
        authors = {} if self.authors is None else {AUTHORS: values[self.authors]}
        return replace(corpus, order_values={**values, TIME_FIELD: values[self.time_field], **authors})

    def tallies(self, result: Result, corpus: Corpus) -> Tallies:
        """Return the number, times and authors of the copies of each kept post."""
        values = corpus.order_values
        authors = None if self.authors is None else values[self.authors]
        return Tallies(result.removed, values.get(self.time_field), authors)


class FinishedRun(NamedTuple):
    """A finished run, whose outputs have their final names."""

    result: Result
    outputs: dict[str, Output]
    """Maps each option that names an output, such as ``--report``, to the output."""
    corpus: Corpus


def run_over_files(
    job: FileRun,
    settings: Settings,
    registry: Registry,
    *,
    workers: int,
    progress: Progress,
    config_name: str,
    notify: Callable[[str], object],
    on_outputs: Callable[[Outputs], object] = lambda _: None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> FinishedRun:
    """Read posts, decide them, and write the requested outputs.

    ``notify`` gets a line about each directory; ``on_outputs`` is called before anything is written, and ``on_result``
    before the outputs get their final names.
    """
    inputs = files_of(job.inputs, registry, job.reading, notify)
    target = file_outputs.target_of(inputs, job.output, mark=job.mark, dry_run=job.dry_run)
    check_against(inputs, job.against)
    wanted = {"-o": target, "--removed": job.removed, "--clusters": job.clusters, "--bad": job.bad}
    wanted |= {"--summary": job.summary, "--report": job.report, "--save-recipe": job.save_recipe}
    with Outputs([*inputs, *job.against], force=job.force) as outputs:
        on_outputs(outputs)
        planned = file_outputs.plan_outputs(wanted, outputs, dry_run=job.dry_run)
        with open_inputs(inputs, registry, job.reading) as opened:
            file_outputs.check_tables({"-o": job.output, "--bad": job.bad}, opened)
            if job.reading.format is None:
                file_outputs.check_endings({"-o": job.output, "--bad": job.bad}, opened, registry)
            if job.marks:
                file_outputs.check_marks(opened, job.marks, "--mark" if job.mark else "--counts")
            fields = Fields(job.text_field, job.id_field, settings.order_fields)
            times = () if settings.within is None else (job.time_field,)
            began, optional = perf_counter(), (*job.optional, *times)
            corpus, remarks = read_posts(opened, fields, progress, per=job.per, optional=optional, strict=job.strict)
            corpus = job.checked(corpus)
            timing = StepTiming("read", perf_counter() - began, corpus.n_rows, "posts")
            fields = fields._replace(text=job.against_text_field or job.text_field)
            corpus, of_others = read_against(
                corpus, job.against, registry, fields, job.per, times, job.reading, job.strict, progress
            )

            def write(result: Result) -> None:
                tallies = job.tallies(result, corpus) if job.marks else None
                file_outputs.write(opened, planned, corpus, result, progress, mark=job.mark, tallies=tallies)

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
                while_auditing=None if has_stream else write,
            )
            on_result(result)
            if has_stream:
                write(result)
            result.summary.timings.insert(0, timing)
            result.summary.notes += [*job.notes, *remarks, *of_others]
        file_outputs.write_summary(planned, inputs, job.against, settings, corpus, result)
        file_outputs.write_report(planned, inputs, result, progress)
        outputs.commit()
    return FinishedRun(result, planned, corpus)
