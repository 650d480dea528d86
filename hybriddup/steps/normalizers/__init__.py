"""Normalize: text -> text. What two posts may differ in and still be an exact repeat."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class Normalizer(Protocol):
    """Turns texts into the form in which they are compared; must be a pure function of each text."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        ...
