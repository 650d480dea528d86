"""What `hybriddup evaluate` does: read labeled pairs, judge them, print the measures."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybriddup.cli.output import print_json
from hybriddup.cli.summary_view import print_bad_records
from hybriddup.cli.tables import print_table
from hybriddup.config import open_session
from hybriddup.data.corpus import BadRecord
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields, TextColumnError
from hybriddup.files.inputs import Inputs, open_inputs
from hybriddup.plugin.registry import Registry
from hybriddup.run.terminal import show_progress
from hybriddup.study.evaluate import BandMeasures, Evaluation, LabeledPairs, Measures, evaluate

LABELS = {"1": True, "true": True, "duplicate": True, "0": False, "false": False, "different": False}


@dataclass
class PairsFile:
    """What a file of pairs holds."""

    a: list[str] = field(default_factory=list)
    b: list[str] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    """Records that are no labeled pair, and why."""


def perform(
    file: str,
    *,
    config: str,
    plugins: Sequence[str],
    format_name: str | None,
    max_line: int,
    workers: int | None,
    as_json: bool,
) -> int:
    """Print how well a configuration decides about the pairs in a file; return the number of bad lines."""
    settings, manager = open_session(config, plugins)
    read = read_pairs(file, manager.registry, format_name, max_line)
    pairs = LabeledPairs(read.a, read.b, np.array(read.labels, np.bool_))
    with show_progress(quiet=as_json) as progress:
        evaluation = evaluate(pairs, settings, manager.registry, workers=workers, progress=progress)
    if as_json:
        print_json({"config": config, "n_bad_lines": len(read.bad), **evaluation.to_dict()})
    else:
        print_evaluation(evaluation, config)
    print_bad_records(read.bad, len(read.bad), "left out of the measures")
    return len(read.bad)


def read_pairs(file: str, registry: Registry, format_name: str | None, max_line: int) -> PairsFile:
    """Return the labeled pairs of a file.

    Raises
    ------
    InputError
        The file cannot be read, or holds no usable pair.
    """
    found = PairsFile()
    with open_inputs([file], registry, format_name, max_line) as inputs:
        with suppress(TextColumnError):
            _read(found, inputs, file)
        if not found.labels:
            fault = _missing_field(inputs)
            raise InputError(
                f"{file} holds no pair with the texts a and b and a label, which is one of {', '.join(LABELS)}"
                f"{'; ' + fault if fault else ''}."
            )
    return found


def _read(found: PairsFile, inputs: Inputs, file: str) -> None:
    # A reader yields three fields of each record: here they are the first text, the label and the second text.
    for batch in inputs.reader.read(inputs.sources[0], Fields(text="a", id="label", order="b")):
        found.bad += [BadRecord(file, bad.line, bad.row, bad.reason) for bad in batch.bad]
        for row, *pair in zip(batch.rows.tolist(), batch.texts, batch.order_values, batch.ids, strict=True):
            _add(found, file, row, *pair)


def _missing_field(inputs: Inputs) -> str:
    """Return which of the fields no record has, and what the first one has instead; empty where each is somewhere.

    Readers say what they found in place of the text, so each field is asked for as the text.
    """
    for name in ("a", "b", "label"):
        try:
            batches = list(inputs.reader.read(inputs.sources[0], Fields(text=name)))
        except TextColumnError as error:
            if error.absent or name != "label":  # a label may be a number
                return error.fault
            continue
        bad = [line for batch in batches for line in batch.bad if line.lacks_text_field]
        if bad and len(bad) == batches[-1].end:
            return bad[0].reason
    return ""


def _add(found: PairsFile, file: str, row: int, a: str, b: Any, label: Any) -> None:
    """Add one pair, or the reason why it is none."""
    wanted = LABELS.get(str(label).strip().lower())
    if not isinstance(b, str):
        found.bad.append(BadRecord(file, 0, row, "field 'b' is missing or not a string"))
    elif wanted is None:
        found.bad.append(BadRecord(file, 0, row, f"field 'label' must be one of {', '.join(LABELS)}; got {label!r}"))
    else:
        found.a.append(a)
        found.b.append(b)
        found.labels.append(wanted)


def print_evaluation(evaluation: Evaluation, config: str) -> None:
    """Print the measures as a table, all pairs first."""
    measures = ("precision", "recall", "F1")
    headers = ("length", "pairs", "duplicates", *measures, *(f"stage 1 {measure}" for measure in measures))
    rows = [_row(band) for band in (evaluation.total, *evaluation.bands)]
    print_table(rows, headers=headers, right=range(1, len(headers)))
    print_table([["config", config], ["recipe id", evaluation.recipe_id]])


def _row(band: BandMeasures) -> list[str]:
    counts = [band.length_band, f"{band.n_pairs:,}", f"{band.decision.n_wanted:,}"]
    return [*counts, *_shares(band.decision), *_shares(band.stage_1)]


def _shares(measures: Measures) -> list[str]:
    values = (measures.precision, measures.recall, measures.f1)
    return ["-" if value is None else f"{value:.3f}" for value in values]
