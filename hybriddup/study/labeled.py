"""Labeled pairs as a caller in Python gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hybriddup.errors import InputError
from hybriddup.steps.options import quote
from hybriddup.study.evaluate import LabeledPairs

FIELDS = ("a", "b", "label")


def label_pairs(pairs: Iterable[Any]) -> LabeledPairs:
    """Return labeled pairs, of tuples of two texts and a label or of mappings with these fields.

    Raises
    ------
    InputError
        There are none, or one of them is none.
    """
    columns = list(zip(*(fields_of(pair, place) for place, pair in enumerate(pairs)), strict=True))
    if not columns:
        raise InputError("there are no pairs; give tuples of two texts and a label, or mappings with a, b and label.")
    return LabeledPairs(columns[0], columns[1], np.array(columns[2], np.bool_))


def fields_of(pair: Any, place: int) -> tuple[str, str, bool]:
    """Return the two texts and the label of a pair; ``place`` is for the error."""
    values = [pair.get(name) for name in FIELDS] if isinstance(pair, Mapping) else pair
    if isinstance(values, (tuple, list)) and len(values) == len(FIELDS):
        a, b, label = values
        if isinstance(a, str) and isinstance(b, str) and label in (True, False, 0, 1):
            return a, b, bool(label)
    raise InputError(
        f"pair {place} must be two texts and a label (True or False), as a tuple or a mapping with a, b and label; got "
        f"{quote(pair)}."
    )
