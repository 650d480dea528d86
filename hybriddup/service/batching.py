"""A fair queue in front of the one deciding thread: it batches the posts of concurrent requests.

Posts that arrive while a batch is decided form the next batch. So batches grow with the load, and a request that comes
alone does not wait. A batch holds as many posts as should take `BATCH_SECONDS`, by the measured rate.

Scheduling is round robin over clients, then over the requests of a client; each turn decides a few posts. So a thousand
posts, or posts that are slow to decide, delay mostly their own sender.

`Window.add_many` also batches, across the threads that call it. Here only one thread calls it: requests are coroutines,
and the service chooses their order.
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
"""Posts of one request that are decided per turn, counted in short posts."""
CHARACTERS_AS_A_POST = 256
"""Every 256 characters of a text add the cost of one short post: long texts are slower to decide."""
Decide = Callable[[list[Post]], list[Decision]]
LARGEST_BATCH = 1024.0
"""Upper limit of the cost of a batch, in short posts."""
BATCH_SECONDS = 0.05
"""Target time for a batch, in seconds of processor time."""
FIRST_RATE = 1000.0
"""Initial estimate of the deciding rate, in short posts per second."""
ADAPTING = 0.25
"""Weight of the newest value in the moving averages of rate and post size."""
FIRST_BYTES_PER_POST = 200.0


@dataclass(eq=False)
class Waiting:
    """A request with posts that wait to be decided."""

    posts: list[Post]
    client: str
    answer: asyncio.Future[list[Decision]]
    decisions: list[Decision] = field(default_factory=list)
    """Decisions so far, on the first posts."""
    n_taken: int = 0
    """Number of posts handed to the deciding thread; these can no longer be cancelled."""

    @property
    def n_left(self) -> int:
        """Number of posts that still wait."""
        return len(self.posts) - self.n_taken

    def take(self) -> Part:
        """Take the posts of one turn: at least one, then more until their cost reaches `POSTS_A_TURN`."""
        first, cost = self.n_taken, 0.0
        while self.n_left and (cost == 0.0 or cost < POSTS_A_TURN):
            cost += 1.0 + len(self.posts[self.n_taken].text) / CHARACTERS_AS_A_POST
            self.n_taken += 1
        return Part(self, self.posts[first : self.n_taken], cost)


class Part(NamedTuple):
    """Posts of a request that are decided together."""

    request: Waiting
    posts: list[Post]
    cost: float
    """Cost in short posts."""


@dataclass
class FairQueue:
    """Waiting requests by client, served round robin."""

    by_client: OrderedDict[str, deque[Waiting]] = field(default_factory=OrderedDict)
    """Clients and each client's requests, the next in turn first."""

    def add(self, request: Waiting) -> None:
        """Append a request to its client's queue."""
        self.by_client.setdefault(request.client, deque()).append(request)

    def take(self, most_cost: float) -> list[Part]:
        """Take posts from each request in turn until they cost ``most_cost``; at least one part if any waits."""
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
    """Decides the posts of requests, client by client in turn. Not thread-safe: use it from one event loop."""

    decide: Decide
    """Called in the deciding thread, one call at a time."""
    max_posts: int
    """Limit for `n_posts`. If the queue is empty, a request of any size is accepted."""
    n_posts: int = 0
    """Number of posts that wait or are being decided."""
    bytes_per_post: float = FIRST_BYTES_PER_POST
    """Moving average of body bytes per post."""
    posts_per_second: float = FIRST_RATE
    """Moving average of the deciding rate, in short posts per second; a long post counts as several."""
    waiting: FairQueue = field(default_factory=FairQueue)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "deciding"))
    deciding: asyncio.Task[None] | None = None

    async def submit(self, posts: list[Post], timeout: float, client: str = "") -> list[Decision]:
        """Return the decisions on the posts of a request, in order.

        Raises RequestError if the queue is full, if there is no answer within ``timeout`` seconds, or if deciding
        fails.
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

    def check_room_for_body(self, n_bytes: int, max_posts: int) -> None:
        """Raise RequestError if the queue has no room for the number of posts estimated from the size of a body.

        This reserves nothing: a client that sends its body slowly would keep the room from others.
        """
        self.check_room(min(n_bytes / self.bytes_per_post, max_posts))

    def have_read(self, n_posts: int, n_bytes: int) -> None:
        """Update the average bytes per post with a body that was read."""
        self.bytes_per_post += ADAPTING * (n_bytes / n_posts - self.bytes_per_post)

    def check_room(self, n_posts: float) -> None:
        """Raise RequestError if the queue has no room for ``n_posts`` more.

        A request may take at most half of the remaining room, so that small requests find room however many large ones
        come.
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
        """Cancel a request that timed out, with its waiting posts; return the error for the client."""
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
        """Return the cost limit of the next batch, in short posts."""
        return min(max(self.posts_per_second * BATCH_SECONDS, POSTS_A_TURN), LARGEST_BATCH)

    def decide_timed(self, parts: Sequence[Part]) -> tuple[list[list[Decision] | Exception], float]:
        """Return the result of `decide_batch` and its processor time in seconds. Runs in the deciding thread.

        Waiting for the interpreter lock is not counted: it would shrink the batches, and smaller batches wait for it
        longer.
        """
        began = thread_time()
        answers = self.decide_batch([part.posts for part in parts])
        return answers, thread_time() - began

    def decide_batch(self, requests: Sequence[list[Post]]) -> list[list[Decision] | Exception]:
        """Decide the posts of several requests; return each one's decisions or error. Runs in the deciding thread."""
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
        """Add the decisions to their requests, and answer those that are complete; skip cancelled ones."""
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
