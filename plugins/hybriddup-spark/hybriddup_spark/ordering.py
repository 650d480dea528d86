"""Posts in the decision order, each with its position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType, StructField, StructType

from hybriddup.config.settings import KeepHighest, KeepRule
from hybriddup.data.records import Int64s
from hybriddup_spark.fields import PREFIX, Fields, corrupt_column, highest_fields, named
from hybriddup_spark.making import Maker
from hybriddup_spark.order_values import OrderColumn, order_of_ids, with_order_columns
from hybriddup_spark.preparing import PARTITION_BITS

NUMBER, RANK = f"{PREFIX}number", f"{PREFIX}rank"
"""Columns that a run adds to the posts."""


def split_bad(posts: DataFrame, fields: Fields) -> tuple[DataFrame, DataFrame]:
    """Split records into posts with a text, and records without a text or that Spark could not read."""
    corrupt, is_bad = corrupt_column(posts.sparkSession), named(fields.text).isNull()
    if corrupt not in posts.columns or corrupt == fields.text:
        return posts.filter(~is_bad), posts.filter(is_bad)
    is_bad |= named(corrupt).isNotNull()
    return posts.filter(~is_bad).drop(named(corrupt)), posts.filter(is_bad)


def in_order(
    posts: DataFrame, fields: Fields, rules: Sequence[KeepRule], maker: Maker
) -> tuple[DataFrame, dict[str, OrderColumn]]:
    """Sort posts into the decision order and number them; also return how each column of the order is compared."""
    ordered, compared = with_order_columns(posts, [*fields.order_by, *highest_fields(rules)])
    ordered = with_ranks(ordered, fields, rules, maker).withColumn(NUMBER, sf.monotonically_increasing_id())
    ids = order_of_ids(posts, fields.id) if fields.id else []
    by_input = [OrderColumn((sf.col(NUMBER),))]
    if fields.order_by:  # posts that are equal in all of these are interchangeable
        by_input = [*(compared[name] for name in fields.order_by), OrderColumn((*ids, named(fields.text)))]
    if columns := sort_columns(fields, rules, compared, by_input):
        ordered = ordered.sort(*columns)
    return ordered.select(*map(named, posts.columns), sf.monotonically_increasing_id().alias(NUMBER)), compared


def sort_columns(
    fields: Fields, rules: Sequence[KeepRule], compared: Mapping[str, OrderColumn], by_input: Sequence[OrderColumn]
) -> list[Column]:
    """Return the sort keys of the decision order; none if posts are in order. ``by_input`` is the input's order."""
    if not fields.order_by and list(rules) == ["first"]:
        return []
    columns: list[Column] = []
    for rule in (*rules, "first"):
        if isinstance(rule, KeepHighest):
            columns += compared[rule.highest].falling()
        elif rule == "longest":
            columns.append(sf.char_length(named(fields.text)).desc())
        elif rule == "most_complete":
            columns.append(sf.col(RANK).desc())
        else:
            orders = (order.falling() if rule == "last" else order.rising() for order in by_input)
            return columns + list(chain.from_iterable(orders))
    return columns


def with_ranks(posts: DataFrame, fields: Fields, rules: Sequence[KeepRule], maker: Maker) -> DataFrame:
    """Add a column `RANK` with the length of each post's body, if ``rules`` has ``most_complete``."""
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
    """Return int64[n_partitions], the position of the first post of each partition, and the number of posts."""
    partition = sf.shiftright(sf.col(NUMBER), PARTITION_BITS).alias("partition")
    counts = ordered.groupBy(partition).count().toArrow()
    numbers = counts.column("partition").to_numpy()
    sizes = np.zeros(int(numbers.max(initial=-1)) + 1, np.int64)
    sizes[numbers] = counts.column("count").to_numpy()
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64), int(sizes.sum())
