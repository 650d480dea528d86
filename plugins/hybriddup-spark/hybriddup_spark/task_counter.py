"""Counting the Spark tasks of a run."""

from __future__ import annotations

import uuid
from types import TracebackType

from pyspark import SparkContext

GROUP, DESCRIPTION = "spark.jobGroup.id", "spark.job.description"
"""The properties of a thread that `pyspark.SparkContext.setJobGroup` sets."""


class TaskCounter:
    """Counts the tasks of all jobs that this thread starts within a ``with`` block."""

    def __init__(self, context: SparkContext) -> None:
        self._context, self._group = context, f"hybriddup-{uuid.uuid4().hex}"
        self._before: dict[str, str | None] = {}
        self._tasks: dict[int, int] = {}

    def __enter__(self) -> TaskCounter:
        self._before = {name: self._context.getLocalProperty(name) for name in (GROUP, DESCRIPTION)}
        self._context.setJobGroup(self._group, "hybriddup")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for name, value in self._before.items():  # None removes a property
            self._context.setLocalProperty(name, value)  # type: ignore[arg-type]

    def update(self) -> int:
        """Return the number of completed tasks; call it regularly, because Spark forgets old stages."""
        tracker = self._context.statusTracker()
        for job in map(tracker.getJobInfo, tracker.getJobIdsForGroup(self._group)):
            for stage in map(tracker.getStageInfo, job.stageIds if job else ()):
                if stage is not None:
                    self._tasks[stage.stageId] = stage.numCompletedTasks
        return sum(self._tasks.values())
