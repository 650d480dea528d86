"""The operations of the HTTP service on its window, which is opened in the background.

One thread decides posts, and another one reads from the window.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from starlette.requests import Request

from hybriddup.errors import HybriddupError, InputError, StoreError, UnsupportedError
from hybriddup.service.batching import DecidingQueue
from hybriddup.service.latest import History, Latest
from hybriddup.service.limits import MAX_LOOKS, Limits
from hybriddup.service.metrics import Metrics
from hybriddup.service.problems import RequestError, could_not, no_post, not_ready
from hybriddup.service.reading import Reader, declared_bytes, posts_of
from hybriddup.window import Decision, Post, StoredPost, Window, WindowStats
from hybriddup.window.event_time import TimeOf
from hybriddup.window.records import PostId

T = TypeVar("T")
SECONDS_BETWEEN_TRIES = 1.0
"""Interval between two attempts to use a store that failed, in seconds."""
SECONDS_TO_CHECK = 1.0
"""Maximum time, in seconds, that a readiness probe waits for the store; then it reports the last known state."""
LOG = logging.getLogger(__name__)


class Service:
    """The operations on the window that the routes need. Not thread-safe: use it from one event loop."""

    def __init__(
        self,
        open_window: Callable[[], Window],
        limits: Limits,
        time_of: TimeOf = "arrival",
        try_disk: Callable[[], None] = lambda: None,
        authors: str | None = None,
    ) -> None:
        self.open_window = open_window
        self.limits = limits
        self.time_of, self.authors = time_of, authors
        self.try_disk = try_disk
        """Function that raises OSError if the disk of the store cannot be written to."""
        self.window: Window | None = None
        self.failure: BaseException | None = None
        """The exception if the window could not be opened, else None."""
        self.status = "loading"
        self.trouble: str | None = None
        """Message about why the store cannot be used at the moment; None = it can be used."""
        self.recovering: asyncio.Task[None] | None = None
        self.checking: asyncio.Task[None] | None = None
        self.logged = ""
        """Message of the last logged error; the same error is not logged again until the service recovers."""
        self.history = History()
        self.latest = Latest()
        self.queue = DecidingQueue(self._decide, limits.max_queue)
        self.metrics = Metrics(lambda: self.last_stats if self.status == "ready" else None)
        self.metrics.queue.set_function(lambda: self.queue.n_posts)
        self.last_stats: WindowStats | None = None
        """Counts of the window after the last batch or deletion, for reading while the next batch is decided."""
        self.reader = Reader(limits)
        self.looking = ThreadPoolExecutor(1, "looking")
        self.n_looks = 0
        self.opening: asyncio.Future[None] | None = None
        self.is_closed = False
        """Whether all accepted posts are decided and the window is closed."""

    def start(self, on_ready: Callable[[WindowStats], None], on_failure: Callable[[], None]) -> None:
        """Begin to open the window; call ``on_ready`` with its counts once it is open, ``on_failure`` if that fails."""
        self.opening = asyncio.ensure_future(self._open(on_ready, on_failure))

    async def _open(self, on_ready: Callable[[WindowStats], None], on_failure: Callable[[], None]) -> None:
        try:
            window = await asyncio.get_running_loop().run_in_executor(self.queue.thread, self.open_window)
            self.window, self.last_stats, self.status = window, window.stats(), "ready"
        except Exception as error:
            self.failure, self.status = error, "failed"
            on_failure()
        else:
            on_ready(self.last_stats)

    async def close(self) -> None:
        """Decide the accepted posts, then close the window. While the window is still loading, do nothing."""
        if self.opening is not None and not self.opening.done():
            return
        self.status = "ending"
        for task in filter(None, (self.recovering, self.checking)):
            task.cancel()
        await self.queue.close()
        self.looking.shutdown()
        if self.window is not None:
            await asyncio.get_running_loop().run_in_executor(None, self.window.close)
        self.is_closed = True

    def ready_window(self) -> Window:
        """Return the window; raise RequestError if it is not open."""
        if self.window is None or self.status != "ready":
            raise not_ready(self.status)
        return self.window

    async def check_ready(self) -> None:
        """Raise RequestError if the window is not open, or its store cannot be read or written."""
        window = self.ready_window()
        if self.trouble is None and not self.queue.n_posts:  # while posts are decided, they detect trouble themselves
            if self.checking is None or self.checking.done():
                self.checking = asyncio.create_task(self._check_store(window))
            await asyncio.wait([self.checking], timeout=SECONDS_TO_CHECK)
        if self.trouble is not None:
            raise not_ready(self.trouble)

    async def _check_store(self, window: Window) -> None:
        """Mark the service as not ready if the store cannot be read, for example because it was removed."""
        try:
            await asyncio.to_thread(window.get, "")
        except StoreError as error:
            self._log(error)
            self._note_trouble("its store could not be read")
        except HybriddupError:  # the window was closed meanwhile
            return

    async def decide(self, request: Request) -> tuple[list[Decision], bool]:
        """Decide the posts of a request; return the decisions, and whether the body is an array of posts.

        Raises RequestError, without reading the body, if the window is not open or the queue is full. Also raises the
        errors of `Reader.read` and `DecidingQueue.submit`.
        """
        self.ready_window()
        n_bytes = declared_bytes(request) or 0  # no room is kept, as a client that sends slowly would block others
        self.queue.check_room(min(n_bytes / self.queue.bytes_per_post, self.limits.max_posts))
        read = partial(posts_of, limits=self.limits, time_of=self.time_of, authors=self.authors)
        posts, is_array = await self.reader.read(request, lambda body: (read(body), isinstance(body, list)))
        if n_bytes:
            self.queue.have_read(len(posts), n_bytes)
        try:
            client = request.client.host if request.client else ""
            decisions = await self.queue.submit(posts, self.limits.request_timeout, client)
        except RequestError as problem:
            if isinstance(problem.__cause__, HybriddupError):
                self._log(problem.__cause__)
            if isinstance(problem.__cause__, StoreError):
                self._note_trouble("the disk is full" if problem.status == 507 else "posts could not be written")
            raise
        if not all(decision.repeated for decision in decisions):
            self._recovered()
        self.history.add(decisions)
        self.latest.add(decisions)
        return decisions, is_array

    def _log(self, error: HybriddupError) -> None:
        """Log an error of the window or store, unless the last logged error is the same and still persists."""
        if not isinstance(error, (InputError, UnsupportedError)) and str(error) != self.logged:
            self.logged = str(error)
            LOG.error("%s", error)

    def _note_trouble(self, trouble: str) -> None:
        """Mark the service as not ready, for the reason ``trouble``, until the store can be used again."""
        self.trouble = trouble
        if self.recovering is None or self.recovering.done():
            self.recovering = asyncio.create_task(self._recover())

    def _recovered(self) -> None:
        """Mark the service as ready, and allow the last logged error to be logged again."""
        self.trouble, self.logged = None, ""

    async def _recover(self) -> None:
        while self.trouble is not None:
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)
            with suppress(OSError, StoreError):
                await asyncio.to_thread(self._try_store)
                self._recovered()

    def _try_store(self) -> None:
        """Raise OSError if the disk cannot be written to, or StoreError if the store does not answer."""
        self.try_disk()
        if self.window is not None:
            self.window.get("")

    def _decide(self, posts: list[Post]) -> list[Decision]:
        """Decide a batch. Runs in the deciding thread."""
        assert self.window is not None  # noqa: S101  posts are accepted only after it was opened
        decisions = self.window.add_many(posts)
        self.last_stats = self.window.stats()
        self.metrics.batch_done(len(posts), self.last_stats.seconds)
        return decisions

    async def get(self, post_id: PostId) -> StoredPost:
        """Return the post with this id; raise RequestError if there is none."""
        post = await self.look(lambda window: window.get(post_id))
        if post is None:
            raise no_post(post_id)
        return post

    async def delete(self, post_id: PostId) -> None:
        """Delete a post from the window; raise RequestError if none has this id."""

        def delete(window: Window) -> bool:
            was_there, self.last_stats = window.delete(post_id), window.stats()
            return was_there

        if not await self.look(delete):
            raise no_post(post_id)

    async def stats(self) -> dict[str, Any]:
        """Return the counts of the window, the number of waiting posts, and the history of decisions, as plain data."""
        stats = await self.look(lambda window: window.stats())
        self.history.forget()
        return asdict(stats) | {"n_waiting": self.queue.n_posts, "history": asdict(self.history)}

    async def look(self, question: Callable[[Window], T]) -> T:
        """Call ``question`` with the window in the reading thread, and return its result.

        Raises RequestError if the window is not open, too many requests wait for the thread, the call takes too long,
        or it fails.
        """
        window = self.ready_window()
        if self.n_looks >= MAX_LOOKS:
            message = f"{self.n_looks} requests are waiting to look into the window."
            raise RequestError(429, "too_many_looks", message, f"at most {MAX_LOOKS} at once", retry_after=1)
        self.n_looks += 1
        future = asyncio.get_running_loop().run_in_executor(self.looking, question, window)
        future.add_done_callback(self._looked)
        try:
            return await asyncio.wait_for(asyncio.shield(future), self.limits.request_timeout)
        except TimeoutError:
            seconds = f"{self.limits.request_timeout:g} s"
            raise RequestError(504, "timeout", f"no answer within {seconds}.", "send it again, later") from None
        except HybriddupError as error:
            self._log(error)
            raise could_not(error) from None

    def _looked(self, future: asyncio.Future[Any]) -> None:
        self.n_looks -= 1
        future.cancelled() or future.exception()  # retrieve the error of an abandoned call, or asyncio logs it
