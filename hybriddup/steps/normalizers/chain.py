"""Several normalizers, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybriddup.steps.normalizers import Normalizer


@dataclass(frozen=True)
class Chain:
    """Gives what one normalizer returns to the next."""

    members: tuple[Normalizer, ...]

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order."""
        for member in self.members:
            texts = member.normalize_batch(texts)
        return list(texts)
