"""Reads labeled pairs of texts from a file of any input format."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hybriddup.data.corpus import BadRecord
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields, TextColumnError
from hybriddup.files.inputs import Inputs, ReadOptions, open_inputs
from hybriddup.files.reading import absent_field
from hybriddup.plugin.registry import Registry

LABELS = {"1": True, "true": True, "duplicate": True, "0": False, "false": False, "different": False}


class PairFields(NamedTuple):
    """Names of the fields of a labeled pair."""

    a: str = "a"
    b: str = "b"
    label: str = "label"


UNSURE = "unsure"
"""Label of a pair about which the user was unsure; such pairs are skipped."""


@dataclass
class PairsFile:
    """The contents of a file of pairs."""

    a: list[str] = field(default_factory=list)
    b: list[str] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    bad: list[BadRecord] = field(default_factory=list)
    """Records that are not labeled pairs, with the reason."""


def read_pairs(file: str, registry: Registry, options: ReadOptions, fields: PairFields) -> PairsFile:
    """Return the labeled pairs of a file; raise InputError if it has no usable pair."""
    found = PairsFile()
    with open_inputs([file], registry, options) as inputs:
        with suppress(TextColumnError):
            _read(found, inputs, file, fields)
        if not found.labels:
            faults = (absent_field(inputs, name, as_text=name != fields.label) for name in fields)
            fault = next(filter(None, faults), "")
            raise InputError(
                f"{file} holds no pair with the texts {fields.a} and {fields.b} and a {fields.label}, which is one of "
                f"{', '.join(LABELS)}{'; ' + fault if fault else ''}."
            )
    return found


def _read(found: PairsFile, inputs: Inputs, file: str, fields: PairFields) -> None:
    # a reader yields text, id and order values: here the first text, the label and the second text
    for batch in inputs.reader.read(inputs.sources[0], Fields(text=fields.a, id=fields.label, order=(fields.b,))):
        found.bad += [BadRecord(file, bad.line, bad.row, bad.reason) for bad in batch.bad]
        for row, a, (b,), label in zip(batch.rows.tolist(), batch.texts, batch.order_values, batch.ids, strict=True):
            _add(found, file, row, fields, a, b, label)


def _add(found: PairsFile, file: str, row: int, fields: PairFields, a: str, b: Any, label: Any) -> None:
    """Add a pair to ``found``; if it lacks a second text or a valid label, add a bad record instead."""
    if str(label).strip().lower() == UNSURE:
        return
    wanted = LABELS.get(str(label).strip().lower())
    if not isinstance(b, str):
        found.bad.append(BadRecord(file, 0, row, f"field {fields.b!r} is missing or not a string"))
    elif wanted is None:
        reason = f"field {fields.label!r} must be one of {', '.join(LABELS)}; got {label!r}"
        found.bad.append(BadRecord(file, 0, row, reason))
    else:
        found.a.append(a)
        found.b.append(b)
        found.labels.append(wanted)
