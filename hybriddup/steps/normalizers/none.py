"""Normalizer `none`: texts are compared as they were read."""

from __future__ import annotations

from collections.abc import Sequence


class NoNormalizer:
    """Leaves every text as it is, so that only texts equal in every character are exact repeats."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the texts themselves."""
        return texts if isinstance(texts, list) else list(texts)
