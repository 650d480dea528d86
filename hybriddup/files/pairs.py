"""Labeled pairs of texts: reads them from a file of any input format, and stores the answers of `hybriddup label`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hybriddup.data.corpus import BadRecord
from hybriddup.data.records import LabeledPairs
from hybriddup.errors import InputError, OutputError
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


def read_pairs(
    file: str, registry: Registry, options: ReadOptions, fields: PairFields
) -> tuple[LabeledPairs, list[BadRecord]]:
    """Return the labeled pairs of a file, and its bad records; raise InputError if it has no usable pair."""
    found: list[tuple[str, str, bool] | BadRecord] = []
    with open_inputs([file], registry, options) as inputs:
        with suppress(TextColumnError):
            found = list(_read(inputs, file, fields))
        pairs = [one for one in found if not isinstance(one, BadRecord)]
        if not pairs:
            faults = (absent_field(inputs, name, as_text=name != fields.label) for name in fields)
            fault = next(filter(None, faults), "")
            raise InputError(
                f"{file} holds no pair with the texts {fields.a} and {fields.b} and a {fields.label}, which is one of "
                f"{', '.join(LABELS)}{'; ' + fault if fault else ''}."
            )
    a, b, labels = zip(*pairs, strict=True)
    return LabeledPairs(a, b, np.array(labels, np.bool_)), [one for one in found if isinstance(one, BadRecord)]


def _read(inputs: Inputs, file: str, fields: PairFields) -> Iterator[tuple[str, str, bool] | BadRecord]:
    """Yield each pair, or its fault; pairs about which the user was unsure are skipped."""
    # a reader yields text, id and order values: here the first text, the label and the second text
    for batch in inputs.reader.read(inputs.sources[0], Fields(text=fields.a, id=fields.label, order=(fields.b,))):
        yield from (BadRecord(file, bad.line, bad.row, bad.reason) for bad in batch.bad)
        for row, a, (b,), label in zip(batch.rows.tolist(), batch.texts, batch.order_values, batch.ids, strict=True):
            written = str(label).strip().lower()
            if not isinstance(b, str) and written != UNSURE:
                yield BadRecord(file, 0, row, f"field {fields.b!r} is missing or not a string")
            elif written in LABELS:
                yield a, b, LABELS[written]
            elif written != UNSURE:
                reason = f"field {fields.label!r} must be one of {', '.join(LABELS)}; got {label!r}"
                yield BadRecord(file, 0, row, reason)


class AnswerFile:
    """A file of labeled pairs, one per line, to which answers are appended.

    Raises InputError if the file already has a line that is not an answer of `hybriddup label`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.earlier = [parse_answer(line, f"{path}:{number}") for number, line in enumerate(self._lines, 1)]
        """The answers in the file when it was opened, each as two texts and a label; None = unsure."""

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, texts: tuple[str, str], label: bool | None) -> None:
        """Append an answer; None = unsure."""
        answer = {"a": texts[0], "b": texts[1], "label": UNSURE if label is None else int(label)}
        is_plain = all(text.encode("utf-8", "ignore").decode() == text for text in texts)  # no lone surrogates
        self._lines.append(json.dumps(answer, ensure_ascii=not is_plain))
        self._write("a", self._lines[-1] + "\n")

    def take_back(self) -> None:
        """Delete the last answer."""
        del self._lines[-1]
        self._write("w", "".join(line + "\n" for line in self._lines))

    def _write(self, mode: str, text: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written to: {error.strerror}.") from error


def parse_answer(line: str, place: str) -> tuple[tuple[str, str], bool | None]:
    """Return the two texts and the label in a line; raise InputError, which names ``place``, if it is no answer."""
    try:
        at = json.loads(line)
        a, b, label = at["a"], at["b"], at["label"]
    except (ValueError, LookupError, TypeError):
        a, b, label = None, None, None
    if not (isinstance(a, str) and isinstance(b, str)):
        raise InputError(f"{place}: not an answer of `hybriddup label`. Name another file with -o.")
    return (a, b), None if label == UNSURE else bool(label)
