"""What `hybriddup evaluate` does: read labeled pairs, judge them, print the measures."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from hybriddup.cli.printing import print_json, print_table
from hybriddup.cli.summary_view import print_bad_records
from hybriddup.config import open_session
from hybriddup.data.records import Float64s, Int64s
from hybriddup.files.inputs import ReadOptions
from hybriddup.files.output_names import WRONG_PAIRS
from hybriddup.files.outputs import Output, Outputs
from hybriddup.files.pairs import PairFields, PairsFile, read_pairs
from hybriddup.plugin.registry import Registry
from hybriddup.run.terminal import show_progress
from hybriddup.steps.parallel import available_workers
from hybriddup.study.evaluate import (
    BandMeasures,
    CurvePoint,
    Evaluation,
    LabeledPairs,
    Measures,
    ScoredPairs,
    curve_of,
    evaluate,
    score_labeled,
    thresholds_of,
)


def perform(
    pairs: str,
    *,
    a_field: str,
    b_field: str,
    label_field: str,
    config: str,
    plugins: Sequence[str],
    reading: ReadOptions,
    workers: int | None,
    as_json: bool,
    curve: bool,
    wrong: str | None,
    force: bool,
) -> int:
    """Print how well a configuration decides about the pairs in a file; return the exit code."""
    settings, manager = open_session(config, plugins)
    with Outputs([pairs], force=force) as outputs:
        target = None if wrong is None else outputs.add(wrong, "--wrong", WRONG_PAIRS)
        read, labeled = labeled_pairs(pairs, manager.registry, reading, PairFields(a_field, b_field, label_field))
        with show_progress(quiet=as_json) as progress:
            evaluation = evaluate(labeled, settings, manager.registry, workers=workers, progress=progress)
        points: tuple[CurvePoint, ...] = ()
        if curve or target is not None:
            scored = score_labeled(labeled, settings, manager.registry, workers or available_workers())
            points = curve_of(scored) if curve else ()
            if target is not None:
                places = np.sort(np.concatenate([evaluation.missed, evaluation.mistaken]))
                write_wrong_pairs(target, labeled, scored, thresholds_of(settings), places)
        outputs.commit()
    if as_json:
        more = {"curve": [point._asdict() for point in points]} if curve else {}
        print_json({"config": config, "n_bad_lines": len(read.bad), **evaluation.to_dict(), **more})
    else:
        print_evaluation(evaluation, config)
        print_curve(points)
    return print_bad_records(read.bad, len(read.bad), "left out of the measures")


def labeled_pairs(
    file: str, registry: Registry, reading: ReadOptions, fields: PairFields
) -> tuple[PairsFile, LabeledPairs]:
    """Return what a file of pairs holds, and the pairs."""
    read = read_pairs(file, registry, reading, fields)
    return read, LabeledPairs(read.a, read.b, np.array(read.labels, np.bool_))


def print_evaluation(evaluation: Evaluation, config: str) -> None:
    """Print the measures as a table, all pairs first."""
    measures = ("precision", "recall", "F1")
    headers = ("length", "pairs", "duplicates", *measures, *(f"stage 1 {measure}" for measure in measures))
    rows = [_row(band) for band in (evaluation.total, *evaluation.bands)]
    print_table(rows, headers=headers, right=range(1, len(headers)))
    print_table([["config", config], ["recipe id", evaluation.recipe_id]])


def print_curve(points: Sequence[CurvePoint]) -> None:
    """Print what each threshold would reach, if all length bands had it."""
    if points:
        headers = ("threshold", "duplicates found", "precision", "recall", "F1")
        rows = [[f"{point.threshold:.2f}", f"{point.n_found:,}", *shares(point)] for point in points]
        print_table(rows, headers=headers, right=range(len(headers)))


def _row(band: BandMeasures) -> list[str]:
    counts = [band.length_band, f"{band.n_pairs:,}", f"{band.decision.n_wanted:,}"]
    return [*counts, *shares(band.decision), *shares(band.stage_1)]


def shares(measures: Measures | CurvePoint) -> list[str]:
    """Return precision, recall and F1 as text; a dash where nothing can be divided."""
    values = (measures.precision, measures.recall, measures.f1)
    return ["-" if value is None else f"{value:.3f}" for value in values]


def write_wrong_pairs(
    target: Output, pairs: LabeledPairs, scored: ScoredPairs, thresholds: Float64s, places: Int64s
) -> None:
    """Write some pairs as JSON Lines: both texts, the label, the score, and the threshold of their length band.

    The score is null where stage 1 does not propose the pair, or several verifiers decide together.
    """
    with target.open() as stream:
        for place in places.tolist():
            score, threshold = float(scored.scores[place]), float(thresholds[scored.bands[place]])
            line = {
                "a": pairs.a[place],
                "b": pairs.b[place],
                "label": int(pairs.labels[place]),
                "score": None if np.isnan(score) else score,
                "threshold": None if np.isnan(threshold) else threshold,
            }
            stream.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
