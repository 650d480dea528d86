"""Clients that do not wait, send what nobody asked for, or fill answers with what they sent: each did harm once."""

from __future__ import annotations

import asyncio
import errno
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest.mock import Mock

import httpx
import pytest

from hybriddup.errors import HybriddupError, PluginError, StoreError, WindowError
from hybriddup.service.batching import POSTS_A_TURN, DecidingQueue
from hybriddup.service.limits import LARGE_BODY, Limits
from hybriddup.service.problems import LONGEST_MESSAGE
from hybriddup.service.service import Service
from hybriddup.window import Decision, Post, Window
from tests.service.support import JSON, OTHER, Decide, ask, make_service, refused, running, send_all
from tests.window.plugins import nothing

LONG = "a" * 50_000
T = TypeVar("T")


async def with_full_queue(talk: Callable[[httpx.AsyncClient, Service, Decide], Awaitable[T]]) -> T:
    """Return what a conversation gave with a service in which nine of ten posts that may wait do."""
    service, held_up = make_service(Limits(max_queue=10, request_timeout=60)), Decide(is_held=True)
    service.queue.decide = held_up
    async with running(service) as client:
        first = asyncio.create_task(client.post("/v1/posts", json=[{"text": str(n)} for n in range(9)]))
        while not service.queue.n_posts:
            await asyncio.sleep(0.01)
        got = await talk(client, service, held_up)
        held_up.go.set()
        assert (await first).status_code == 200
    return got


async def n_refused(client: httpx.AsyncClient) -> float:
    found = re.search(r'refused_total\{error="queue_full"\} (\S+)', (await client.get("/metrics")).text)
    return 0.0 if found is None else float(found[1])


def test_posts_are_decided_while_refused_clients_insist() -> None:
    async def insist(client: httpx.AsyncClient, number: int) -> list[int]:
        statuses = [0]
        while statuses[-1] != 200:
            posts = [{"text": f"{number} {n}"} for n in range(4)]
            statuses.append((await client.post("/v1/posts", json=posts)).status_code)
        return statuses[1:]

    async def talk(client: httpx.AsyncClient, service: Service, held_up: Decide) -> list[list[int]]:
        insisting = [asyncio.create_task(insist(client, number)) for number in range(8)]
        while await n_refused(client) < len(insisting):
            await asyncio.sleep(0.01)
        assert "hybriddup_queue_posts 9.0" in (await client.get("/metrics")).text
        held_up.go.set()
        return await asyncio.gather(*insisting)

    answers = asyncio.run(with_full_queue(talk))
    assert {status for of_client in answers for status in of_client} == {200, 429}
    assert all(of_client[0] == 429 for of_client in answers)


def test_a_full_queue_is_told_before_a_body_is_looked_at() -> None:
    """What it holds would take the time to read it: here it is no JSON, and nobody says so."""

    async def talk(client: httpx.AsyncClient, *_: Any) -> httpx.Response:
        return await client.post("/v1/posts", content=b"[" * 500, headers=JSON)

    answer = asyncio.run(with_full_queue(talk))
    assert refused(answer) == (429, "queue_full")
    assert int(answer.headers["retry-after"]) >= 1


def test_bodies_that_come_slowly_keep_no_room_from_others() -> None:
    async def slowly(go: asyncio.Event) -> AsyncIterator[bytes]:
        yield b"["
        await go.wait()
        yield b" " * 9998 + b"]"

    async def talk() -> tuple[int, list[int]]:
        service, go = make_service(Limits(max_queue=10, request_timeout=60)), asyncio.Event()
        async with running(service) as client:
            headers = JSON | {"content-length": "10000"}
            slow = [
                asyncio.create_task(client.post("/v1/posts", content=slowly(go), headers=headers)) for _ in range(20)
            ]
            while service.reader.room.held < len(slow):
                await asyncio.sleep(0.01)
            beside = await client.post("/v1/posts", json=[{"text": OTHER}] * 5)
            go.set()
            return beside.status_code, [answer.status_code for answer in await asyncio.gather(*slow)]

    assert asyncio.run(talk()) == (200, [422] * 20)


def test_a_batch_that_waits_for_others_is_not_taken_for_slow() -> None:
    def decide(posts: list[Post]) -> list[Decision]:
        time.sleep(0.2)  # as where the event loop has the interpreter
        return Decide()(posts)

    async def talk() -> float:
        queue = DecidingQueue(decide, max_posts=100)
        await queue.submit([Post("a")] * 10, 30)
        await queue.close()
        return queue.largest_batch()

    assert asyncio.run(talk()) > 4 * POSTS_A_TURN


@pytest.mark.parametrize("place", ["history.add", "queue.decide"])
def test_an_error_that_nobody_foresaw_is_logged(caplog: pytest.LogCaptureFixture, place: str) -> None:
    service, (part, method) = make_service(), place.split(".")
    setattr(getattr(service, part), method, lambda _: 1 / 0)
    answer = ask(lambda client: client.post("/v1/posts", json={"text": OTHER}), service)
    assert (answer.status_code, answer.json()["message"]) == (
        500,
        "an unexpected ZeroDivisionError; see the service's log.",
    )
    assert "division by zero" in caplog.text


