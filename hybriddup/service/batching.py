"""A fair queue that batches the posts of concurrent requests for the single thread that decides them.

Posts that arrive while a batch is decided form the next batch. So batches grow with the load, and a single request does
not wait. The size of a batch is limited to the number of posts that should take `BATCH_SECONDS`, by the measured rate.

Scheduling is round robin over clients, then over the requests of a client; each turn takes a few posts. So a client
that sends a thousand posts, or posts that are slow to decide, delays mostly itself.

`Window.add_many` also batches the calls of several threads. Here only one thread calls it, because requests are
coroutines and the service chooses their order.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil
from time import thread_time
from typing import NamedTuple

from hybriddup.errors import HybriddupError, InputError
from hybriddup.service.problems import RequestError, could_not
from hybriddup.window import Decision, Post

POSTS_A_TURN = 16
"""Total cost of posts that ends a request's turn in the queue; a post costs 1 + its length / `CHARACTERS_AS_A_POST`."""
CHARACTERS_AS_A_POST = 256
"""Characters of text that cost as much as one post: a long text takes longer to decide than a short one, so the cost of
a post is 1 plus its length in characters / `CHARACTERS_AS_A_POST`."""
Decide = Callable[[list[Post]], list[Decision]]
LARGEST_BATCH = 1024.0
"""Largest total cost at which a batch counts as full; a post costs 1 + its length / `CHARACTERS_AS_A_POST`."""
BATCH_SECONDS = 0.05
"""Target time for a batch, in seconds of processor time."""
FIRST_RATE = 1000.0
"""Initial estimate of the cost of posts decided per second; a post costs 1 + its length / `CHARACTERS_AS_A_POST`."""
ADAPTING = 0.25
"""Weight of the newest value in the moving averages of the deciding rate and the bytes per post."""
FIRST_BYTES_PER_POST = 200.0


@dataclass(eq=False)
class Waiting:
    """A request whose posts wait to be decided."""

    posts: list[Post]
    client: str
    answer: asyncio.Future[list[Decision]]
    decisions: list[Decision] = field(default_factory=list)
    """Decisions so far, in the order of the posts."""
    n_taken: int = 0
    """Number of posts already passed to the deciding thread; these can no longer be cancelled."""

    @property
    def n_left(self) -> int:
        """Number of posts not yet passed to the deciding thread."""
        return len(self.posts) - self.n_taken

    def take(self) -> Part:
        """Remove and return the posts for one turn: at least one, until their total cost reaches `POSTS_A_TURN`."""
        first, cost = self.n_taken, 0.0
        while self.n_left and (cost == 0.0 or cost < POSTS_A_TURN):
            cost += 1.0 + len(self.posts[self.n_taken].text) / CHARACTERS_AS_A_POST
            self.n_taken += 1
        return Part(self, self.posts[first : self.n_taken], cost)


class Part(NamedTuple):
    """Posts of one request that are decided in one turn."""

    request: Waiting
    posts: list[Post]
    cost: float
    """Total cost of the posts; a post costs 1 + its length / `CHARACTERS_AS_A_POST`."""


@dataclass
class FairQueue:
    """Waiting requests by client, served round robin."""

    by_client: OrderedDict[str, deque[Waiting]] = field(default_factory=OrderedDict)
    """Map from client to its requests; the client and the request whose turn is next come first."""

    def add(self, request: Waiting) -> None:
        """Append a request to its client's queue."""
        self.by_client.setdefault(request.client, deque()).append(request)

    def take(self, most_cost: float) -> list[Part]:
        """Remove and return posts, round robin over clients and their requests, until they cost ``most_cost``."""
        parts: list[Part] = []
        cost = 0.0
        while self.by_client and (not parts or cost < most_cost):
            client, requests = self.by_client.popitem(last=False)
            request = requests.popleft()
            if not request.answer.done():
                parts.append(request.take())
                cost += parts[-1].cost
                if request.n_left:
                    requests.append(request)
            if requests:
                self.by_client[client] = requests
        return parts


