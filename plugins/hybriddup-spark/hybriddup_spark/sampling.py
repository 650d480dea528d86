"""Sample the decisions of a Spark run as a `hybriddup.Result` on one machine, for a report and near misses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from hybriddup.config import open_session
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus, PackedIds, pack_ids, put_before
from hybriddup.data.records import Int64s
from hybriddup.data.removed import RemovedBy, RemovedColumns, RemovedPosts, rows_with_keepers
from hybriddup.run.components import Components
from hybriddup.run.pipeline import judge_candidates
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.result import Origin, Result
from hybriddup.run.summary import Summary
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.parallel import available_workers
from hybriddup_spark.columns import bools, ints, longs, texts
from hybriddup_spark.divided import united
from hybriddup_spark.evidence import POSITION
from hybriddup_spark.fields import Fields, named
from hybriddup_spark.order_values import scope_of
from hybriddup_spark.result import SparkSummary

MOST_TIMES = 4
"""Maximum size of a sample as a multiple of the requested size, because any number of posts may repeat a kept one."""
SCOPE = "scope"


@dataclass(frozen=True)
class Sampler:
    """Draws samples from the posts of a run and the decisions on them."""

    kept: DataFrame
    """Kept posts with their `POSITION`."""
    placed: DataFrame
    """All posts with their `POSITION`."""
    others: DataFrame | None
    """Posts given as ``against``, with their `POSITION`; None if there were none."""
    removed: DataFrame
    """`hybriddup_spark.schemas.REMOVED`."""
    fields: Fields
    settings: Settings
    plugins: tuple[str, ...]
    recipe: LearnedRecipe
    summary: SparkSummary

    def sample(self, n: int) -> Result:
        """Return the decisions on about ``n`` posts: some kept posts, and all posts that were removed for them."""
        posts = self._chosen(n)
        keepers = np.where(posts.column("keeper").is_null(), -1, posts.column("keeper").fill_null(-1).to_numpy())
        first = self.summary.n_against
        corpus = self._corpus(posts, first)
        positions = longs(posts, "position")
        if self.others is not None:
            wanted = np.unique(keepers[(keepers >= 0) & (keepers < first)])
            others = self.others.join(_positions(self.others, wanted), POSITION, "left_semi")
            against = self._columns(others).sort("position").toArrow()
            corpus = put_before(corpus, [("against", self._corpus(against, 0))])
            positions = np.concatenate([longs(against, "position"), positions])
        return self._result(corpus, posts, keepers, positions)

    def _chosen(self, n: int) -> pa.Table:
        n_decided = self.summary.n_kept + self.summary.n_exact + self.summary.n_near
        share = sf.lit(max(n_decided // max(n, 1), 1))
        removed = self.removed.withColumnRenamed("position", POSITION)
        of_removed = self.placed.join(removed, POSITION)
        evidence = [name for name in self.removed.columns if name != "position"]
        missing = [sf.lit(None).cast(self.removed.schema[name].dataType).alias(name) for name in evidence]
        both = united([self._columns(self.kept, *missing), self._columns(of_removed, *map(sf.col, evidence))])
        group = sf.coalesce("keeper", "position")
        return both.filter(sf.pmod(sf.xxhash64(group), share) == 0).sort("position").limit(MOST_TIMES * n).toArrow()

    def _columns(self, posts: DataFrame, *more: Column) -> DataFrame:
        own = [sf.col(POSITION).alias("position"), named(self.fields.text).alias("text")]
        own += [named(self.fields.id).alias("id")] if self.fields.id else []
        own += [scope_of(posts, self.fields.per).alias(SCOPE)] if self.fields.per else []
        return posts.select(*own, *more)

    def _corpus(self, posts: pa.Table, first: int) -> Corpus:
        rows = longs(posts, "position") - first
        ids = pack_ids(posts.column("id").to_pylist() if self.fields.id else rows.tolist())
        scopes = {SCOPE: posts.column(SCOPE).to_pylist()} if self.fields.per else {}
        packed = PackedIds(ids) if isinstance(ids, np.ndarray) else ids
        return Corpus(texts(posts), packed, rows, scopes, int(rows.max(initial=-1)) + 1)

    def _result(self, corpus: Corpus, posts: pa.Table, keepers: Int64s, positions: Int64s) -> Result:
        gone = np.flatnonzero(keepers >= 0)
        some = posts.take(gone)
        columns = RemovedColumns(
            corpus.n_against + gone,
            np.searchsorted(positions, keepers[gone]),
            bools(some, "is_exact"),
            ints(some, "distance"),
            ints(some, "verifier"),
            some.column("score").to_numpy(),
            some.column("threshold").to_numpy(),
            ints(some, "band"),
        )
        registry = open_session(self.settings, self.plugins)[1].registry
        components = Components.create(self.settings, registry, 1)
        by = RemovedBy(components.plan.names, components.bands.names, self.summary.config, self.summary.recipe_id)
        removed = RemovedPosts(corpus, columns, by)
        summary = self._summary(len(posts), columns, corpus.n_against)
        kept = corpus.rows[corpus.n_against :][keepers < 0]
        per, workers = SCOPE if self.fields.per else None, available_workers()
        judge = partial(
            judge_candidates, registry=registry, workers=workers, recipe=self.recipe, per=per, time_field=""
        )
        origin = Origin(corpus, self.settings, judge, registry, per)
        pairs = np.stack(rows_with_keepers(removed), axis=1)
        return Result(kept, removed, summary, corpus.n_rows, pairs, recipe=self.recipe, origin=origin)

    def _summary(self, n: int, removed: RemovedColumns, n_against: int) -> Summary:
        of, n_exact = self.summary, int(removed.is_exact.sum())
        return Summary(
            n_read=n,
            n_exact=n_exact,
            n_near=len(removed.posts) - n_exact,
            n_kept=n - len(removed.posts),
            n_against=n_against,
            n_removed_against=int((removed.keepers < n_against).sum()),
            estimated_stage1_recall=of.estimated_stage1_recall,
            estimated_stage1_recall_margin=of.estimated_stage1_recall_margin,
            recipe_id=of.recipe_id,
            config=of.config,
            blocks=BlockReport(limits_hit=dict(of.limits_hit)),
            notes=[f"a sample of {n:,} of {of.n_read:,} posts; the recall and the limits are those of the whole run."],
        )


def _positions(frame: DataFrame, positions: Int64s) -> DataFrame:
    return sf.broadcast(frame.sparkSession.createDataFrame(pa.table({POSITION: positions})))