def test_large_bodies_are_parsed_one_at_a_time_and_others_beside_them() -> None:
    go, parsed = threading.Event(), []

    def make(body: Any) -> int:
        if len(body[0]) > LARGE_BODY:
            parsed.append(len(body[0]))
            assert go.wait(60)
        return len(body[0])

    async def talk() -> tuple[int, int, list[int]]:
        service = make_service(Limits(request_timeout=60))

        class Asked:
            def __init__(self, n: int) -> None:
                self.headers, self.scope, self.n = JSON, {}, n

            async def stream(self) -> Any:
                yield b'["' + b"a" * self.n + b'"]'

        large = [asyncio.create_task(service.reader.read(Asked(LARGE_BODY + n), make)) for n in (1, 2)]  # type: ignore[arg-type]
        while not parsed:
            await asyncio.sleep(0.01)
        small = await service.reader.read(Asked(5), make)  # type: ignore[arg-type]
        n_begun = len(parsed)
        go.set()
        return small, n_begun, await asyncio.gather(*large)

    assert asyncio.run(talk()) == (5, 1, [LARGE_BODY + 1, LARGE_BODY + 2])


@pytest.mark.parametrize(
    "time_of_post",
    ["1" + "0" * 400, "1" + "0" * 5000, "-1e400", "1e999", "NaN", "true", "[[1]]", "{}", '"soon"', f'"{LONG}"'],
)
def test_a_time_that_is_none_is_said_where_it_is(time_of_post: str) -> None:
    body = f'[{{"text": "a", "created_at": 1}}, {{"text": "b", "created_at": {time_of_post}}}]'
    service = make_service(open_window=lambda: Window.open(None, time="event", workers=1), time_of="event")
    answer = ask(lambda client: client.post("/v1/posts", content=body.encode(), headers=JSON), service)
    assert refused(answer)[0] in {400, 422}
    said = "post 1: 'created_at' must be seconds or milliseconds since 1970"
    assert answer.status_code == 400 or answer.json()["message"].startswith(said)
    assert len(answer.content) < 2 * LONGEST_MESSAGE


@pytest.mark.parametrize(
    ("method", "path", "headers", "body"),
    [
        ("GET", f"/{LONG}", {}, b""),
        ("GET", f"/v1/posts/{LONG}", {}, b""),
        ("GET", f"/v1/posts/a?type={LONG}", {}, b""),
        (LONG, "/v1/posts", {}, b""),
        ("GET", "/v1/stats", {"host": LONG}, b""),
        ("POST", "/v1/posts", {"content-type": LONG}, b"{}"),
        ("POST", "/v1/posts", JSON, b'{"text": "a", "id": "%s"}' % LONG.encode()),
        ("POST", "/v1/posts", JSON, b'{"text": "a", "id": ["%s"]}' % LONG.encode()),
        ("POST", "/v1/match", JSON, b'{"text": "a", "limit": "%s"}' % LONG.encode()),
        ("POST", "/v1/match", JSON, b'{"text": ["%s"]}' % LONG.encode()),
        ("POST", "/v1/explain", JSON, b'{"text": "a", "id": "%s"}' % LONG.encode()),
    ],
)
def test_what_is_repeated_of_a_request_is_short(method: str, path: str, headers: dict[str, str], body: bytes) -> None:
    headers = {"host": "localhost"} | headers
    answer = ask(lambda client: client.request(method, path, headers=headers, content=body), hosts={"localhost"})
    assert 400 <= refused(answer)[0] < 500
    assert len(answer.content) < LONGEST_MESSAGE


PLACE = "/secret/place/posts.sqlite3"


def full() -> StoreError:
    error = StoreError(f"{PLACE}: the disk is full")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device", PLACE)
    return error


@pytest.mark.parametrize(
    ("error", "refusal", "trouble"),
    [
        (StoreError(f"cannot write to {PLACE}"), (503, "window_failed"), "posts could not be written"),
        (full(), (507, "disk_full"), "the disk is full"),
        (WindowError(f"{PLACE} was opened by another process"), (503, "window_failed"), None),
        (PluginError(f"the tokenizer in {PLACE} failed"), (503, "window_failed"), None),
    ],
)
def test_nobody_learns_where_the_store_is(
    caplog: pytest.LogCaptureFixture, error: HybriddupError, refusal: tuple[int, str], trouble: str | None
) -> None:
    fails = Mock(side_effect=error)
    methods = ("add_many", "get", "delete", "match", "explain", "posts", "stats")

    async def talk() -> list[httpx.Response]:
        service = make_service()
        async with running(service) as client:
            service.window.close()
            service.window = SimpleNamespace(close=nothing, **dict.fromkeys(methods, fails))  # type: ignore[assignment]
            answers = await send_all(
                client,
                *[("POST", "/v1/posts", {"text": OTHER})] * 3,
                *((method, "/v1/posts/a", None) for method in ("GET", "DELETE")),
                *(("GET", f"/v1/{path}", None) for path in ("posts", "stats")),
                ("POST", "/v1/match", {"text": OTHER}),
                ("POST", "/v1/explain", {"text": OTHER, "id": "a"}),
            )
            assert {refused(answer) for answer in answers} == {refusal}
            assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers)
            return [*answers, await client.get("/readyz"), await client.get("/metrics")]

    *answers, ready, metrics = asyncio.run(talk())
    assert not any("/secret" in answer.text for answer in (*answers, ready, metrics))
    assert caplog.text.count(PLACE) == 1
    if trouble is not None:
        assert (ready.status_code, trouble in ready.text) == (503, True)
