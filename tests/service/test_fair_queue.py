"""Whose posts are decided next: each client's in turn, each request's in turn, each in order."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.errors import StoreError
from hybriddup.service.batching import CHARACTERS_AS_A_POST, POSTS_A_TURN, DecidingQueue, FairQueue, Part, Waiting
from hybriddup.service.problems import RequestError
from hybriddup.window import Decision, Post
from tests.service.support import Decide

REQUESTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.lists(st.sampled_from([1, 10, 1000, 30_000]), min_size=1, max_size=60)),
    max_size=12,
)


def waiting(client: str, lengths: list[int]) -> Waiting:
    return Waiting([Post("a" * length) for length in lengths], client, Future())  # type: ignore[arg-type]


def take_all(queue: FairQueue, most_cost: float) -> list[list[Part]]:
    return list(iter(lambda: queue.take(most_cost), []))


@given(REQUESTS, st.sampled_from([1.0, 20.0, 1000.0]))
def test_every_post_is_taken_once_and_in_the_order_of_its_request(
    given_: list[tuple[str, list[int]]], most: float
) -> None:
    queue, requests = FairQueue(), [waiting(client, lengths) for client, lengths in given_]
    for request in requests:
        queue.add(request)
    taken: dict[int, list[Post]] = {id(request): [] for request in requests}
    for part in (part for parts in take_all(queue, most) for part in parts):
        taken[id(part.request)] += part.posts
    assert [taken[id(request)] for request in requests] == [request.posts for request in requests]


@given(REQUESTS)
def test_no_client_has_two_turns_while_another_waits(given_: list[tuple[str, list[int]]]) -> None:
    queue = FairQueue()
    for client, lengths in given_:
        queue.add(waiting(client, lengths))
    order = [part.request for parts in take_all(queue, 1.0) for part in parts]
    last_turn = {request.client: place for place, request in enumerate(order)}
    for (place, first), (_, second) in pairwise(enumerate(order)):
        others = [client for client, last in last_turn.items() if client != first.client and last > place]
        assert first.client != second.client or not others


def test_a_turn_is_a_few_posts_and_fewer_long_ones() -> None:
    assert len(waiting("a", [10] * 100).take().posts) == POSTS_A_TURN
    assert len(waiting("a", [CHARACTERS_AS_A_POST] * 100).take().posts) == POSTS_A_TURN // 2
    assert len(waiting("a", [10**6] * 100).take().posts) == 1


def test_a_request_that_has_gone_is_left_out() -> None:
    queue, gone, other = FairQueue(), waiting("a", [10] * 40), waiting("b", [10])
    queue.add(gone)
    queue.add(other)
    first = queue.take(1.0)
    gone.answer.cancel()
    assert [part.request for part in first] == [gone]
    assert [part.request for parts in take_all(queue, 1.0) for part in parts] == [other]


def test_a_large_request_does_not_hold_up_a_small_one() -> None:
    async def talk() -> tuple[list[str], list[int]]:
        decide = Decide()
        queue = DecidingQueue(decide, max_posts=10_000)
        large = queue.submit([Post(f"large {n}") for n in range(1000)], 30, "one")
        small = [queue.submit([Post(f"small {n}")], 30, client) for n, client in enumerate(["two", "one", "three"])]
        answers = await asyncio.gather(large, *small)
        await queue.close()
        return decide.texts, [len(answer) for answer in answers]

    texts, n_answers = asyncio.run(talk())
    assert n_answers == [1000, 1, 1, 1]
    places = [texts.index(f"small {n}") for n in range(3)]
    assert max(places) < 2 * POSTS_A_TURN + 3
    assert [text for text in texts if text.startswith("large")] == [f"large {n}" for n in range(1000)]


def test_large_requests_leave_room_for_small_ones() -> None:
    async def talk() -> tuple[list[bool], int]:
        queue = DecidingQueue(Decide(), max_posts=1000)
        large = [queue.submit([Post("a")] * 250, 30, str(n)) for n in range(20)]
        small = [queue.submit([Post("b")], 30, "small") for _ in range(50)]
        answers = await asyncio.gather(*large, *small, return_exceptions=True)
        await queue.close()
        return [isinstance(answer, list) for answer in answers], queue.n_posts

    accepted, n_left = asyncio.run(talk())
    assert sum(accepted[:20]) < 20
    assert all(accepted[20:])
    assert n_left == 0


def test_a_request_that_fails_halfway_says_how_much_of_it_was_decided() -> None:
    decide = Decide()

    def fail_later(posts: list[Post]) -> list[Decision]:
        if decide.texts:
            raise StoreError("the disk is slow today")
        return decide(posts)

    async def talk() -> tuple[RequestError, int]:
        queue = DecidingQueue(fail_later, max_posts=10_000)
        with pytest.raises(RequestError) as failed:
            await queue.submit([Post(str(n)) for n in range(5000)], 30)
        await queue.close()
        return failed.value, queue.n_posts

    error, n_left = asyncio.run(talk())
    assert (error.status, error.error, n_left) == (503, "window_failed", 0)
    assert f"The first {len(decide.texts)} posts of the request were decided" in error.message
    assert "slow today" not in error.message
    assert "with the same ids" in error.allowed
