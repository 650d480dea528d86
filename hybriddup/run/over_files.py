"""A run over files: what `hybriddup dedupe` and `hybriddup.dedupe_files` do. Outputs appear at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import ReadOptions, open_inputs
from hybriddup.files.outputs import Output, Outputs
from hybriddup.plugin.registry import Registry
from hybriddup.run import file_outputs
from hybriddup.run.file_inputs import check_against, files_of, read_against, read_posts
from hybriddup.run.pipeline import run
from hybriddup.run.progress import Progress
from hybriddup.run.result import TIME_FIELD, Result
from hybriddup.run.summary import StepTiming


@dataclass(frozen=True, kw_only=True)
class FileRun:
    """What to read and what to write, as the options of `hybriddup dedupe` name it."""

    inputs: Sequence[str]
    output: str | None = None
    mark: bool = False
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


class FinishedRun(NamedTuple):
    """A run whose outputs are in place."""

    result: Result
    outputs: dict[str, Output]
    """Outputs by option."""
    corpus: Corpus


def run_over_files(
    job: FileRun,
    settings: Settings,
    registry: Registry,
    *,
    workers: int,
    progress: Progress,
    config_name: str,
    tell: Callable[[str], object],
    on_outputs: Callable[[Outputs], object] = lambda _: None,
    on_result: Callable[[Result], object] = lambda _: None,
) -> FinishedRun:
    """Read posts, decide them, and write what was asked for.

    ``tell`` gets the files of each directory; ``on_outputs`` is called before anything is written, and ``on_result``
    before the posts are written.
    """
    inputs = files_of(job.inputs, registry, job.reading, tell)
    target = file_outputs.target_of(inputs, job.output, mark=job.mark, dry_run=job.dry_run)
    check_against(inputs, job.against)
    wanted = {"-o": target, "--removed": job.removed, "--clusters": job.clusters, "--bad": job.bad}
    wanted |= {"--summary": job.summary, "--report": job.report, "--save-recipe": job.save_recipe}
    with Outputs([*inputs, *job.against], force=job.force) as outputs:
        on_outputs(outputs)
        planned = file_outputs.plan_outputs(wanted, outputs, dry_run=job.dry_run)
        with open_inputs(inputs, registry, job.reading) as opened:
            if job.reading.format is None:
                file_outputs.check_endings({"-o": job.output, "--bad": job.bad}, opened, registry)
            if job.mark:
                file_outputs.check_marks(opened)
            fields = Fields(job.text_field, job.id_field, settings.order_fields)
            began, optional = perf_counter(), (TIME_FIELD,) if job.report else ()
            corpus, remarks = read_posts(opened, fields, progress, per=job.per, optional=optional, strict=job.strict)
            timing = StepTiming("read", perf_counter() - began, corpus.n_rows, "posts")
            fields = fields._replace(text=job.against_text_field or job.text_field)
            corpus, of_others = read_against(
                corpus, job.against, registry, fields, job.per, job.reading, job.strict, progress
            )
            result = run(
                corpus, settings, registry, workers=workers, progress=progress, config_name=config_name, per=job.per
            )
            on_result(result)
            result.summary.timings.insert(0, timing)
            result.summary.notes += [*job.notes, *remarks, *of_others]
            file_outputs.write(opened, planned, corpus, result, progress, mark=job.mark)
        file_outputs.write_summary(planned, inputs, job.against, settings, corpus, result)
        file_outputs.write_report(planned, result, progress)
        outputs.commit()
    return FinishedRun(result, planned, corpus)
