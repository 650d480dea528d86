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
