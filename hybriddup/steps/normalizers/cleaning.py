"""Cleaning: a text as its writer saw it, without markup and mojibake."""

from __future__ import annotations

from hybriddup.steps.normalizers.markup import SIGNS_OF_MARKUP, without_markup
from hybriddup.steps.normalizers.mojibake import SIGNS_OF_MOJIBAKE, repair

MAX_LAYERS = 4
"""Text may be escaped, or read wrongly, several times."""


class Cleaner:
    """Cleans texts; only those with one of its signs, after folding, are in need of it."""

    def __init__(self, *, markup: bool, mojibake: bool) -> None:
        parts = ((markup, SIGNS_OF_MARKUP, without_markup), (mojibake, SIGNS_OF_MOJIBAKE, repair))
        self.signs = tuple(sign for chosen, signs, _ in parts if chosen for sign in signs)
        self._steps = [step for chosen, _, step in parts if chosen]

    def clean(self, text: str) -> str:
        """Return a clean text."""
        for _ in range(MAX_LAYERS):
            before = text
            for step in self._steps:
                text = step(text)
            if text == before:
                break
        return text
