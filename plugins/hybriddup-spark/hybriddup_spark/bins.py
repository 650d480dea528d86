"""Spark tasks that decide the open posts of a round, slice by slice; `hybriddup_spark.slicing` explains why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, GroupedData

from hybriddup.data.records import Int64s
from hybriddup_spark.blocks import PART, mapped, pack, travelling, unpack
from hybriddup_spark.columns import distinct, longs
from hybriddup_spark.divided import even_parts
from hybriddup_spark.equal import exact_removed
from hybriddup_spark.gathering import Places
from hybriddup_spark.making import Maker
from hybriddup_spark.picking import Parts, binned
from hybriddup_spark.positions import at_positions
from hybriddup_spark.schemas import SETTLED, TOGETHER, VERDICTS, in_spark
from hybriddup_spark.slicing import Kept, pieces, slices, verified_ahead, wanted_in
from hybriddup_spark.together import decide_together, verify_ahead

SETTLED_COLUMNS = in_spark(SETTLED)


@dataclass(frozen=True)
class BinTasks:
    """Decides open posts in bins of posts that depend on each other, each bin in one task."""

    maker: Maker
    parts: Parts
    texts: DataFrame
    """The columns `hybriddup_spark.picking.OF_BINS` of the open posts and the kept texts that they may match."""

    def decide(self, places: Places, others: pa.Table) -> Iterator[pa.Table]:
        """Decide open posts and their copies; yield the decisions on each slice, as `SETTLED`.

        Parameters
        ----------
        places
            Positions of the open posts and their copies, sorted by bin.
        others
            Kept texts that the open posts may match, as `WANTED`.
        """
        kept = Kept.none()
        for some in slices(places):
            keepers = kept.keepers(some)
            yield self.settled_copies(some.take(keepers >= 0), keepers[keepers >= 0])
            some = some.take(keepers < 0)
            if len(some.texts):
                settled = self.decide_slice(some, pa.concat_tables([others, kept.wanted()]))
                kept = kept.with_those_of(some, settled)
                yield settled

    def settled_copies(self, places: Places, keepers: Int64s) -> pa.Table:
        """Remove the posts at ``places``, which equal kept posts at positions ``keepers``; return them as `SETTLED`."""
        bands = self.maker.components().bands.of_lengths(places.lengths)
        nothing = np.zeros(len(keepers), np.int64)
        columns = exact_removed(places.positions, keepers, bands).columns
        return pa.table([*columns, pa.array(nothing.astype(np.bool_)), pa.array(nothing)], schema=SETTLED)

    def decide_slice(self, places: Places, others: pa.Table) -> pa.Table:
        """Decide the posts of a slice; return `SETTLED`. If it is large, other tasks verify its pairs first."""
        maker, n = self.maker, len(self.parts.values)
        groups = self.parts.values[places.bins].astype(np.int64)
        bins = self.grouped(wanted_in(places, others, groups), n)

        def decide(table: pa.Table) -> pa.Table:
            return decide_together(maker.components(), table)

        def look_up_and_decide(table: pa.Table, blocks: pa.Table) -> pa.Table:
            return decide_together(maker.components(), table, unpack(blocks, VERDICTS))

        if not verified_ahead(places):
            return bins.applyInArrow(decide, SETTLED_COLUMNS).toArrow()
        verdicts = self.verdicts(places, others, groups).repartition(n, PART).groupBy(PART)
        return bins.cogroup(verdicts).applyInArrow(look_up_and_decide, SETTLED_COLUMNS).toArrow()

    def verdicts(self, places: Places, others: pa.Table, groups: Int64s) -> DataFrame:
        """Verify the pairs of a slice in tasks of their own; return `VERDICTS` as serialized blocks.

        ``groups``, int64[n], has the partition number of each place's bin.
        """
        maker, numbers = self.maker, pieces(places.bins)
        n = int(numbers[-1]) + 1
        own = even_parts(self.texts.sparkSession, n)[numbers].astype(np.int64)
        part_of = dict(zip(own.tolist(), groups.tolist(), strict=True))

        def verify(table: pa.Table) -> pa.Table:
            part = part_of[int(longs(table, "bin")[0])]
            return pa.Table.from_batches([pack(verify_ahead(maker.components(), table, part))])

        return self.grouped(wanted_in(places, others, own), n).applyInArrow(verify, in_spark(travelling(VERDICTS)))

    def grouped(self, wanted: pa.Table, n_tasks: int) -> GroupedData:
        """Join ``wanted``, a table as `WANTED`, with its texts; group the rows, as `TOGETHER`, by bin."""
        texts = at_positions(self.texts, distinct(longs(wanted, "position")))
        return mapped(texts, binned(wanted), TOGETHER).repartition(n_tasks, "bin").groupBy("bin")
