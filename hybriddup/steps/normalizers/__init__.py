"""Normalize: text -> text. Removes differences that do not matter, so that copies of a post become equal texts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@runtime_checkable
class Normalizer(Protocol):
    """Converts texts to the form in which they are compared; must be a pure function of each text."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return one normalized text per text, in order."""
        ...


class NoNormalizer:
    """Leaves every text unchanged: only texts equal in every character are exact repeats."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the texts themselves."""
        return texts if isinstance(texts, list) else list(texts)


@dataclass(frozen=True)
class Chain:
    """Several normalizers in sequence: each gets the output of the previous one."""

    members: tuple[Normalizer, ...]

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return one normalized text per text, in order."""
        for member in self.members:
            texts = member.normalize_batch(texts)
        return list(texts)
