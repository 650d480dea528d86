"""Posts in the order of deciding, each with its position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import AtomicType, LongType, NumericType, StringType, StructField, StructType

from hybriddup.config.settings import KeepHighest, KeepRule
from hybriddup.data.records import Int64s
from hybriddup.errors import InputError
from hybriddup_spark.making import Maker
from hybriddup_spark.preparing import PARTITION_BITS

NUMBER, RANK = "_hybriddup_number", "_hybriddup_rank"
"""Columns that are added to the posts while they are decided."""


@dataclass(frozen=True)
class Fields:
    """Which columns of the posts are what."""

    text: str
    id: str | None
    order_by: tuple[str, ...]

    def check(self, posts: DataFrame, rules: Sequence[KeepRule]) -> None:
        """Refuse posts that lack columns, or have the wrong ones.

        Raises
        ------
        InputError
            Names the first fault.
        """
        types = {field.name: field.dataType for field in posts.schema.fields}
        highest = [rule.highest for rule in rules if isinstance(rule, KeepHighest)]
        for name in (self.text, *self.order_by, *highest, *([self.id] if self.id else [])):
            if name not in types:
                raise InputError(f"the posts have no column {name!r}; they have {', '.join(map(repr, types))}.")
            if not isinstance(types[name], AtomicType):
                raise InputError(f"column {name!r} holds {types[name].simpleString()}; choose one of plain values.")
        if not isinstance(types[self.text], StringType):
            raise InputError(
                f"column {self.text!r} holds {types[self.text].simpleString()}, not strings; name another."
            )
        for name in highest:
            if not isinstance(types[name], NumericType):
                raise InputError(
                    f"keep: {{highest: {name}}} needs numbers; the column holds {types[name].simpleString()}. Cast it."
                )


def split_bad(posts: DataFrame, fields: Fields) -> tuple[DataFrame, DataFrame]:
    """Return the posts that have a text, and the records that have none."""
    is_bad = sf.col(fields.text).isNull()
    return posts.filter(~is_bad), posts.filter(is_bad)


def in_order(posts: DataFrame, fields: Fields, rules: Sequence[KeepRule], maker: Maker) -> DataFrame:
    """Return posts in the order of deciding; where nothing tells two apart, they are equal in all that decides."""
    ranked = with_ranks(posts, fields, rules, maker).withColumn(NUMBER, sf.monotonically_increasing_id())
    columns = list(sort_columns(fields, rules))
    if columns:
        ranked = ranked.sort(*columns)
    return ranked.drop(RANK).withColumn(NUMBER, sf.monotonically_increasing_id())


def sort_columns(fields: Fields, rules: Sequence[KeepRule]) -> list[Column]:
    """Return what posts are sorted by; nothing where they come in order, which `NUMBER` tells at first."""
    by_input = [sf.col(name) for name in (*fields.order_by, fields.id, fields.text) if name]
    if not fields.order_by:
        by_input = [] if list(rules) == ["first"] else [sf.col(NUMBER)]
    columns: list[Column] = []
    for rule in rules:
        if isinstance(rule, KeepHighest):
            value = sf.col(rule.highest).cast("double")
            columns.append(sf.when(~sf.isnan(value), value).desc_nulls_last())
        elif rule == "longest":
            columns.append(sf.char_length(sf.col(fields.text)).desc())
        elif rule == "most_complete":
            columns.append(sf.col(RANK).desc())
        else:
            return columns + [column.asc() if rule == "first" else column.desc() for column in by_input]
    return columns + [column.asc() for column in by_input]


def with_ranks(posts: DataFrame, fields: Fields, rules: Sequence[KeepRule], maker: Maker) -> DataFrame:
    """Return posts with how much each says, where that decides which is kept."""
    if "most_complete" not in rules:
        return posts
    from hybriddup.steps.posts.parts import body_lengths

    name = fields.text

    def rank(batches):  # type: ignore[no-untyped-def]
        components = maker.components()
        for batch in batches:
            normalized = components.normalizer.normalize_batch(batch.column(name).to_pylist())
            yield batch.append_column(RANK, pa.array(body_lengths(normalized, 1), pa.int64()))

    return posts.mapInArrow(rank, StructType([*posts.schema.fields, StructField(RANK, LongType())]))


def first_positions(ordered: DataFrame) -> tuple[Int64s, int]:
    """Return int64[n_partitions]: the position of the first post of each partition; and how many posts there are."""
    partition = sf.shiftright(sf.col(NUMBER), PARTITION_BITS).alias("partition")
    counts = ordered.groupBy(partition).count().toArrow()
    numbers = counts.column("partition").to_numpy()
    sizes = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    sizes[numbers] = counts.column("count").to_numpy()
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), int(sizes.sum())
