"""What users write with a unit or by a name: numbers, characters."""

from __future__ import annotations

import re

from hybriddup.errors import ConfigError

NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[_,][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+) *([a-zA-Z]*)")
"""Separators part three digits each, so that nobody's decimal comma is passed over."""
COUNTS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9}
BYTES = COUNTS | {f"{prefix}b": 10 ** (3 * power) for power, prefix in enumerate(("", *"kmgt"))}
BYTES |= {"b": 1, "t": 10**12} | {f"{prefix}ib": 2 ** (10 * power) for power, prefix in enumerate("kmgt", 1)}
MOST = 2**63
A_SIZE = "a number of bytes of at least 1, such as 1500000000, 1.5GB or 512MiB"


def parse_number(text: str, option: str, units: dict[str, int], example: str) -> int:
    """Return a number with a unit, such as ``50M``, ``50_000_000`` or ``1.5GB``, from 1 to 63 bits.

    Examples
    --------
    >>> parse_number("50M", "--posts", COUNTS, ""), parse_number("1.5 KiB", "--memory", BYTES, "")
    (50000000, 1536)
    """
    match = NUMBER.fullmatch(text.strip())
    unit = units.get(match[2].lower()) if match else None
    value = round(float(re.sub("[_,]", "", match[1])) * unit, 6) if match and unit else 0
    if not 1 <= value < MOST or (units is COUNTS and value != int(value)):
        shown = repr(text if len(text) <= 40 else text[:40] + "...")
        raise ConfigError(f"{option} must be {example}; got {shown}.")
    return int(value)


def parse_delimiter(text: str) -> str:
    r"""Return the character that a user names; a tab may be written ``tab`` or ``\t``."""
    character = "\t" if text in {"tab", "\\t"} else text
    if len(character) != 1 or character in '"\r\n\0':
        raise ConfigError(f"--delimiter must be one character, no quote or line end, such as ';' or tab; got {text!r}.")
    return character


def parse_line_size(text: str) -> int:
    """Return the bytes that a line may have."""
    return parse_number(text, "--max-line", BYTES, A_SIZE)
