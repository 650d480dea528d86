"""The work of a live index, one thing after another in a thread of its own, so that its owner can go on meanwhile.

What is asked of the index takes place in the order in which it was asked, whether the owner waits for it or not. The
kernels release the interpreter: while they look up one part of a batch, the owner prepares the next.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from hybriddup.window.index import LiveIndex

R = TypeVar("R")


class IndexWork:
    """A live index, and the thread that works on it, which there is once something was not waited for."""

    def __init__(self, index: LiveIndex) -> None:
        self._index = index
        self._thread: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        """The last change that was not waited for, until it is known to have been made."""
        self._failure: BaseException | None = None
        self.outgrown = index.outgrown
        """Whether an index planned anew would suit the window better, as of the last change that was made."""

    @property
    def has_failed(self) -> bool:
        """Whether a change that nobody waited for could not be made, so that the index must not be asked any more."""
        return self._failure is not None

    @property
    def at_rest(self) -> LiveIndex:
        """The index when all changes have been made.

        Raises
        ------
        Exception
            What a change raised that nobody waited for.
        """
        if self._last is not None:
            self._last.result()
            self._last = None
        return self._index

    def give_up(self) -> LiveIndex:
        """Return the index as it is, when what was asked so far is done or has failed; nothing more is asked of it."""
        if self._thread is not None:
            self._thread.shutdown()
        return self._index

    def change(self, change: Callable[[LiveIndex], None], *, waiting: bool) -> None:
        """Change the index; without waiting, whatever is asked later still finds it changed."""
        if waiting:
            change(self.at_rest)
            self.outgrown = self._index.outgrown
        else:
            self._last = self._begin(self._change, change)

    def ask(self, question: Callable[[LiveIndex], R], *, waiting: bool) -> Future[R]:
        """Return what the index answers: by now, or when the thread has come to it."""
        if not waiting:
            return self._begin(self._ask, question)
        answer: Future[R] = Future()
        answer.set_result(question(self.at_rest))
        return answer

    def _begin(self, do: Callable[[Callable[[LiveIndex], R]], R], work: Callable[[LiveIndex], R]) -> Future[R]:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "live index")
        return self._thread.submit(do, work)

    def _ask(self, question: Callable[[LiveIndex], R]) -> R:
        if self._failure is not None:
            raise self._failure
        return question(self._index)

    def _change(self, change: Callable[[LiveIndex], None]) -> None:
        try:
            self._ask(change)
            self.outgrown = self._index.outgrown
        except BaseException as error:
            self._failure = error
            raise
