"""The removed posts, each with its keeper and the evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from hybriddup.data.marks import MARKS
from hybriddup.data.removed import EQUAL
from hybriddup.errors import InputError
from hybriddup.run.components import Components
from hybriddup_spark.divided import united
from hybriddup_spark.fields import EVIDENCE, PREFIX, Fields, name_in_removed, named
from hybriddup_spark.ordering import NUMBER

POSITION, KEEPER = f"{PREFIX}position", f"{PREFIX}keeper"
"""Columns with the position of a post and of its keeper."""


@dataclass(frozen=True)
class Keepers:
    """Posts that may be keepers: the posts of a run, and the posts given as ``against``."""

    texts: DataFrame
    """`KEEPER`, and the columns ``keeper_text`` and ``duplicate_of``, the latter only if posts have ids."""
    n_against: int
    """Number of posts given as ``against``; they have the first positions."""

    @classmethod
    def of(cls, fields: Fields, posts: DataFrame, others: DataFrame | None, n_against: int) -> Keepers:
        """Build from posts with their `POSITION`."""
        columns = [sf.col(POSITION).alias(KEEPER), named(fields.text).alias(f"{PREFIX}keeper_text")]
        columns += [named(fields.id).alias(f"{PREFIX}duplicate_of")] if fields.id else []
        frames = [frame.select(*columns) for frame in (posts, others) if frame is not None]
        return cls(united(frames), n_against)


def removed_posts(placed: DataFrame, removed: DataFrame, keepers: Keepers, components: Components) -> DataFrame:
    """Return the removed posts with all of their columns and `EVIDENCE`.

    Parameters
    ----------
    placed
        All posts with their `POSITION`.
    removed
        `hybriddup_spark.schemas.REMOVED`.
    """
    source = sf.when(sf.col("keeper") < keepers.n_against, "against").alias(f"{PREFIX}keeper_source")
    evidence = removed.select(
        sf.col("position").alias(POSITION),
        sf.col("keeper").alias(KEEPER),
        *_of_links(components),
        *([source] if keepers.n_against else []),
    )
    joined = placed.join(evidence, POSITION).join(keepers.texts, KEEPER)
    own = [name for name in placed.columns if name not in (POSITION, NUMBER)]
    return joined.select(
        *(named(name).alias(name_in_removed(name)) for name in own),
        *(sf.col(PREFIX + name).alias(name) for name in EVIDENCE if PREFIX + name in joined.columns),
    )


def marked_posts(kept: DataFrame, placed: DataFrame, removed: DataFrame, keepers: Keepers, fields: Fields) -> DataFrame:
    """Return kept and removed posts with the columns `MARKS`.

    Parameters
    ----------
    kept
        Kept posts with their `POSITION`.
    placed, removed
        See `removed_posts`.

    Raises
    ------
    InputError
        The posts have no ids, or a column with one of these names.
    """
    check_marks(placed.columns, fields)
    numbered = removed.select("keeper").distinct().sort("keeper").toArrow()
    numbers = pa.array(range(1, len(numbered) + 1), pa.int64())
    clusters = kept.sparkSession.createDataFrame(numbered.append_column("cluster", numbers))
    evidence = removed.select(sf.col("position").alias(POSITION), "keeper", "score").join(clusters, "keeper")
    ids = keepers.texts.select(sf.col(KEEPER).alias("keeper"), sf.col(f"{PREFIX}duplicate_of").alias("duplicate_of"))
    own = [named(name) for name in placed.columns if name not in (POSITION, NUMBER)]
    of_removed = placed.join(evidence, POSITION).join(ids, "keeper").select(*own, *MARKS)
    of_kept = kept.join(clusters.withColumnRenamed("keeper", POSITION), POSITION, "left")
    id_type = placed.schema[str(fields.id)].dataType
    nothing = sf.lit(None).cast(id_type).alias("duplicate_of"), sf.lit(None).cast("double").alias("score")
    return of_kept.select(*own, *nothing, "cluster").unionByName(of_removed)


def check_marks(columns: Sequence[str], fields: Fields) -> None:
    """Raise InputError if posts have no ids, or already have a column with a name in `MARKS`."""
    if fields.id is None:
        raise InputError("posts without ids cannot be marked, because a mark names the keeper. Add a column of ids.")
    if taken := [name for name in columns if name.lower() in MARKS]:
        raise InputError(
            f"the posts have columns {', '.join(map(repr, taken))}, which marks would replace. Rename them."
        )


def _of_links(components: Components) -> list[Column]:
    """Return the expressions that compute the columns of evidence from `REMOVED`."""
    is_exact = sf.col("is_exact")
    verifiers = sf.array(*map(sf.lit, [EQUAL, *components.bands.plan.names]))
    bands = sf.array(*map(sf.lit, components.bands.names))
    columns = {
        "reason": sf.when(is_exact, "exact").otherwise("near"),
        "hamming_distance": sf.col("distance"),
        "verifier": verifiers[sf.when(is_exact, 0).otherwise(sf.col("verifier") + 1)],
        "score": sf.col("score"),
        "threshold": sf.col("threshold"),
        "length_band": bands[sf.col("band")],
    }
    return [column.alias(PREFIX + name) for name, column in columns.items()]
