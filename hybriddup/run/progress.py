"""How a run tells what it is doing; the command line shows it, the Python API is silent unless asked."""

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of a run, one step after another."""

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Begin a step; ``total`` is None where it is not known beforehand."""
        ...

    def advance(self, n: int) -> None:
        """Count ``n`` more things done in the step begun last."""
        ...

    def finish(self) -> None:
        """End the step begun last."""
        ...

    def note(self, message: str) -> None:
        """Tell the user something that the step bars do not show, such as compiling at the first run."""
        ...


class StoppedError(Exception):
    """The work was stopped. Nobody waits for it any more, so that no caller sees this."""


class Stoppable:
    """Progress of work that can be stopped: the next time it tells of its progress, it ends.

    Parameters
    ----------
    shown
        Who is told.
    """

    def __init__(self, shown: Progress) -> None:
        self._shown = shown
        self._is_stopped = False

    def stop(self) -> None:
        """Have the work end."""
        self._is_stopped = True

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Hand it on, or end the work."""
        self._check()
        self._shown.start(step, total, unit)

    def advance(self, n: int) -> None:
        """Hand it on, or end the work."""
        self._check()
        self._shown.advance(n)

    def finish(self) -> None:
        """Hand it on."""
        self._shown.finish()

    def note(self, message: str) -> None:
        """Hand it on."""
        self._shown.note(message)

    def _check(self) -> None:
        if self._is_stopped:
            raise StoppedError


class Silent:
    """Progress that nobody sees."""

    def start(self, step: str, total: int | None, unit: str) -> None:
        """Ignore the step."""

    def advance(self, n: int) -> None:
        """Ignore the count."""

    def finish(self) -> None:
        """Ignore the end."""

    def note(self, message: str) -> None:
        """Ignore the message."""
