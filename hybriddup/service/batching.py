"""Posts of concurrent requests, gathered into batches for one deciding thread, in an order that is fair to the clients.

While a batch is decided, what comes in waits and is the next one, so that batches are as large as the load asks for and
a single request waits for nobody. A batch is as large as is decided within `BATCH_SECONDS`, as far as the last ones
tell.

Each client in turn, then each request of a client in turn, has a few posts decided. So a request waits as long as its
own posts and those of as many others take, whatever else they sent: a thousand posts, or such as are slow to decide,
hold up their own sender.

`Window.add_many` gathers too, what threads send that wait for it. It is called from one thread here, for the requests
are no threads, and who is next is for the service to say.
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
"""Posts of one request that are decided before it is the turn of another."""
CHARACTERS_AS_A_POST = 256
"""So many characters count as another post: long texts are slower to decide."""
Decide = Callable[[list[Post]], list[Decision]]
LARGEST_BATCH = 1024.0
"""Short posts decided at once."""
BATCH_SECONDS = 0.05
"""Time that a batch may take, as far as the last ones tell."""
FIRST_RATE = 1000.0
"""Short posts a second by which waiting is estimated before anything was measured."""
ADAPTING = 0.25
"""How far the rate follows each batch, and the size of a post each body."""
FIRST_BYTES_A_POST = 200.0


@dataclass(eq=False)
class Waiting:
    """The posts of one request."""

    posts: list[Post]
    client: str
    answer: asyncio.Future[list[Decision]]
    decisions: list[Decision] = field(default_factory=list)
    """Those about the first posts."""
    n_taken: int = 0
    """Posts that were taken to be decided, and cannot be called off."""

    @property
    def n_left(self) -> int:
        """Posts that still wait."""
        return len(self.posts) - self.n_taken

    def take(self) -> Part:
        """Take the posts of a turn: at least one, and no more than are worth so many short ones."""
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
    """In short posts."""


@dataclass
class FairQueue:
    """Requests that wait, by client."""

    by_client: OrderedDict[str, deque[Waiting]] = field(default_factory=OrderedDict)
    """The client whose turn is next in front, and likewise each client's requests."""

    def add(self, request: Waiting) -> None:
        """Let a request wait."""
        self.by_client.setdefault(request.client, deque()).append(request)

    def take(self, most_cost: float) -> list[Part]:
        """Return what to decide next, for about so much: of each request in turn, and of a request in its order."""
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
    """Decides the posts of requests, each client's in turn. To be used from one event loop."""

    decide: Decide
    """Called in a thread of its own, one call at a time."""
    max_posts: int
    """Posts that may wait."""
    n_posts: int = 0
    """Posts that wait or are being decided."""
    bytes_a_post: float = FIRST_BYTES_A_POST
    """Of bodies, as far as the last ones tell."""
    posts_per_second: float = FIRST_RATE
    """Short posts, of which a long one counts as several."""
    waiting: FairQueue = field(default_factory=FairQueue)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "deciding"))
    deciding: asyncio.Task[None] | None = None

    async def submit(self, posts: list[Post], timeout: float, client: str = "") -> list[Decision]:
        """Return the decisions about the posts of a request, in order.

        RequestError where the queue is full, the time is over, or the posts could not be decided.
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
        """Raise RequestError where there is no room for the posts that a body of this size seems to have.

        No room is kept meanwhile: whoever sends a body slowly would keep it from the others.
        """
        self.check_room(min(n_bytes / self.bytes_a_post, max_posts))

    def have_read(self, n_posts: int, n_bytes: int) -> None:
        """Note how many posts a body had."""
        self.bytes_a_post += ADAPTING * (n_bytes / n_posts - self.bytes_a_post)

    def check_room(self, n_posts: float) -> None:
        """Raise RequestError where the queue is full.

        Of what is left, a request may take half: however many large ones come, a small one finds room.
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
        """Return the problem of a request that was not answered in time; what has not begun is given up."""
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
        """Decide batch after batch until nobody waits."""
        loop = asyncio.get_running_loop()
        try:
            await asyncio.sleep(0)  # requests that are being read in this turn of the loop come along
            while parts := self.waiting.take(self.largest_batch()):
                answers, seconds = await loop.run_in_executor(self.thread, self.decide_timed, parts)
                self.n_posts -= sum(len(part.posts) for part in parts)
                rate = sum(part.cost for part in parts) / max(seconds, 1e-6)
                self.posts_per_second += ADAPTING * (rate - self.posts_per_second)
                self.deliver(parts, answers)
        finally:
            self.deciding = None

    def largest_batch(self) -> float:
        """Return how many short posts to decide at once."""
        return min(max(self.posts_per_second * BATCH_SECONDS, POSTS_A_TURN), LARGEST_BATCH)

    def decide_timed(self, parts: Sequence[Part]) -> tuple[list[list[Decision] | Exception], float]:
        """Return what `decide_batch` does, and the seconds that it worked. Runs in the deciding thread.

        The time in which it waits for the interpreter is left out: smaller batches would make that longer.
        """
        began = thread_time()
        answers = self.decide_batch([part.posts for part in parts])
        return answers, thread_time() - began

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

    def deliver(self, parts: Sequence[Part], answers: Sequence[list[Decision] | Exception]) -> None:
        """Give each request its answer once it is whole, unless it has gone."""
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
        """Decide what waits, and end the thread."""
        if self.deciding is not None:
            await self.deciding
        self.thread.shutdown()