@dataclass
class DecidingQueue:
    """Batches the posts of requests and decides them in a thread. Not thread-safe: use it from one event loop."""

    decide: Decide
    """Function that decides a batch of posts; called in the deciding thread, one call at a time."""
    max_posts: int
    """Maximum number of posts that wait or are being decided; an empty queue accepts a request of any size."""
    n_posts: int = 0
    """Number of posts that wait or are being decided."""
    bytes_per_post: float = FIRST_BYTES_PER_POST
    """Moving average of the size of a request body per post, in bytes."""
    posts_per_second: float = FIRST_RATE
    """Moving average of the cost of posts decided per second; a post costs 1 + its length / `CHARACTERS_AS_A_POST`."""
    waiting: FairQueue = field(default_factory=FairQueue)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "deciding"))
    deciding: asyncio.Task[None] | None = None

    async def submit(self, posts: list[Post], timeout: float, client: str = "") -> list[Decision]:
        """Decide the posts of a request, and return the decisions in order.

        Raises RequestError if the queue is full, if the posts are not decided within ``timeout`` seconds, or if
        deciding fails.
        """
        self.check_room(len(posts))
        one = Waiting(posts, client, asyncio.get_running_loop().create_future())
        self.waiting.add(one)
        self.n_posts += len(posts)
        if self.deciding is None:
            self.deciding = asyncio.create_task(self.decide_waiting())
        done, _ = await asyncio.wait([one.answer], timeout=timeout)
        if not done:
            raise self.called_off(one, timeout)
        try:
            return one.answer.result()
        except HybriddupError as error:
            raise could_not(error, len(one.decisions)) from error

    def have_read(self, n_posts: int, n_bytes: int) -> None:
        """Update `bytes_per_post` with the numbers of posts and bytes in a body."""
        self.bytes_per_post += ADAPTING * (n_bytes / n_posts - self.bytes_per_post)

    def check_room(self, n_posts: float) -> None:
        """Raise RequestError if the queue has no capacity for ``n_posts`` more posts.

        A request may take at most half of the remaining capacity, so that small requests are accepted even if there are
        many large ones.
        """
        if not self.n_posts or self.n_posts + 2 * n_posts <= self.max_posts:
            return
        seconds = max(1, ceil(self.n_posts / self.posts_per_second))
        raise RequestError(
            429,
            "queue_full",
            f"{self.n_posts:,} posts are waiting to be decided.",
            f"at most {self.max_posts:,} waiting posts, and at most half of the room that is left for one request; "
            f"send it again after {seconds} s",
            retry_after=seconds,
        )

    def called_off(self, one: Waiting, timeout: float) -> RequestError:
        """Cancel a request that timed out, and its waiting posts; return the error for the client."""
        one.answer.cancel()
        self.n_posts -= one.n_left
        if one.n_taken:
            message = f"no answer within {timeout:g} s; the posts may have been decided."
            return RequestError(
                504, "timeout", message, "send them again with the same ids: the answer will be the same"
            )
        message = f"the posts waited for {timeout:g} s and were not decided."
        return RequestError(503, "timeout", message, "send them again, later", retry_after=1)

    async def decide_waiting(self) -> None:
        """Decide batch after batch until the queue is empty."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)  # let requests that are ready in this iteration of the loop join the batch
            while parts := self.waiting.take(self.largest_batch()):
                answers, seconds = await loop.run_in_executor(self.thread, self.decide_timed, parts)
                self.n_posts -= sum(len(part.posts) for part in parts)
                rate = sum(part.cost for part in parts) / max(seconds, 1e-6)
                self.posts_per_second += ADAPTING * (rate - self.posts_per_second)
                self.deliver(parts, answers)
        finally:
            self.deciding = None

    def largest_batch(self) -> float:
        """Return the total cost at which the next batch is full, see `CHARACTERS_AS_A_POST`."""
        return min(max(self.posts_per_second * BATCH_SECONDS, POSTS_A_TURN), LARGEST_BATCH)

    def decide_timed(self, parts: Sequence[Part]) -> tuple[list[list[Decision] | Exception], float]:
        """Call `decide_batch` in the deciding thread; return its result and its processor time in seconds.

        Time spent waiting for the interpreter lock is not counted: that would shrink the batches, and smaller batches
        spend more time waiting for the lock.
        """
        began = thread_time()
        answers = self.decide_batch([part.posts for part in parts])
        return answers, thread_time() - began

    def decide_batch(self, requests: Sequence[list[Post]]) -> list[list[Decision] | Exception]:
        """Decide the posts of several requests; return, for each request, the decisions or an error.

        Runs in the deciding thread.
        """
        try:
            decisions = iter(self.decide([post for posts in requests for post in posts]))
        except InputError as error:
            if len(requests) == 1:
                return [error]
            # retry each request alone, so that only the one with the invalid posts gets the error
            return [answer for posts in requests for answer in self.decide_batch([posts])]
        except Exception as error:
            return [error for _ in requests]
        return [[next(decisions) for _ in posts] for posts in requests]

    def deliver(self, parts: Sequence[Part], answers: Sequence[list[Decision] | Exception]) -> None:
        """Add the decisions to their requests, and answer each request that is complete; skip cancelled requests."""
        for (request, _, _), answer in zip(parts, answers, strict=True):
            if request.answer.done():
                continue
            if isinstance(answer, Exception):
                self.n_posts -= request.n_left
                request.answer.set_exception(answer)
                continue
            request.decisions += answer
            if len(request.decisions) == len(request.posts):
                request.answer.set_result(request.decisions)

    async def close(self) -> None:
        """Decide the waiting posts, then end the thread."""
        if self.deciding is not None:
            await self.deciding
        self.thread.shutdown()
