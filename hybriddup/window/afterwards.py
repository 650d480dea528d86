"""What is left to do when posts are on disk: their sender gets the answer, and it is done meanwhile.

Whoever asks the window for anything next waits until it is done, so that nobody sees a difference but the time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

logger = logging.getLogger("hybriddup")


class Afterwards:
    """A thread for such work, which there is once some was worth it."""

    def __init__(self) -> None:
        self._thread: ThreadPoolExecutor | None = None
        self._work: Future[None] | None = None

    def do(self, work: Callable[[], None], *, worthwhile: bool) -> None:
        """Do the work: beside the caller where that is worthwhile, and otherwise now.

        Its errors reach the caller where it is done now. Otherwise they are logged: the posts have been answered.
        """
        self.wait()
        if not worthwhile:
            work()
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, "hybriddup-afterwards")
        self._work = self._thread.submit(work)

    def wait(self) -> None:
        """Wait until what was begun is done."""
        if self._work is None:
            return
        error = self._work.exception()
        self._work = None
        if error is not None:
            logger.error(
                "posts are decided and on disk, but what is in memory could not be brought up to date with them, "
                "which is made up for when the next ones are decided",
                exc_info=error,
            )
