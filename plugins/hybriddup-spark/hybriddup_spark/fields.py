"""Columns of the posts: their names in Spark and in results, and which are refused.

Columns that are added while posts are decided have names with `PREFIX`, so that they never meet a user's column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import AtomicType, StringType, StructField

from hybriddup.config.settings import KeepHighest, KeepRule
from hybriddup.errors import InputError

PREFIX = "_hybriddup_"
"""Begins the names of columns that are added while posts are decided; no column of the posts may begin with it."""
OWN = "post_"
"""Precedes, in the removed posts, the name of a user's column that is called as one of `EVIDENCE`."""
EVIDENCE = (
    "duplicate_of", "keeper_text", "reason", "hamming_distance", "verifier", "score", "threshold", "length_band",
)  # fmt: skip
"""Columns of the removed posts that say why they go, in the order of the fields of `hybriddup.Removed`."""


def named(name: str) -> Column:
    """Return the column with a name, whatever characters are in it."""
    return sf.col("`" + name.replace("`", "``") + "`")


def name_in_removed(name: str) -> str:
    """Return the name of a user's column in the removed posts.

    Examples
    --------
    >>> name_in_removed("likes"), name_in_removed("Score")
    ('likes', 'post_Score')
    """
    return OWN + name if name.lower() in EVIDENCE else name


def corrupt_column(session: SparkSession) -> str:
    """Return the name of the column in which Spark keeps lines that it cannot read as records."""
    return str(session.conf.get("spark.sql.columnNameOfCorruptRecord"))


def tells_case_apart(session: SparkSession) -> bool:
    """Return whether two names that differ only in case are two columns."""
    return str(session.conf.get("spark.sql.caseSensitive")).lower() == "true"


@dataclass(frozen=True)
class Fields:
    """Which columns of the posts are what."""

    text: str
    id: str | None
    order_by: tuple[str, ...]

    def check(self, posts: DataFrame, rules: Sequence[KeepRule]) -> None:
        """Refuse posts that lack columns, or have columns that cannot be used.

        Raises
        ------
        InputError
            Names all faults, one a line.
        """
        columns = posts.schema.fields
        faults = [*self._faults_of_roles(columns, highest_fields(rules))]
        faults += name_faults([column.name for column in columns], tells_case=tells_case_apart(posts.sparkSession))
        if faults:
            raise InputError("\n".join(faults))

    def _faults_of_roles(self, columns: Sequence[StructField], highest: Sequence[str]) -> Iterator[str]:
        types = {column.name: column.dataType for column in columns}
        for name in dict.fromkeys((self.text, *self.order_by, *highest, *([self.id] if self.id else []))):
            if name not in types:
                yield f"the posts have no column {name!r}; they have {', '.join(map(repr, types)) or 'none'}."
            elif name == self.text and not isinstance(types[name], StringType):
                yield f"column {name!r} holds {types[name].simpleString()}, not strings; name another."
            elif not isinstance(types[name], AtomicType):
                yield f"column {name!r} holds {types[name].simpleString()}; choose one of plain values."


def highest_fields(rules: Sequence[KeepRule]) -> list[str]:
    """Return the fields of ``keep: {highest: FIELD}``."""
    return [rule.highest for rule in rules if isinstance(rule, KeepHighest)]


def name_faults(names: Sequence[str], *, tells_case: bool) -> Iterator[str]:
    """Yield the faults of names of columns, each with what to do."""
    spellings: dict[str, list[str]] = {}
    for name in names:
        spellings.setdefault(name if tells_case else name.lower(), []).append(name)
    for name in dict.fromkeys(names):
        own = name_in_removed(name)
        if name.lower().startswith(PREFIX):
            yield f"column {name!r}: a run uses names that begin with {PREFIX!r}. Rename or drop it."
        if own != name and (own if tells_case else own.lower()) in spellings:
            yield f"column {name!r} is {own!r} in the removed posts, which have {own!r} already. Rename or drop one."
    for same in spellings.values():
        if len(same) > 1:
            yield (
                f"columns {' and '.join(map(repr, same))}: Spark cannot tell them apart. Rename all but one, "
                "or set spark.sql.caseSensitive to true if they differ in case."
            )
