"""Generates ``traditional.txt``: run ``pip install opencc==1.4.2``, then ``python -m`` with this module.

The table contains the results of OpenCC's ``t2s`` for single characters, except characters that simplified text also
uses. It is part of the package, so that decisions about posts do not depend on an installed version of OpenCC.
"""

from __future__ import annotations

import unicodedata
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from hybriddup.steps.normalizers.tables import TRADITIONAL_FILE

HAN_RANGES = ((0x2E80, 0xA000), (0xF900, 0xFB00), (0x20000, 0x33480))
"""Ranges of the Unicode blocks of Han characters: first code point, code point after the last."""

SIMPLIFIED_IN_NAMES_ONLY = frozenset("後於麽夥徵菸麴")
"""Characters to simplify although GB 2312 has them: simplified text contains them only in names and quotations."""

HEADER = """\
# Traditional Chinese characters and their simplified forms, one pair a line: traditional, simplified.
# Taken from OpenCC {version} (https://github.com/BYVoid/OpenCC), configuration t2s, by make_traditional.py.
# Copyright the OpenCC authors, Apache License 2.0: see traditional.LICENSE.txt beside this file. Changes: only single
# characters; left out are characters that GB 2312 counts among the simplified ones, except {exceptions}.
"""


def simplified_pairs(converter: Any) -> dict[str, str]:
    """Return the table: every Han character to simplify, mapped to a character that does not change again.

    Characters of GB 2312, the first national character set of simplified Chinese, belong to simplified text and do not
    change: 乾 (乾坤), 摺, 吒 (哪吒). `SIMPLIFIED_IN_NAMES_ONLY` are the exceptions.
    """
    characters = (chr(point) for start, end in HAN_RANGES for point in range(start, end))
    pairs = {}
    for character in characters:
        simplified = converter.convert(converter.convert(character))
        is_traditional = character in SIMPLIFIED_IN_NAMES_ONLY or not character.encode("gb2312", errors="ignore")
        changes = is_traditional and simplified != character
        if changes and len(simplified) == 1 and unicodedata.is_normalized("NFKC", character):
            pairs[character] = simplified
    return pairs


def main() -> None:
    """Write the table into the folder of this module."""
    pairs = simplified_pairs(import_module("opencc").OpenCC("t2s"))
    header = HEADER.format(version=version("opencc"), exceptions="".join(sorted(SIMPLIFIED_IN_NAMES_ONLY)))
    lines = "".join(f"{traditional}{simplified}\n" for traditional, simplified in sorted(pairs.items()))
    Path(__file__).with_name(TRADITIONAL_FILE).write_text(header + lines, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
