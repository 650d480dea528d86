"""Timing the steps of a run, and telling the progress of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from hybriddup.run.progress import Progress
from hybriddup.run.summary import StepTiming


class Clock:
    """Adds up the wall time of each step, in the order in which steps first began."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self._timings: dict[str, StepTiming] = {}
        self._interrupted = 0.0

    @contextmanager
    def step(self, name: str, n: int, unit: str = "posts") -> Iterator[None]:
        """Time the ``with`` block as one step that handles ``n`` things, and show it."""
        self.progress.start(name, n, unit)
        began, self._interrupted = perf_counter(), 0.0
        try:
            yield
        finally:
            self.add(name, perf_counter() - began - self._interrupted, n, unit)
            self.progress.finish()

    def add(self, name: str, seconds: float, n: int, unit: str) -> None:
        """Count time and things towards a step."""
        timing = self._timings.setdefault(name, StepTiming(name, 0.0, 0, unit))
        timing.seconds += seconds
        timing.n += n

    @contextmanager
    def part(self, name: str, n: int, unit: str = "posts") -> Iterator[None]:
        """Time the ``with`` block towards a step that is shown no progress of, and not towards one it interrupts."""
        began = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - began
            self.add(name, seconds, n, unit)
            self._interrupted += seconds

    def timings(self) -> list[StepTiming]:
        """Return the steps timed so far."""
        return list(self._timings.values())
