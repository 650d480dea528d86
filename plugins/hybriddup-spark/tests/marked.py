"""Texts that say themselves which keys they have and what they match, as a plugin: ``AB ab 3``.

Two texts are compared when they share a capital letter, and match when they share a small one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

import hybriddup
from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.plugin.registry import Registry
from hybriddup.steps.blocks import BlockIndex

MOST_KEYS = 6


class Capitals(BlockIndex):
    """The capital letters of a text."""

    class Options(hybriddup.Options):
        """Limits."""

        max_bucket_size: int = Field(0, ge=0)
        max_candidates: int = Field(0, ge=0)

    def __init__(self, options: Options) -> None:
        self.max_bucket_size, self.max_candidates = options.max_bucket_size, options.max_candidates

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (the text alone)
        """Return the letters by their codes."""
        found = np.full((len(texts), MOST_KEYS), NO_KEY, np.uint64)
        for row, text in enumerate(texts):
            letters = text.split(" ")[0]
            found[row, : len(letters)] = [ord(letter) for letter in letters]
        return found


def small_letters(a: str, b: str) -> float:
    """Return whether two texts share a small letter."""
    return float(a == b or bool(set(a.split(" ")[1]) & set(b.split(" ")[1])))


def same(text: str) -> str:
    """Change nothing."""
    return text


@hybriddup.hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Add both."""
    registry.add_normalizer("same", same)
    registry.add_block_index("capitals", Capitals)
    registry.add_verifier("small_letters", small_letters)
