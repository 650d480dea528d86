"""The context of a session, and counting the Spark tasks of a run."""

from __future__ import annotations

import uuid
from types import TracebackType

from pyspark import SparkContext
from pyspark.errors import PySparkAttributeError
from pyspark.sql import SparkSession

GROUP, DESCRIPTION = "spark.jobGroup.id", "spark.job.description"
"""The properties of a thread that `pyspark.SparkContext.setJobGroup` sets."""


def context_of(session: SparkSession) -> SparkContext | None:
    """Return the context of a session; None if it uses Spark Connect, which has none."""
    try:
        return session.sparkContext
    except PySparkAttributeError:
        return None


class TaskCounter:
    """Counts the tasks of all jobs that this thread starts within a ``with`` block, if there is a context."""

    def __init__(self, context: SparkContext | None) -> None:
        self._context, self._group = context, f"hybriddup-{uuid.uuid4().hex}"
        self._before: dict[str, str | None] = {}
        self._tasks: dict[int, int] = {}

    def __enter__(self) -> TaskCounter:
        if self._context is not None:
            self._before = {name: self._context.getLocalProperty(name) for name in (GROUP, DESCRIPTION)}
            self._context.setJobGroup(self._group, "hybriddup")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._context is not None:
            for name, value in self._before.items():  # None removes a property
                self._context.setLocalProperty(name, value)  # type: ignore[arg-type]

    def update(self) -> int | None:
        """Return the number of completed tasks; call it regularly, because Spark forgets old stages."""
        if self._context is None:
            return None
        tracker = self._context.statusTracker()
        for job in map(tracker.getJobInfo, tracker.getJobIdsForGroup(self._group)):
            for stage in map(tracker.getStageInfo, job.stageIds if job else ()):
                if stage is not None:
                    self._tasks[stage.stageId] = stage.numCompletedTasks
        return sum(self._tasks.values())
