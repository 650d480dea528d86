"""Memory for the bodies of all requests together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest

from hybriddup.service.problems import RequestError
from hybriddup.service.reading import BodyRoom
from tests.service.support import JSON, OTHER, make_service, running


def test_a_body_waits_for_no_room_and_gives_it_back() -> None:
    """One that comes alone may take more than there is."""
    room, first, second = BodyRoom(100), {}, {}
    room.take(first, 60)
    with pytest.raises(RequestError, match="60 bytes"):
        room.take(second, 60)
    room.take(second, 40)
    room.release(second)
    room.take(first, 1000)
    room.release(first)
    room.release(first)
    assert room.held == 0


def test_a_request_that_finds_no_room_is_refused() -> None:
    """It may come again when the others are answered; and every request gives back what it held."""

    async def slowly(go: asyncio.Event) -> AsyncIterator[bytes]:
        yield b'{"text": "' + b"a" * 90
        await go.wait()
        yield b'"}'

    async def talk() -> tuple[list[int], str, int]:
        service, go = make_service(), asyncio.Event()
        service.room.most = 100
        async with running(service) as client:
            first = asyncio.create_task(client.post("/v1/posts", content=slowly(go), headers=JSON))
            while not service.room.held:
                await asyncio.sleep(0.01)
            refused = await client.post("/v1/posts", json={"text": OTHER})
            go.set()
            answers: list[httpx.Response] = [refused, await first, await client.post("/v1/posts", json={"text": OTHER})]
        return [answer.status_code for answer in answers], refused.json()["error"], service.room.held

    assert asyncio.run(talk()) == ([503, 200, 200], "too_many_bytes", 0)
