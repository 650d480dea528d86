"""How a run tells what it is doing, and how long each step takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from hybriddup.run.summary import StepTiming


class Progress:
    """Receives the progress of a run, one step after another; this one shows it to nobody."""

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step; ``total`` is None where it is not known beforehand."""

    def advance(self, n: int) -> None:
        """Count ``n`` more things done in the step begun last."""

    def finish(self) -> None:
        """End the step begun last."""

    def note(self, message: str) -> None:
        """Tell the user something that the step bars do not show, such as compiling at the first run."""


class StoppedError(Exception):
    """The work was stopped. Nobody waits for it any more, so that no caller sees this."""


class Clock:
    """Adds up the wall time of each step, in the order in which steps first began, and tells the progress."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Progress()
        self._timings: dict[str, StepTiming] = {}
        self._interrupted = 0.0
        self._is_stopped = False

    def stop(self) -> None:
        """Have the work end the next time it tells of its progress."""
        self._is_stopped = True

    def advance(self, n: int) -> None:
        """Tell that ``n`` more things are done in the step begun last."""
        self._check()
        self.progress.advance(n)

    @contextmanager
    def step(self, name: str, n: int, unit: str = "posts") -> Iterator[None]:
        """Time the ``with`` block as one step that handles ``n`` things, and show it."""
        self._check()
        self.progress.start(name, n, unit)
        began, self._interrupted = perf_counter(), 0.0
        try:
            yield
        finally:
            self._add(name, perf_counter() - began - self._interrupted, n, unit)
            self.progress.finish()

    @contextmanager
    def part(self, name: str, n: int, unit: str = "posts") -> Iterator[None]:
        """Time the ``with`` block towards a step that is shown no progress of, and not towards one it interrupts."""
        began = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - began
            self._add(name, seconds, n, unit)
            self._interrupted += seconds

    def timings(self) -> list[StepTiming]:
        """Return the steps timed so far."""
        return list(self._timings.values())

    def _add(self, name: str, seconds: float, n: int, unit: str) -> None:
        timing = self._timings.setdefault(name, StepTiming(name, 0.0, 0, unit))
        timing.seconds += seconds
        timing.n += n

    def _check(self) -> None:
        if self._is_stopped:
            raise StoppedError
