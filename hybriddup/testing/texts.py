"""Sample texts and ids for the contract checks, from ``texts.json``: ordinary ones, and edge cases."""

from __future__ import annotations

import json
from pathlib import Path

_SAMPLES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
PLAIN_TEXTS: tuple[str, ...] = tuple(_SAMPLES["plain"])
"""Ordinary posts: some nearly equal, one pair at an edit similarity of exactly 0.8."""
NASTY_TEXTS: tuple[str, ...] = (*_SAMPLES["nasty"], "x" * 5000, "长文本" * 2000, "word " * 1000)
"""Empty and blank texts, single characters, emoji, lone surrogates, NUL, combining marks, invisible characters,
right-to-left text, several scripts, punctuation and digits only, full-width forms, microblog markup, the last code
point, long texts."""
NASTY_IDS: tuple[str | int, ...] = (*_SAMPLES["ids"], "\ud83d\ude00")  # two surrogates, which JSON would join
"""Ids that incorrect code may confuse with each other, or fail to store."""
ALL_TEXTS = (*PLAIN_TEXTS, *NASTY_TEXTS)
