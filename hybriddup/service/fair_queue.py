"""Posts that wait to be decided, in the order that is fair to the clients.

Each client in turn, then each request of a client in turn, has a few posts decided. So a request waits as long as its
own posts and those of as many others take, whatever else they sent: a thousand posts, or such as are slow to decide,
hold up their own sender.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import NamedTuple

from hybriddup.window import Decision, Post

POSTS_A_TURN = 16
"""Posts of one request that are decided before it is the turn of another."""
CHARACTERS_AS_A_POST = 256
"""So many characters count as another post: long texts are slower to decide."""


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
            cost += cost_of(self.posts[self.n_taken])
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


def cost_of(post: Post) -> float:
    """Return how many short posts a post is worth."""
    return 1.0 + len(post.text) / CHARACTERS_AS_A_POST
