"""Data frames as far as rounds use them, in this process: a round takes milliseconds, and what tasks do is seen.

What tasks are given comes in small batches and in another order than it was made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hybriddup_spark import bins, recall, rounds
from hybriddup_spark.columns import longs
from hybriddup_spark.making import Maker
from hybriddup_spark.picking import Parts
from hybriddup_spark.preparing import prepare
from hybriddup_spark.rounds import Decided, Rounds

from hybriddup.data.records import Int64s

ROWS_A_BATCH = 7


class Frame:
    """A table with the methods of a data frame."""

    sparkSession = None  # noqa: N815

    def __init__(self, table: pa.Table, names: str) -> None:
        self.table, self.names = table, names

    def mapInArrow(self, task: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], names: str) -> Frame:  # noqa: N802
        made = list(task(iter(self.table.combine_chunks().to_batches(ROWS_A_BATCH))))
        return Frame(pa.Table.from_batches(made) if made else empty(names), names)

    def select(self, *columns: str) -> Frame:
        return Frame(self.table.select(columns), self.names)

    def toArrow(self) -> pa.Table:  # noqa: N802
        return self.table.take(np.arange(len(self.table))[::-1].copy())

    def repartition(self, _: int, __: str) -> Frame:
        return self

    def persist(self, _: object) -> Frame:
        return self

    def unpersist(self) -> Frame:
        return self

    def union(self, other: Frame) -> Frame:
        return Frame(pa.concat_tables([self.table, other.table]), self.names)

    def groupBy(self, column: str) -> Groups:  # noqa: N802
        return Groups(self, column)


@dataclass
class Groups:
    """A data frame by the values of a column, and another one by them."""

    frame: Frame
    column: str
    other: Groups | None = None
    n_tasks_a_part: ClassVar[int] = 1

    def cogroup(self, other: Groups) -> Groups:
        return Groups(self.frame, self.column, other)

    def values(self) -> list[int]:
        """Return what there is of the column: a task for each."""
        both = [self] if self.other is None else [self, self.other]
        found: list[int] = np.unique(np.concatenate([longs(one.frame.table, one.column) for one in both])).tolist()
        return found

    def part(self, value: int) -> pa.Table:
        table = self.frame.table
        return table.filter(pc.equal(table.column(self.column), value))

    def applyInArrow(self, function: Callable[..., pa.Table], names: str) -> Frame:  # noqa: N802
        made = [function(*rows) for value in self.values() for rows in self.tasks(value)]
        return Frame(pa.concat_tables(made) if made else empty(names), names)

    def tasks(self, value: int) -> list[list[pa.Table]]:
        """Return the rows that each task has of the groups of a value."""
        both = [one.part(value) for one in ([self] if self.other is None else [self, self.other])]
        n = self.n_tasks_a_part
        tasks = [[rows.take(np.arange(number, len(rows), n)) for rows in both] for number in range(n)]
        return [task for task in tasks if any(map(len, task))]


@dataclass(frozen=True)
class PlainRounds(Rounds):
    """Rounds that keep in memory what others write to files."""

    files: dict[str, list[Frame]] = field(default_factory=dict)

    def write(self, frame: Any, name: str) -> Any:
        self.files[name] = [frame]
        return frame

    def written(self, name: str) -> pa.Table:
        """Return what all rounds have written under a name."""
        return pa.concat_tables(frame.table for key, (frame,) in self.files.items() if key.startswith(f"{name}/"))


class Session:
    """Makes data frames."""

    def createDataFrame(self, table: pa.Table) -> Frame:  # noqa: N802
        return Frame(table, "")


def empty(names: str) -> pa.Table:
    types = {"bigint": pa.int64(), "int": pa.int32(), "tinyint": pa.int8(), "double": pa.float64(),
             "boolean": pa.bool_(), "binary": pa.binary(), "string": pa.string()}  # fmt: skip
    fields = [part.split() for part in names.split(", ")]
    return pa.schema([(name, types[kind]) for name, kind in fields]).empty_table()


def decide_plainly(
    monkeypatch: pytest.MonkeyPatch,
    maker: Maker,
    texts: list[str],
    first_round: int,
    posts_per_round: int,
    n_given: int = 0,
) -> tuple[pa.Table, Decided]:
    """Return what rounds over some texts remove, by position; the first ``n_given`` are kept without comparing."""

    def between(frame: Frame, first: int, last: int) -> Frame:
        positions = longs(frame.table, "position")
        return Frame(frame.table.filter(pa.array((positions >= first) & (positions < last))), frame.names)

    def at_positions(frame: Frame, positions: Int64s) -> Frame:
        return Frame(frame.table.filter(pa.array(np.isin(longs(frame.table, "position"), positions))), frame.names)

    with monkeypatch.context() as patch:
        patch.setattr(rounds, "between", between)
        for module in (rounds, bins, recall):
            patch.setattr(module, "at_positions", at_positions)
        patch.setattr(bins, "even_parts", lambda _, n: np.arange(n, dtype=np.int32))
        posts = pa.Table.from_batches([prepare(maker.components(), texts, np.arange(len(texts)))])
        plain = PlainRounds(
            Session(),  # type: ignore[arg-type]
            maker,
            "",
            Frame(posts, ""),  # type: ignore[arg-type]
            Parts(np.arange(3, dtype=np.int32)),
            len(texts),
            n_given,
            first_round,
            posts_per_round,
        )
        decided = plain.decide_all()
    return plain.written("removed").sort_by("position"), decided
