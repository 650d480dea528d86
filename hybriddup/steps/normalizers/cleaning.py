"""Cleaning: removes markup and mojibake, so that a text reads as its writer saw it."""

from __future__ import annotations

from hybriddup.steps.normalizers.markup import SIGNS_OF_MARKUP, without_markup
from hybriddup.steps.normalizers.mojibake import SIGNS_OF_MOJIBAKE, repair

MAX_LAYERS = 4
"""Maximum number of passes: text may be escaped or decoded wrongly several times."""


class Cleaner:
    """Removes markup and repairs mojibake; only texts that contain one of ``signs`` after folding need cleaning."""

    def __init__(self, *, markup: bool, mojibake: bool) -> None:
        parts = ((markup, SIGNS_OF_MARKUP, without_markup), (mojibake, SIGNS_OF_MOJIBAKE, repair))
        self.signs = tuple(sign for chosen, signs, _ in parts if chosen for sign in signs)
        self._steps = [step for chosen, _, step in parts if chosen]

    def clean(self, text: str) -> str:
        """Return the text without markup and mojibake."""
        for _ in range(MAX_LAYERS):
            before = text
            for step in self._steps:
                text = step(text)
            if text == before:
                break
        return text
