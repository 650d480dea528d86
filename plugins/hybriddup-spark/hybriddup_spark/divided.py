"""Tables to which each round adds, and whose rows go to the task of their part once: later rounds find them there.

The alternative is to sort the keys of all kept posts in again in each round: of ten million posts in five rounds that
moved 2.0 kB a post instead of the 1.1 kB of one round. A round is added before it is known which of its posts stay, so
tasks are told which posts did.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.storagelevel import StorageLevel

from hybriddup.data.records import Bools, Int64s
from hybriddup_spark.blocks import PART, Task, mapped, travelling, unpack_and
from hybriddup_spark.picking import Flags
from hybriddup_spark.schemas import in_spark


@dataclass(frozen=True)
class Earlier:
    """Which posts before a round stay."""

    first: int
    """The position of the first post of the round."""
    kept: Flags
    """Of each post before it, and of one of the round, which does not count."""

    @classmethod
    def of(cls, kept: Bools) -> Earlier:
        """Return what is known before a round, given bool[first]."""
        return cls(len(kept), Flags.of(0, np.append(kept, False)))

    def stay(self, positions: Int64s) -> Bools:
        """Return bool[n]: which of some posts were kept before the round; of those of the round, none."""
        return self.kept.at(np.minimum(positions, self.first))


@dataclass(frozen=True)
class Divided:
    """A table, as data frames to which rounds add. Executors keep it on their disks, and make again what gets lost."""

    schema: pa.Schema
    n_parts: int
    count_bytes: Callable[[int], None]
    """Told by tasks how many bytes of blocks go to others."""
    frames: list[DataFrame] = field(default_factory=list)

    def add(self, posts: DataFrame, task: Task) -> None:
        """Add the rows that a task makes of the posts of a round."""
        rows = mapped(posts, task, self.schema, count=self.count_bytes)
        self.frames.append(rows.repartition(self.n_parts, PART).persist(StorageLevel.DISK_ONLY))

    def by_part(self, make: Callable[[pa.Table], pa.Table], schema: pa.Schema) -> DataFrame:
        """Return what a function makes of the rows of a part, of all rounds."""
        task = unpack_and(make, self.schema)
        rows = reduce(lambda a, b: a.union(b), self.frames)
        return rows.groupBy(PART).applyInArrow(task, in_spark(travelling(schema)))

    def __enter__(self) -> Divided:
        return self

    def __exit__(self, *_: object) -> None:
        """Free the disks."""
        for frame in self.frames:
            frame.unpersist()
