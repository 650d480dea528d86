"""How a run tells what it is doing, how long each step takes, and that kernels have to be compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from numba.core.event import Event, Listener, install_listener

from hybriddup.kernels.cache import KEEPS
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


MESSAGE = "compiling the kernels, for up to a minute" + ("; later runs load them from the cache" if KEEPS else "")


@contextmanager
def note_compiling(progress: Progress) -> Iterator[None]:
    """Tell the user, at the first kernel that is compiled within this context, that it takes a while.

    numba says so itself, after it has looked into its cache. So it makes no difference what is in there: kernels for
    other types, other versions or another processor, or only some of them.
    """
    with install_listener("numba:compile", FirstCompilation(progress)):
        yield


class FirstCompilation(Listener):
    """Notes the first compilation."""

    def __init__(self, progress: Progress) -> None:
        self._progress: Progress | None = progress

    def on_start(self, event: Event) -> None:  # noqa: ARG002  which kernel it is, nobody needs to know
        """Tell the user, unless that has happened."""
        progress, self._progress = self._progress, None
        if progress is not None:
            progress.note(MESSAGE)

    def on_end(self, event: Event) -> None:
        """Do nothing."""
