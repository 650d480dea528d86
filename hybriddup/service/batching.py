"""Posts of concurrent requests, gathered into batches for one deciding thread.

While a batch is decided, what comes in waits and is the next one, so that batches are as large as the load asks for and
a single request waits for nobody.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil
from time import perf_counter

from hybriddup.errors import InputError
from hybriddup.service.problems import RequestError
from hybriddup.window import Decision, Post

Decide = Callable[[list[Post]], list[Decision]]
LARGEST_BATCH = 1024
"""Posts decided at once, unless one request has more."""
FIRST_RATE = 1000.0
"""Posts a second by which waiting is estimated before anything was measured."""


@dataclass(eq=False)
class Waiting:
    """The posts of one request."""

    posts: list[Post]
    answer: asyncio.Future[list[Decision]]
    is_taken: bool = False
    """Whether deciding them has begun, so that it cannot be called off."""


@dataclass
class DecidingQueue:
    """Decides the posts of requests in the order in which these come. To be used from one event loop."""

    decide: Decide
    """Called in a thread of its own, one call at a time."""
    max_posts: int
    """Posts that may wait."""
    n_posts: int = 0
    """Posts that wait or are being decided."""
    posts_per_second: float = FIRST_RATE
    waiting: deque[Waiting] = field(default_factory=deque)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "deciding"))
    deciding: asyncio.Task[None] | None = None

    async def submit(self, posts: list[Post], timeout: float) -> list[Decision]:
        """Return the decisions about the posts of a request, in order.

        Raises
        ------
        RequestError
            The queue is full, or the time is over.
        InputError, WindowError
            As `hybriddup.Window.add_many`.
        """
        if self.n_posts + len(posts) > self.max_posts and self.n_posts:
            raise self.is_full()
        one = Waiting(posts, asyncio.get_running_loop().create_future())
        self.waiting.append(one)
        self.n_posts += len(posts)
        if self.deciding is None:
            self.deciding = asyncio.create_task(self.decide_waiting())
        done, _ = await asyncio.wait([one.answer], timeout=timeout)
        if not done:
            raise self.called_off(one, timeout)
        return one.answer.result()

    def is_full(self) -> RequestError:
        """Return the problem of a request that finds the queue full."""
        seconds = max(1, ceil(self.n_posts / self.posts_per_second))
        return RequestError(
            429,
            "queue_full",
            f"{self.n_posts:,} posts are waiting to be decided.",
            f"at most {self.max_posts:,} waiting posts; send it again after {seconds} s",
            retry_after=seconds,
        )

    def called_off(self, one: Waiting, timeout: float) -> RequestError:
        """Return the problem of a request that was not answered in time; what has not begun is given up."""
        one.answer.cancel()
        if one.is_taken:
            message = f"no answer within {timeout:g} s; the posts may have been decided."
            return RequestError(
                504, "timeout", message, "send them again with the same ids: the answer will be the same"
            )
        self.n_posts -= len(one.posts)
        message = f"the posts waited for {timeout:g} s and were not decided."
        return RequestError(503, "timeout", message, "send them again, later", retry_after=1)

    async def decide_waiting(self) -> None:
        """Decide batch after batch until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)  # requests that are being read in this turn of the loop come along
            while batch := self.take():
                began, n = perf_counter(), sum(len(one.posts) for one in batch)
                answers = await loop.run_in_executor(self.thread, self.decide_batch, [one.posts for one in batch])
                self.n_posts -= n
                self.posts_per_second += 0.1 * (n / max(perf_counter() - began, 1e-6) - self.posts_per_second)
                deliver(batch, answers)
        finally:
            self.deciding = None

    def take(self) -> list[Waiting]:
        """Return the requests to decide next: those that waited longest, unless they were called off."""
        batch: list[Waiting] = []
        n = 0
        while self.waiting and (not batch or n + len(self.waiting[0].posts) <= LARGEST_BATCH):
            one = self.waiting.popleft()
            if not one.answer.cancelled():
                one.is_taken = True
                batch.append(one)
                n += len(one.posts)
        return batch

    def decide_batch(self, requests: Sequence[list[Post]]) -> list[list[Decision] | Exception]:
        """Return for each request its decisions, or why there are none. Runs in the deciding thread."""
        try:
            decisions = iter(self.decide([post for posts in requests for post in posts]))
        except InputError as error:
            if len(requests) == 1:
                return [error]
            # each by itself, so that the error reaches the one whose posts cause it
            return [answer for posts in requests for answer in self.decide_batch([posts])]
        except Exception as error:
            return [error for _ in requests]
        return [[next(decisions) for _ in posts] for posts in requests]

    async def close(self) -> None:
        """Decide what waits, and end the thread."""
        if self.deciding is not None:
            await self.deciding
        self.thread.shutdown()


def deliver(batch: Sequence[Waiting], answers: Sequence[list[Decision] | Exception]) -> None:
    """Give each request its answer, unless it has gone."""
    for one, answer in zip(batch, answers, strict=True):
        if one.answer.cancelled():
            continue
        if isinstance(answer, Exception):
            one.answer.set_exception(answer)
        else:
            one.answer.set_result(answer)
