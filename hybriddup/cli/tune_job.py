"""What `hybriddup tune` does: read labeled pairs, fit a configuration to them, write it and say what it reaches."""

from __future__ import annotations

from collections.abc import Sequence

import typer
import yaml

from hybriddup.cli.evaluate_job import labeled_pairs, shares, write_wrong_pairs
from hybriddup.cli.printing import print_json, print_table
from hybriddup.cli.stopping import on_stop
from hybriddup.cli.summary_view import print_bad_records
from hybriddup.config import open_session
from hybriddup.files.inputs import ReadOptions
from hybriddup.files.output_names import CONFIGURATION, WRONG_PAIRS
from hybriddup.files.outputs import Output, Outputs
from hybriddup.files.pairs import PairFields
from hybriddup.study.evaluate import thresholds_of
from hybriddup.study.tune import AS_IT_IS, Interval, Reached, Tuned, tune


def perform(
    pairs: str,
    output: str,
    *,
    a_field: str,
    b_field: str,
    label_field: str,
    config: str,
    plugins: Sequence[str],
    precision: float | None,
    reading: ReadOptions,
    workers: int | None,
    as_json: bool,
    wrong: str | None,
    force: bool,
) -> int:
    """Fit a configuration to the pairs in a file and write it; return the exit code."""
    settings, manager = open_session(config, plugins)
    with Outputs([pairs], force=force) as outputs:
        on_stop(outputs.abandon)
        target = outputs.add(output, "-o", CONFIGURATION)
        wrong_target = None if wrong is None else outputs.add(wrong, "--wrong", WRONG_PAIRS)
        read, labeled = labeled_pairs(pairs, manager.registry, reading, PairFields(a_field, b_field, label_field))
        tuned = tune(labeled, settings, manager.registry, precision=precision, workers=workers)
        write_settings(target, tuned, pairs, config)
        if wrong_target is not None:
            write_wrong_pairs(wrong_target, labeled, tuned.scored, thresholds_of(tuned.settings), tuned.wrong)
        outputs.commit()
    if as_json:
        print_json({"config": config, "n_bad_lines": len(read.bad), **tuned.to_dict()})
    else:
        print_tuned(tuned, output)
    return print_bad_records(read.bad, len(read.bad), "not learned from")


def write_settings(target: Output, tuned: Tuned, file: str, config: str) -> None:
    """Write a configuration that names every setting, with a line that says where it comes from."""
    text = yaml.safe_dump(tuned.settings.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None)
    with target.open() as stream:
        stream.write(f"# Fitted by `hybriddup tune {file} --config {config}`: {tuned.way}.\n{text}".encode())


def print_tuned(tuned: Tuned, output: str) -> None:
    """Print what was reached before and after, with intervals, and by length."""
    print_table(
        [["before", *_intervals(tuned.before)], ["after", *_intervals(tuned.after)]],
        headers=("95 % intervals", "precision", "recall", "F1"),
    )
    headers = ("length", "pairs", "precision before", "recall", "F1", "precision after", "recall", "F1")
    rows = [[band.length_band, f"{band.n_pairs:,}", *shares(band.before), *shares(band.after)] for band in tuned.bands]
    print_table(rows, headers=headers, right=range(1, len(headers)))
    changed = "no other way was clearly better" if tuned.way == AS_IT_IS else "each pair judged by what others taught"
    print_table(
        [["changed", f"{tuned.way}; {changed}"], ["written to", output], ["still wrong", str(len(tuned.wrong))]]
    )
    for warning in tuned.warnings:
        typer.echo(f"note: {warning}", err=True)


def _intervals(reached: Reached) -> list[str]:
    measures = reached.measures
    values = (measures.precision, measures.recall, measures.f1)
    return list(map(_with_interval, values, (reached.precision, reached.recall, reached.f1)))


def _with_interval(value: float | None, interval: Interval | None) -> str:
    return "-" if value is None or interval is None else f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"
