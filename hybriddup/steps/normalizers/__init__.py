"""Normalize: text -> text. What two posts may differ in and still be an exact repeat."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class Normalizer(Protocol):
    """Turns texts into the form in which they are compared; must be a pure function of each text."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        ...


class NoNormalizer:
    """Leaves every text as it is, so that only texts equal in every character are exact repeats."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the texts themselves."""
        return texts if isinstance(texts, list) else list(texts)


@dataclass(frozen=True)
class Chain:
    """Several normalizers: gives what one returns to the next."""

    members: tuple[Normalizer, ...]

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order."""
        for member in self.members:
            texts = member.normalize_batch(texts)
        return list(texts)
