"""Compare posts by a column; numbers and times in a text column are compared as numbers and times.

The rule is the same as in `hybriddup.run.deciding_order.ranks_by_value`. It matters for CSV, where all columns are
text: as text, 10 comes before 9.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, DoubleType, FloatType, StringType

from hybriddup.data.fields import has_no_value
from hybriddup.data.times import parse_time
from hybriddup.run.deciding_order import as_number
from hybriddup_spark.fields import PREFIX, named

VALUES = f"{PREFIX}value_"
"""Prefix of the columns of values parsed from text."""
VALUE = "high double, low double, time double"
"""Type of a value parsed from text: a number as ``high + low``, or a time; null if it is neither."""
WHOLE_NUMBER = r"^[+-]?[0-9]{1,38}$"
"""Ids that are compared as numbers: Spark's decimals have 38 digits."""
NO_VALUE = r"(?U)^[\s\x1c-\x1f]*((?i)nan)?[\s\x1c-\x1f]*$"
"""Text without a value, as `hybriddup.data.fields.has_no_value` decides: white space, and perhaps "nan"."""


@dataclass(frozen=True)
class OrderColumn:
    """Sort keys for one column of the posts."""

    columns: tuple[Column, ...]
    """Sort keys, most significant first; null in posts without a value."""
    kind: str = ""
    """Comparison of a text column: ``numbers``, ``times`` or ``text``; empty for other columns."""
    n_without: int = 0
    """Number of posts without such a value; only counted in text columns."""

    def rising(self) -> list[Column]:
        """Return the keys for ascending order; posts without a value are last."""
        return [column.asc_nulls_last() for column in self.columns]

    def falling(self) -> list[Column]:
        """Return the keys for descending order; posts without a value are last, too."""
        return [column.desc_nulls_last() for column in self.columns]


def read_value(text: str | None) -> tuple[float | None, float | None, float | None] | None:
    """Parse a text as `VALUE`; return None if it is empty.

    Two floats represent whole numbers of up to 31 digits exactly, such as ids of tweets and times in nanoseconds.

    Examples
    --------
    >>> read_value("-2.5"), read_value("9007199254740993"), read_value("1970-01-01T00:01Z"), read_value("N/A")
    ((-2.5, 0.0, None), (9007199254740992.0, 1.0, None), (None, None, 60.0), (None, None, None))
    """
    if text is None or has_no_value(text):
        return None
    number = as_number(text)
    if number is None:
        return None, None, parse_time(text)
    if number != number:  # "-nan"
        return None
    try:
        high = float(number)
    except OverflowError:
        return math.copysign(math.inf, number), 0.0, None
    return high, float(number - int(high)) if isinstance(number, int) else 0.0, None


def with_order_columns(posts: DataFrame, names: Iterable[str]) -> tuple[DataFrame, dict[str, OrderColumn]]:
    """Add columns of parsed values to the posts, and return the sort keys for the named columns."""
    types = {column.name: column.dataType for column in posts.schema.fields}
    names = list(dict.fromkeys(names))
    texts = [name for name in names if isinstance(types[name], StringType)]
    read = sf.udf(read_value, VALUE, useArrow=False)
    if texts:  # Spark Connect refuses to add no columns
        posts = posts.withColumns({f"{VALUES}{i}": read(named(name)) for i, name in enumerate(texts)})
    found = {name: OrderColumn((_native(name, types[name]),)) for name in names}
    found |= dict(zip(texts, _columns_of_text(posts, texts), strict=True))
    return posts, found


def _native(name: str, kind: DataType) -> Column:
    is_float = isinstance(kind, (FloatType, DoubleType))
    return sf.when(~sf.isnan(named(name)), named(name)) if is_float else named(name)


def _columns_of_text(posts: DataFrame, names: Sequence[str]) -> Iterator[OrderColumn]:
    """Yield the sort keys for text columns, in the order of their `VALUES`."""
    if not names:
        return
    values = [sf.col(f"{VALUES}{i}") for i in range(len(names))]
    counts = [sf.count(column) for value in values for column in (value, value["high"], value["time"])]
    row = posts.agg(sf.count("*"), *counts).collect()[0]
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        n_texts, n_numbers, n_times = row[3 * i + 1 : 3 * i + 4]
        if n_numbers:
            yield OrderColumn((value["high"], value["low"]), "numbers", row[0] - n_numbers)
        elif 2 * n_times > n_texts:
            yield OrderColumn((value["time"],), "times", row[0] - n_times)
        else:
            yield OrderColumn((sf.when(value.isNotNull(), named(name)),), "text", row[0] - n_texts)


def order_of_ids(posts: DataFrame, name: str) -> list[Column]:
    """Return the sort keys for ids: whole numbers, even in text, as numbers and before other text."""
    column, types = named(name), {field.name: field.dataType for field in posts.schema.fields}
    if not isinstance(types[name], StringType):
        return [column]
    return [sf.when(column.rlike(WHOLE_NUMBER), column.cast("decimal(38,0)")), column]


def scope_of(posts: DataFrame, names: Sequence[str]) -> Column:
    """Return the expression for the scope of a post: a hash of its values; posts without any value share a scope."""
    types = {field.name: field.dataType for field in posts.schema.fields}

    def value(name: str) -> Column:
        if isinstance(types[name], StringType):
            return sf.when(~named(name).rlike(NO_VALUE), named(name))
        return _native(name, types[name])

    return sf.xxhash64(*map(value, names))
