"""Names of database tables among inputs and outputs: ``sqlite:///posts.db?table=posts``, with percent-encoding."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from hybriddup.errors import InputError

FORMAT = "sqlite"
"""Name of the format of database tables, and scheme of their URLs."""
EXAMPLE = "'sqlite:///posts.db?table=posts'"
OTHER_DATABASE = re.compile(r"([a-z][a-z0-9+]+):///?.*[?&]table=.*", re.DOTALL)
"""Pattern of the URL of a table in another kind of database; its first group is the kind."""
TABLE_NAME = re.compile(rf"{FORMAT}:///([^?]+)(?:\?table=(.+))?", re.DOTALL)


class TableName(NamedTuple):
    """A file and the name of a table in it; empty name = the whole file."""

    file: Path
    table: str

    def covers(self, other: TableName) -> bool:
        """Return whether this is the same table as ``other``, or the whole file of ``other``."""
        exist = self.file.exists() and other.file.exists()
        if not (self.file.samefile(other.file) if exist else self.file.resolve() == other.file.resolve()):
            return False
        return not self.table or folded(self.table) == folded(other.table)


def is_table(name: str) -> bool:
    """Return whether the name of an input or output is the URL of an SQLite table.

    Raises InputError for the URL of a table in another kind of database.
    """
    if name.startswith(f"{FORMAT}:"):
        return True
    if other := OTHER_DATABASE.fullmatch(name):  # the name may hold a password
        raise InputError(
            f"tables of {other[1]} are not read or written; tables of SQLite are, as in {EXAMPLE}. Exchange Parquet "
            "files with others. In DuckDB: COPY posts TO 'posts.parquet', CREATE TABLE kept AS FROM 'kept.parquet'."
        )
    return False


def parse_name(name: str) -> TableName:
    """Split a name into file and table; raise InputError if it is an invalid URL of a table."""
    if not is_table(name):
        return TableName(Path(name), "")
    if not (found := TABLE_NAME.fullmatch(name)):
        raise InputError(f"{name} is not the name of a table; write {EXAMPLE}, and a fourth slash for /absolute paths.")
    file, table = found.groups(default="")
    return TableName(Path(unquote(file)), unquote(table))


def folded(name: str) -> str:
    """Return a name with lower-case ASCII letters, because SQLite ignores their case in names of tables and columns."""
    return re.sub("[A-Z]+", lambda letters: letters[0].lower(), name)
