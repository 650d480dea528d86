"""The compiler of the kernels: set up before a run, and the user told when it has work to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numba.core.event import Event, Listener, install_listener

from hybriddup.kernels.cache import KEEPS, anchor
from hybriddup.run.progress import Progress

MESSAGE = "compiling the kernels, some twenty seconds" + ("; later runs load them from the cache" if KEEPS else "")


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


def start_compiler() -> None:
    """Call a small kernel: at the first call of any, numba sets itself up, which belongs to no step of a run."""
    anchor()
