"""Columns of the posts: their names in Spark and in results, and the errors about them.

Columns that a run adds have names with `PREFIX`, so that they never collide with a user's column.
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
"""Prefix of the columns that a run adds; no column of the posts may begin with it."""
OWN = "post_"
"""Prefix, in the removed posts, of a user's column with a name of `EVIDENCE`."""
EVIDENCE = (
    "duplicate_of", "keeper_text", "reason", "hamming_distance", "verifier", "score", "threshold", "length_band",
    "keeper_source",
)  # fmt: skip
"""Columns with the evidence for a removal, in the order of the fields of `hybriddup.Removed`. ``keeper_source`` exists
only if posts are compared with other posts."""


def named(name: str) -> Column:
    """Return the column called ``name``, which may contain any characters."""
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


def is_case_sensitive(session: SparkSession) -> bool:
    """Return whether Spark treats names that differ only in case as different columns."""
    return str(session.conf.get("spark.sql.caseSensitive")).lower() == "true"


@dataclass(frozen=True)
class Fields:
    """Names of the columns of the posts that a run uses, by role."""

    text: str
    id: str | None
    order_by: tuple[str, ...]
    per: tuple[str, ...] = ()
    """Columns whose values define the scope of a post."""

    def check(self, posts: DataFrame, rules: Sequence[KeepRule]) -> None:
        """Check that the posts have these columns with suitable types, and no column whose name a run cannot use.

        Raises
        ------
        InputError
            Names all faults, one per line.
        """
        columns = posts.schema.fields
        faults = [*self._faults_of_roles(columns, highest_fields(rules))]
        faults += name_faults([column.name for column in columns], case_sensitive=is_case_sensitive(posts.sparkSession))
        if faults:
            raise InputError("\n".join(faults))

    def check_against(self, others: DataFrame, posts: DataFrame) -> None:
        """Check that other posts have the same columns as the posts, as far as a run uses them.

        Raises
        ------
        InputError
            Names all faults, one per line.
        """
        faults = list(self._faults_of_roles(others.schema.fields, ()))
        if not faults:
            for name in (*((self.id,) if self.id else ()), *self.per):
                here, there = (frame.schema[name].dataType.simpleString() for frame in (posts, others))
                if here != there:
                    faults.append(f"column {name!r} has {there}, and {here} in the posts; cast one of them.")
        if faults:
            raise InputError("\n".join(f"against: {fault}" for fault in faults))

    def _faults_of_roles(self, columns: Sequence[StructField], highest: Sequence[str]) -> Iterator[str]:
        types = {column.name: column.dataType for column in columns}
        ids = [self.id] if self.id else []
        for name in dict.fromkeys((self.text, *self.order_by, *highest, *ids, *self.per)):
            if name not in types:
                yield f"the posts have no column {name!r}; they have {', '.join(map(repr, types)) or 'none'}."
            elif name == self.text and not isinstance(types[name], StringType):
                yield f"column {name!r} has {types[name].simpleString()}, not strings; name another."
            elif not isinstance(types[name], AtomicType):
                yield f"column {name!r} has {types[name].simpleString()}; choose a column of plain values."


def highest_fields(rules: Sequence[KeepRule]) -> list[str]:
    """Return the fields of ``keep: {highest: FIELD}``."""
    return [rule.highest for rule in rules if isinstance(rule, KeepHighest)]


def name_faults(names: Sequence[str], *, case_sensitive: bool) -> Iterator[str]:
    """Yield the faults of column names, each with a remedy."""
    spellings: dict[str, list[str]] = {}
    for name in names:
        spellings.setdefault(name if case_sensitive else name.lower(), []).append(name)
    for name in dict.fromkeys(names):
        own = name_in_removed(name)
        if name.lower().startswith(PREFIX):
            yield f"column {name!r}: a run uses names that begin with {PREFIX!r}. Rename or drop it."
        if own != name and (own if case_sensitive else own.lower()) in spellings:
            yield f"column {name!r} is {own!r} in the removed posts, which have {own!r} already. Rename or drop one."
    for same in spellings.values():
        if len(same) > 1:
            yield (
                f"columns {' and '.join(map(repr, same))}: Spark cannot distinguish them. Rename all but one, "
                "or set spark.sql.caseSensitive to true if they differ in case."
            )
