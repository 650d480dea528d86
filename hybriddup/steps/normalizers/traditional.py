"""Traditional to simplified Chinese, character by character, from the table in ``traditional.txt``."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

TABLE_FILE = "traditional.txt"


def _table_bytes() -> bytes:
    return files(__package__).joinpath(TABLE_FILE).read_bytes()


@cache
def simplified_characters() -> dict[str, str]:
    """Return the simplified character of each traditional one; no value is a key, so twice is the same as once.

    Characters that belong to simplified text as well (著, 乾, 后 ...) are not among the keys, even where
    traditional text uses them in another sense: what is right for one text would be wrong for the other.
    """
    lines = _table_bytes().decode("utf-8").splitlines()
    return {line[0]: line[1] for line in lines if not line.startswith("#")}


@cache
def table_checksum() -> str:
    """Return the SHA-256 of the table file, for the recipe id."""
    return hashlib.sha256(_table_bytes()).hexdigest()
