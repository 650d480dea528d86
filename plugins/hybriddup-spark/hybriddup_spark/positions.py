"""Select rows of data frames by their positions in the decision order."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from hybriddup.data.records import Int64s


def between(frame: DataFrame, first: int, last: int) -> DataFrame:
    """Return the rows with positions in ``range(first, last)``."""
    return frame.filter((sf.col("position") >= first) & (sf.col("position") < last))


def at_positions(frame: DataFrame, positions: Int64s) -> DataFrame:
    """Return the rows at some positions, by a broadcast join, so that other rows do not reach a task."""
    wanted = frame.sparkSession.createDataFrame(pa.table({"position": positions}))
    return frame.join(sf.broadcast(wanted), "position", "left_semi")
