"""Progress of a run: the current step, the time of each step, and a note when kernels are compiled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from time import perf_counter

from numba.core.event import Event, Listener, install_listener, register

from hybriddup.kernels.cache import FOLDER
from hybriddup.run.summary import StepTiming


class Progress:
    """Receives the progress of a run, step by step; this base class ignores it."""

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step with ``total`` items (None = unknown); ``unit`` names the items, such as ``posts``."""

    def advance(self, n: int) -> None:
        """Count ``n`` more items of the current step."""

    def finish(self) -> None:
        """End the current step."""

    def note(self, message: str) -> None:
        """Show a message, for example that kernels are compiled."""


class StoppedError(Exception):
    """The work was stopped. Nobody waits for its result, so no caller sees this error."""


class Clock:
    """Measures the total wall time of each step, and reports the progress to a `Progress` object."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress or Progress()
        self._timings: dict[str, StepTiming] = {}
        self._interrupted = 0.0
        self._is_stopped = False

    def stop(self) -> None:
        """Make the run raise `StoppedError` the next time it reports progress."""
        self._is_stopped = True

    def advance(self, n: int) -> None:
        """Report ``n`` more items of the current step."""
        self._check()
        self.progress.advance(n)

    @contextmanager
    def step(self, name: str, n: int, unit: str = "posts") -> Iterator[None]:
        """Time the ``with`` block as a step, and report its start and end.

        ``n`` is the number of items that the step processes; ``unit`` names these items, such as ``pairs``.
        """
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
        """Add the time of the ``with`` block to the step ``name`` instead of the current step; report no progress.

        ``n`` is the number of items that the block processes, and is added to the items of the step; ``unit`` names
        these items, such as ``pairs``.
        """
        began = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - began
            self._add(name, seconds, n, unit)
            self._interrupted += seconds

    def timings(self) -> list[StepTiming]:
        """Return the time of each step so far, in the order in which the steps began."""
        return list(self._timings.values())

    def include(self, other: Clock) -> None:
        """Add the times and item counts of another clock, step by step."""
        for timing in other.timings():
            self._add(timing.step, timing.seconds, timing.n, timing.unit)

    def _add(self, name: str, seconds: float, n: int, unit: str) -> None:
        timing = self._timings.setdefault(name, StepTiming(name, 0.0, 0, unit))
        timing.seconds += seconds
        timing.n += n

    def _check(self) -> None:
        if self._is_stopped:
            raise StoppedError


MESSAGE = "compiling the kernels, for up to a minute" + (
    "; later runs load them from the cache" if FOLDER is not None else ""
)


@contextmanager
def note_compiling(note: Callable[[str], object]) -> Iterator[None]:
    """Pass a message to ``note`` when the first kernel is compiled within the ``with`` block, in any thread.

    numba reports a compilation only after a cache miss, so kernels from the cache cause no message.
    """
    with install_listener("numba:compile", FirstCompilation(note)):
        yield


@cache
def log_compiling() -> None:
    """Make this process log a message when it compiles its next kernel; only the first call has an effect."""
    note = logging.getLogger("hybriddup").info
    register("numba:compile", FirstCompilation(note))  # type: ignore[no-untyped-call]


class FirstCompilation(Listener):
    """Passes a message to ``note`` when the first kernel of hybriddup or a plugin is compiled."""

    def __init__(self, note: Callable[[str], object]) -> None:
        self._note: Callable[[str], object] | None = note

    def on_start(self, event: Event) -> None:
        """Pass a message to ``note`` if this is the first compilation of a kernel of hybriddup or a plugin."""
        if self._note is not None and event.data["dispatcher"].py_func.__module__.startswith("hybriddup"):
            note, self._note = self._note, None
            note(MESSAGE)

    def on_end(self, event: Event) -> None:
        """Do nothing."""
