"""The window behind the service: opened in the background, used by one deciding and one looking thread, drained."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from hybriddup.errors import HybriddupError, InputError
from hybriddup.explanation import Explanation
from hybriddup.service.batching import DecidingQueue
from hybriddup.service.history import History
from hybriddup.service.limits import MAX_LOOKS, Limits
from hybriddup.service.metrics import Metrics
from hybriddup.service.problems import RequestError, not_ready
from hybriddup.window import Decision, Match, Post, StoredPost, Window, WindowStats
from hybriddup.window.event_time import TimeOf
from hybriddup.window.records import PostId

T = TypeVar("T")
Explain = Callable[[str, str], Explanation]


class Service:
    """What the routes call. To be used from one event loop."""

    def __init__(
        self, open_window: Callable[[], Window], explain: Explain, limits: Limits, time_of: TimeOf = "arrival"
    ) -> None:
        self.open_window = open_window
        self.explain_texts = explain
        self.limits = limits
        self.time_of = time_of
        self.window: Window | None = None
        self.failure: BaseException | None = None
        """Why the window could not be opened."""
        self.status = "loading"
        self.history = History(time.time)
        self.queue = DecidingQueue(self._decide, limits.max_queue)
        self.metrics = Metrics(self._stats)
        self.looking = ThreadPoolExecutor(1, "looking")
        self.n_looks = 0
        self.opening: asyncio.Future[None] | None = None

    def start(self, on_failure: Callable[[], None]) -> None:
        """Begin to open the window in the background."""
        self.opening = asyncio.ensure_future(self._open(on_failure))

    async def _open(self, on_failure: Callable[[], None]) -> None:
        try:
            self.window = await asyncio.get_running_loop().run_in_executor(self.queue.thread, self.open_window)
            self.status = "ready"
        except Exception as error:
            self.failure, self.status = error, "failed"
            on_failure()

    async def close(self) -> None:
        """Decide what was accepted, and close the window."""
        if self.opening is not None:
            await self.opening
        self.status = "ending"
        await self.queue.close()
        self.looking.shutdown()
        if self.window is not None:
            await asyncio.get_running_loop().run_in_executor(None, self.window.close)

    def ready_window(self) -> Window:
        """Return the window; RequestError where it is not open."""
        if self.window is None or self.status != "ready":
            raise not_ready(self.status)
        return self.window

    async def decide(self, posts: list[Post]) -> list[Decision]:
        """Return the decisions about the posts of one request."""
        self.ready_window()
        try:
            decisions = await self.queue.submit(posts, self.limits.request_timeout)
        except HybriddupError as error:
            raise could_not(error) from None
        finally:
            self.metrics.queue.set(self.queue.n_posts)
        self.history.add(decisions)
        return decisions

    def _decide(self, posts: list[Post]) -> list[Decision]:
        """Decide a batch. Runs in the deciding thread."""
        window = self.ready_window()
        decisions = window.add_many(posts)
        self.metrics.batch_done(len(posts), window.stats().seconds)
        return decisions

    async def match(self, text: str, limit: int) -> list[Match]:
        """Return the kept posts most similar to a text."""
        return await self.look(partial(self.ready_window().match, text, limit))

    async def get(self, post_id: PostId) -> StoredPost:
        """Return the post with this id; RequestError where there is none."""
        post = await self.look(partial(self.ready_window().get, post_id))
        if post is None:
            message = f"there is no post with the id {post_id!r} within the horizon."
            raise RequestError(404, "not_found", message, "ids of posts that were decided; ?type=int for numbers")
        return post

    async def explain(self, text: str, post_id: PostId) -> Explanation:
        """Return every step of a post and of a text, and the verdict."""
        post = await self.get(post_id)
        return await self.look(partial(self.explain_texts, post.text, text))

    async def stats(self) -> dict[str, Any]:
        """Return counts, and decisions over time."""
        stats = await self.look(self.ready_window().stats)
        return asdict(stats) | {"n_waiting": self.queue.n_posts, "history": self.history.to_dict()}

    def _stats(self) -> WindowStats | None:
        return self.window.stats() if self.window is not None and self.status == "ready" else None

    async def look(self, question: Callable[[], T]) -> T:
        """Return the answer to a question, from the looking thread.

        Raises
        ------
        RequestError
            Too many wait for that thread, or it takes too long.
        """
        if self.n_looks >= MAX_LOOKS:
            message = f"{self.n_looks} requests are waiting to look into the window."
            raise RequestError(429, "too_many_looks", message, f"at most {MAX_LOOKS} at once", retry_after=1)
        self.n_looks += 1
        asked = asyncio.get_running_loop().run_in_executor(self.looking, question)
        asked.add_done_callback(self._looked)
        try:
            return await asyncio.wait_for(asyncio.shield(asked), self.limits.request_timeout)
        except TimeoutError:
            seconds = f"{self.limits.request_timeout:g} s"
            raise RequestError(504, "timeout", f"no answer within {seconds}.", "send it again, later") from None
        except HybriddupError as error:
            raise could_not(error) from None

    def _looked(self, asked: asyncio.Future[Any]) -> None:
        self.n_looks -= 1
        asked.cancelled() or asked.exception()  # an error that nobody waits for any more is not one to report


def could_not(error: HybriddupError) -> RequestError:
    """Return the problem of posts that are not allowed, or of a window that cannot do what is asked."""
    if isinstance(error, InputError):
        return RequestError(422, "invalid_post", str(error), "see the message and /openapi.json")
    return RequestError(503, "window_failed", str(error), "send it again, later", retry_after=1)


def plain_decisions(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return decisions as plain data."""
    return [decision.to_dict() for decision in decisions]


def plain_post(post: StoredPost) -> dict[str, Any]:
    """Return a post as plain data."""
    decision = "kept" if post.kept else "duplicate"
    plain = {"id": post.id, "position": post.position, "decision": decision, "time": post.time, "text": post.text}
    return plain if post.evidence is None else plain | post.evidence._asdict()
