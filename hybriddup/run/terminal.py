"""Shows progress on standard error: a bar on a terminal, else a line for each long step; nothing if quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import ceil
from time import perf_counter
from typing import TYPE_CHECKING

from hybriddup.run.progress import Progress

if TYPE_CHECKING:
    import rich.progress

Course = Sequence[tuple[str, float]]
"""The steps of a run in order, each with its share of the total time."""

COURSE_OF_A_RUN: Course = (
    ("normalize", 0.10),
    ("exact", 0.02),
    ("fingerprint", 0.20),
    ("block index", 0.05),
    ("characters", 0.01),
    ("block index", 0.57),
    ("decide", 0.0),
    ("audit", 0.02),
    ("write", 0.03),
)
"""The steps of a run with their shares of its time, measured on 300,000 Weibo posts and a million titles. Reading
is not included, because the number of posts to read is unknown."""
LEAST_SECONDS = 1.0
"""Minimum duration of a step that gets its own line, in seconds."""
LEAST_SHARE = 0.03
"""Share of the run that must be done before the remaining time is shown."""


@contextmanager
def show_progress(*, quiet: bool, course: Course = ()) -> Iterator[Progress]:
    """Yield a progress display that suits standard error, and restore the terminal at the end.

    One bar covers all steps in ``course``; any other step has its own bar.
    """
    if quiet:
        yield Progress()
    elif not sys.stderr.isatty():
        yield PlainLines()
    else:
        bar = Bar(course)
        try:
            yield bar
        finally:
            bar.close()


class PlainLines(Progress):
    """Prints one line for each long step when it ends; suits logs."""

    def __init__(self, least_seconds: float = LEAST_SECONDS) -> None:
        self._least_seconds = least_seconds

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step, and measure its time."""
        self._step, self._unit, self._total = step, unit, total
        self._n = 0
        self._began = perf_counter()

    def advance(self, n: int) -> None:
        """Add ``n`` to the number of items that the step has processed."""
        self._n += n

    def finish(self) -> None:
        """Print the step with its count and time, unless it was fast or failed."""
        seconds = perf_counter() - self._began
        is_failing = sys.exc_info()[0] is not None  # the caller ends the step while an exception passes through
        if seconds < self._least_seconds or is_failing:
            return
        n = self._n or self._total or 0
        say(f"{self._step}: {n:,} {self._unit} in {seconds:.2f} s")

    def note(self, message: str) -> None:
        """Print a remark."""
        say(message)


def say(line: str) -> None:
    """Print a line on standard error, if there is one."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)


class Bar(Progress):
    """A single progress bar for the whole run; it disappears when the run ends."""

    def __init__(self, course: Course = ()) -> None:
        self._course = list(course)
        self._whole = sum(share for _, share in course)
        self._done = 0.0
        self._share: float | None = None
        """Share of the total time that the current step takes; None if the step is not in the course."""
        self._began = 0.0
        self._bar = _new_bar()
        self._task = self._bar.add_task("", total=None, detail="")

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step; earlier steps of the course that did not run count as done."""
        self._step, self._total, self._unit, self._n = step, total, unit, 0
        self._share = None
        if step in (names := [name for name, _ in self._course]):
            place = names.index(step)
            self._done += sum(share for _, share in self._course[:place])
            self._share = self._course[place][1]
            del self._course[: place + 1]
            self._began = self._began or perf_counter()
        self._draw()
        self._bar.start()  # not before there is something to show: a user may be typing the posts

    def advance(self, n: int) -> None:
        """Move the bar by ``n`` items of the current step."""
        self._n += n
        self._draw()

    def finish(self) -> None:
        """Move the bar to the end of the step."""
        self._n = self._n if self._total is None else self._total
        self._draw()
        self._done += self._share or 0.0
        self._share = None

    def note(self, message: str) -> None:
        """Print a remark above the bar."""
        self._bar.console.out(message, highlight=False)

    def close(self) -> None:
        """Restore the terminal."""
        self._bar.stop()

    def _draw(self) -> None:
        if self._share is None:
            of_total = "" if self._total is None else f" of {self._total:,}"
            detail = f"{self._n:,}{of_total} {self._unit}"
            self._bar.update(self._task, total=self._total, completed=self._n, description=self._step, detail=detail)
            return
        share = (self._done + self._share * min(self._n / (self._total or 1), 1.0)) / self._whole
        detail = f"{100 * share:.0f} %{self._time_left(share)}"
        self._bar.update(self._task, total=1.0, completed=share, description=self._step, detail=detail)

    def _time_left(self, share: float) -> str:
        if share < LEAST_SHARE:
            return ""
        seconds = ceil((perf_counter() - self._began) * (1 - share) / share)
        return f", about {seconds} s left" if seconds < 100 else f", about {round(seconds / 60)} min left"


def _new_bar() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("{task.description:<11}"), BarColumn(), TextColumn("{task.fields[detail]}"))
    return Progress(*columns, console=Console(stderr=True), transient=True)
