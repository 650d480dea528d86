"""Tables of characters and words, stored as text files in this package."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

TRADITIONAL_FILE = "traditional.txt"


def table_lines(name: str) -> list[str]:
    """Return the lines of a table file, except comments (lines that begin with ``#``)."""
    lines = _table_bytes(name).decode("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def table_checksum(name: str) -> str:
    """Return the SHA-256 of a table file, for the recipe id."""
    return hashlib.sha256(_table_bytes(name)).hexdigest()


def _table_bytes(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


@cache
def simplified_characters() -> dict[str, str]:
    """Map each traditional character to its simplified form; no value is also a key, so that mapping is idempotent.

    Characters that simplified text also uses (著, 乾, 后 ...) are not among the keys, even if traditional text uses
    them in another sense: a mapping that is right for one text would be wrong for the other.
    """
    return {line[0]: line[1] for line in table_lines(TRADITIONAL_FILE)}
