"""Progress on standard error: bars at a terminal, one plain line a finished step elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from hybriddup.run.progress import Progress, Silent

if TYPE_CHECKING:
    import rich.progress


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Progress]:
    """Give the progress that suits standard error, and leave the terminal as it was."""
    progress = Silent() if quiet else terminal_progress()
    try:
        yield progress
    finally:
        if isinstance(progress, Bars):
            progress.close()


def terminal_progress() -> Progress:
    """Return the progress that suits standard error: bars at a terminal, plain lines elsewhere."""
    return Bars() if sys.stderr.isatty() else PlainLines()


class PlainLines:
    """One line a step, when it is finished; for logs."""

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step."""
        self._step, self._unit, self._total = step, unit, total
        self._n = 0
        self._began = perf_counter()

    def advance(self, n: int) -> None:
        """Count what is done."""
        self._n += n

    def finish(self) -> None:
        """Print the step with its count and time, unless it ends because of an error."""
        if _is_failing():
            return
        seconds = perf_counter() - self._began
        n = self._n or self._total or 0
        typer.echo(f"{self._step}: {n:,} {self._unit} in {seconds:.2f} s", err=True)

    def note(self, message: str) -> None:
        """Print a remark."""
        typer.echo(message, err=True)


class Bars:
    """A progress bar a step; finished ones stay in view."""

    def __init__(self) -> None:
        self._bar: rich.progress.Progress | None = None
        self._total: int | None = None

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a bar; without a total it only moves."""
        self.close()
        self._total = total
        self._bar = _new_bar()
        self._task = self._bar.add_task(step, total=total, unit=unit)
        self._bar.start()

    def advance(self, n: int) -> None:
        """Move the bar."""
        if self._bar is not None:
            self._bar.advance(self._task, n)

    def finish(self) -> None:
        """Fill the bar and leave it in view; where the step ends because of an error, it stays where it was."""
        if self._bar is not None and not _is_failing():
            done = self._total if self._total is not None else self._bar.tasks[0].completed
            self._bar.update(self._task, total=done, completed=done)
        self.close()

    def note(self, message: str) -> None:
        """Print a remark above the bar."""
        if self._bar is None:
            typer.echo(message, err=True)
        else:
            self._bar.console.print(message, markup=False, highlight=False)

    def close(self) -> None:
        """Give the terminal back."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def _is_failing() -> bool:
    """Return whether an exception is on its way through the caller, whose ``finally`` ends the step."""
    return sys.exc_info()[0] is not None


def _new_bar() -> rich.progress.Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[unit]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
