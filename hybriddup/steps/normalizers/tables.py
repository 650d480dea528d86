"""Tables of characters and words that stand as text files beside the normalizers that go by them."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

TRADITIONAL_FILE = "traditional.txt"


def table_lines(name: str) -> list[str]:
    """Return the lines of a table, by the name of its file; lines that begin with ``#`` are left out."""
    lines = _table_bytes(name).decode("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def table_checksum(name: str) -> str:
    """Return the SHA-256 of the file of a table, for the recipe id."""
    return hashlib.sha256(_table_bytes(name)).hexdigest()


def _table_bytes(name: str) -> bytes:
    return files(__package__).joinpath(name).read_bytes()


@cache
def simplified_characters() -> dict[str, str]:
    """Return the simplified character of each traditional one; no value is a key, so twice is the same as once.

    Characters that belong to simplified text as well (著, 乾, 后 ...) are not among the keys, even where
    traditional text uses them in another sense: what is right for one text would be wrong for the other.
    """
    return {line[0]: line[1] for line in table_lines(TRADITIONAL_FILE)}
