"""Estimate the recall of a run by comparing a sample of the kept posts with all kept posts before them.

The sample and the estimate are computed as in `hybriddup.run.audit`; each task compares the sample with some posts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from hybriddup.data.records import Bools, CandidatePairs, Int64s
from hybriddup.data.spread import spread_rows
from hybriddup.run.audit import (
    FIRST_LOOK,
    MAX_PAIRS,
    Estimate,
    Stratum,
    WideScan,
    affordable,
    parts_of_sample,
    recall_of,
    thinned,
)
from hybriddup.run.components import Components
from hybriddup_spark.blocks import Batches, Task, mapped
from hybriddup_spark.columns import bools, distinct, longs, table_of, texts
from hybriddup_spark.divided import Earlier
from hybriddup_spark.making import Maker
from hybriddup_spark.meeting import columns_of
from hybriddup_spark.picking import Flags, is_among
from hybriddup_spark.positions import at_positions
from hybriddup_spark.schemas import FLAGS, MISSED

COMPARED = "position", "is_near", "length", "bits", "sketch"
COLUMNS = *COMPARED, "text", "scope"
"""Columns of `POSTS` that the estimate reads to compare posts, and to verify pairs, too."""


@dataclass(frozen=True)
class KeptPosts:
    """The kept posts of a run, for an estimate of its recall."""

    maker: Maker
    posts: DataFrame
    """`POSTS`."""
    kept: Bools
    """bool[n_posts]: whether each post is kept."""
    n_given: int
    """Number of posts at the beginning that were kept without comparing them; they are not sampled."""

    def estimate(self, common: Int64s, n_removed: int, sample: int) -> Estimate | None:
        """Return the estimated recall; None if nothing was removed and nothing was missed.

        Parameters
        ----------
        common
            int64[n], ascending: positions of the posts with a key that `hybriddup.run.audit.COMMON_IN` or more texts
            share.
        n_removed
            Number of removed posts.
        sample
            Largest number of posts in the sample.
        """
        near = self.near()
        audited = near[near >= self.n_given]
        if not len(audited):
            return Estimate(1.0, 0.0) if n_removed else None
        sample = min(sample, len(audited))
        has_common_key = is_among(audited, common)
        parts = [(audited[rows], n) for rows, n in parts_of_sample(np.arange(len(audited)), has_common_key, sample)]
        looks = [part[spread_rows(len(part), FIRST_LOOK)] for part, _ in parts]
        weights = self.compared(looks, is_verified=False)
        chosen = []
        for (part, n), look in zip(parts, looks, strict=True):
            n_pairs = int(longs(weights, "weight")[np.isin(longs(weights, "later"), look)].sum())
            chosen.append(part[spread_rows(len(part), min(n, affordable(n_pairs, MAX_PAIRS * n // sample)))])
        weights = self.compared(chosen, is_verified=False)
        later, sizes = longs(weights, "later"), longs(weights, "weight")
        chosen = [
            thinned(some, later, sizes, MAX_PAIRS * n // sample) for some, (_, n) in zip(chosen, parts, strict=True)
        ]
        missed = distinct(longs(self.compared(chosen, is_verified=True), "later"))
        strata = [
            Stratum(len(part), int(is_among(some, missed).sum()), len(some))
            for (part, _), some in zip(parts, chosen, strict=True)
        ]
        return recall_of(n_removed, strata) if n_removed or len(missed) else None

    def near(self) -> Int64s:
        """Return the positions of the kept posts that could be near repeats, ascending."""
        could_be: Bools = np.zeros(len(self.kept), np.bool_)
        for part in mapped(self.posts.select("position", "is_near"), flag_near, FLAGS).toArrow().to_pylist():
            flags = np.unpackbits(np.frombuffer(part["bits"], np.uint8), count=part["n"])
            could_be[part["first"] : part["first"] + part["n"]] |= flags.astype(np.bool_)
        return np.flatnonzero(could_be & self.kept)

    def compared(self, samples: list[Int64s], *, is_verified: bool) -> pa.Table:
        """Compare the posts at positions ``samples`` with all kept posts before them; return near pairs as `MISSED`.

        With ``is_verified``, return only the pairs that match.
        """
        posts = self.posts.select(*(COLUMNS if is_verified else COMPARED))
        sampled = at_positions(posts, distinct(np.concatenate(samples))).toArrow()
        task = comparer(self.maker, sampled, Earlier.of(self.kept), is_verified=is_verified)
        return mapped(posts, task, MISSED).toArrow()


def flag_near(batches: Batches) -> Batches:
    """Mark the posts that could be near repeats: yield a bit set, as `FLAGS`, for each batch."""
    for batch in batches:
        positions = longs(batch, "position")[bools(batch, "is_near")]
        if len(positions):
            flags = Flags.at_positions(positions)
            n = int(positions[-1]) + 1 - flags.first
            yield table_of(FLAGS, first=[flags.first], n=[n], bits=[flags.bits.tobytes()]).to_batches()[0]


def comparer(maker: Maker, sampled: pa.Table, kept: Earlier, *, is_verified: bool) -> Task:
    """Return a task that compares the posts in ``sampled`` with earlier kept posts; it yields near pairs as `MISSED`.

    Parameters
    ----------
    is_verified
        Whether to verify the pairs and yield only matches.
    """

    def compare(batches: Batches) -> Batches:
        tables = [pa.Table.from_batches([batch]) for batch in batches]
        if not tables:
            return
        posts = pa.concat_tables(tables)
        posts = posts.filter(pa.array(bools(posts, "is_near") & kept.stay(longs(posts, "position"))))
        yield from _compare(maker.components(), posts, sampled, is_verified=is_verified).to_batches()

    return compare


def _compare(components: Components, posts: pa.Table, sampled: pa.Table, *, is_verified: bool) -> pa.Table:
    both = pa.concat_tables([posts, sampled]).combine_chunks()
    positions, columns = longs(both, "position"), columns_of(components, both)
    scan = WideScan(columns, np.argsort(positions, kind="stable"), 1)
    pairs = scan.pairs(np.arange(len(posts), len(both)))
    pairs = pairs.take((pairs.earlier < len(posts)) & (positions[pairs.earlier] < positions[pairs.later]))
    weights = scan.sizes(pairs)
    if is_verified:
        is_missed = verified(components, both, pairs)
        pairs, weights = pairs.take(is_missed), weights[is_missed]
    return table_of(MISSED, later=positions[pairs.later], weight=weights)


def verified(components: Components, posts: pa.Table, pairs: CandidatePairs) -> Bools:
    """Return bool[n_pairs]: whether each pair matches; equal texts and texts of different scopes do not."""
    rows, numbers = np.unique(np.concatenate([pairs.earlier, pairs.later]), return_inverse=True)
    earlier, later = np.split(numbers.astype(np.int64), 2)
    some = posts.take(pa.array(rows))
    known, scopes = texts(some), longs(some, "scope")
    asked: Bools = scopes[earlier] == scopes[later]
    asked &= np.fromiter((known[a] != known[b] for a, b in zip(earlier, later, strict=True)), np.bool_, len(asked))
    context = components.verifier_context(known, components.compared(known), 1)
    components.plan.prepare(context, is_learned=True)
    of_texts = CandidatePairs(earlier, later, pairs.hamming_distances).take(asked)
    asked[asked], _ = components.bands.verify(of_texts, context)
    return asked
