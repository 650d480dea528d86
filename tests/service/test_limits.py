"""What the service refuses, each by one shape of error, in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from hybriddup.service.batching import DecidingQueue
from hybriddup.service.limits import MAX_LOOKS, Limits
from hybriddup.service.problems import RequestError
from hybriddup.window import Post, Window
from tests.service.support import JSON, OTHER, REPEATED, Decide, answers_to, ask, make_service, refused, running

LIMITS = Limits(max_body_bytes=2000, max_posts=3, max_text_length=50, max_queue=10, request_timeout=5.0)
TOKEN = "0123456789abcdef-token"  # noqa: S105  of this test alone


@pytest.mark.parametrize(
    ("path", "refusal", "body"),
    [
        *(("posts", (400, "not_json"), body) for body in (b"{", b"", b"\xff", b"[" * 1500)),
        *(("posts", (422, "invalid_post"), body) for body in (b"1", b'"text"', b"{}", b'{"text": null}')),
        ("posts", (422, "invalid_post"), b'[{"text": "a"}, {"text": "b", "id": 1.5}]'),
        *(("posts", (422, "invalid_post"), b'{"text": "b", "id": %s}' % post_id) for post_id in (b"true", b'"#5"')),
        ("posts", (422, "wrong_number_of_posts"), b"[]"),
        ("posts", (413, "wrong_number_of_posts"), b'[{"text":"a"},{"text":"b"},{"text":"c"},{"text":"d"}]'),
        ("posts", (422, "text_too_long"), b'{"text": "%s"}' % (b"a" * 51)),
        ("posts", (413, "body_too_large"), b'{"text": "%s"}' % (b"a" * 2001)),
        *(("match", (422, "invalid_request"), body) for body in (b"{}", b"[]")),
        *(("match", (422, "invalid_request"), b'{"text": "a", "limit": %s}' % n) for n in (b"0", b"101", b"true")),
        ("match", (422, "text_too_long"), b'{"text": "%s"}' % (b"a" * 51)),
        *(("explain", (422, "invalid_request"), body) for body in (b'{"text": "a"}', b'{"id": "a"}')),
        ("explain", (422, "text_too_long"), b'{"text": "%s", "id": "a"}' % (b"a" * 51)),
    ],
)
def test_bodies_that_are_not_allowed_are_refused(path: str, refusal: tuple[int, str], body: bytes) -> None:
    async def talk(client: httpx.AsyncClient) -> tuple[httpx.Response, Any]:
        answer = await client.post(f"/v1/{path}", content=body, headers=JSON)
        return answer, (await client.get("/v1/stats")).json()["n_posts"]

    answer, n_posts = ask(talk, LIMITS)
    assert (refused(answer), n_posts) == (refusal, 0)


def test_limits_are_inclusive() -> None:
    posts = [{"text": letter * 50} for letter in "abc"]
    assert ask(lambda client: client.post("/v1/posts", json=posts), LIMITS).status_code == 200


def test_a_body_of_unknown_size_is_not_read_to_its_end() -> None:
    n_parts = 0

    async def parts() -> AsyncIterator[bytes]:
        nonlocal n_parts
        for n_parts in range(1, 1001):  # noqa: B007  counted for the assertion
            yield b"a" * 5000

    answer = ask(lambda client: client.post("/v1/posts", content=parts(), headers=JSON), LIMITS)
    assert refused(answer) == (413, "body_too_large")
    assert n_parts <= 3


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        *((kind, False) for kind in ("text/plain", "application/x-www-form-urlencoded", None)),
        *((kind, True) for kind in ("application/json; charset=utf-8", "Application/JSON")),
    ],
)
def test_json_alone_is_read_however_its_type_is_spelled(kind: str | None, is_json: bool) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = ask(lambda client: client.post("/v1/posts", content=b'{"text": "a"}', headers=headers))
    assert answer.status_code == 200 if is_json else refused(answer) == (415, "not_json")


def test_addresses_and_methods_that_are_not_there_are_errors_of_the_same_shape() -> None:
    nowhere, wrong, no_post = answers_to(("GET", "/v2", None), ("PUT", "/v1/posts", None), ("GET", "/v1/posts//", None))
    assert refused(nowhere) == refused(no_post) == (404, "not_found")
    assert refused(wrong) == (405, "method_not_allowed")
    assert set(wrong.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (None, 401),
        ("Bearer", 401),
        (f"Basic {TOKEN}", 401),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        (f"Bearer {TOKEN}", 200),
        (f"bearer {TOKEN}", 200),
    ],
)
def test_a_token_is_asked_for_where_posts_are_told_or_taken(authorization: str | None, status: int) -> None:
    headers = {"authorization": authorization} if authorization else {}

    async def talk(client: httpx.AsyncClient) -> tuple[list[httpx.Response], list[int], str]:
        names = ("stats", "posts", "posts/a", "decisions", "pairs", "match", "explain")
        answers = [await client.get(path, headers=headers) for path in (*(f"/v1/{name}" for name in names), "/metrics")]
        paths = ("/", "/page.js", "/page.css", "/healthz", "/readyz", "/openapi.json")
        open_to_all = [(await client.get(path)).status_code for path in paths]
        return answers, open_to_all, (await client.get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})).text

    answers, open_to_all, metrics = ask(talk, token=TOKEN)
    assert answers[0].status_code == status
    assert open_to_all == [200] * 6
    assert ('hybriddup_requests_refused_total{error="unauthorized"} 8.0' in metrics) is (status == 401)
    for answer in answers:
        assert (answer.status_code == 401) is (status == 401)
        if status == 401:
            assert refused(answer) == (401, "unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((name, 200) for name in ("localhost", "LOCALHOST:8077", "localhost:", "[::1]:8077", "[::1]")),
        *((name, 421) for name in ("", "evil.example", "evil.example:8077", "localhost.evil.example")),
        *((name, 421) for name in ("localhost:80@evil.example", "[::1]evil.example", "[::1].evil.example:80")),
        *((name, 421) for name in ("localhost:80:80", "localhost:evil", "localhost/evil.example", "evil@localhost")),
        *((name, 421) for name in ("[localhost]", "[::1", "::1]", "localhost localhost", "localhost:８０")),
    ],
)
def test_without_a_token_only_the_own_names_are_answered(host: str, status: int) -> None:
    answer = ask(lambda client: client.get("/v1/stats", headers={"host": host.encode()}), hosts={"localhost", "::1"})
    assert answer.status_code == status


def test_what_waited_too_long_is_not_decided_and_what_was_begun_may_be() -> None:
    async def talk() -> tuple[list[int], list[str], int]:
        slow = Decide(is_held=True)
        queue = DecidingQueue(slow, max_posts=10)
        begun = asyncio.create_task(queue.submit([Post("begun")], 0.5))
        await asyncio.to_thread(slow.began.wait, 30)
        waiting = asyncio.create_task(queue.submit([Post("waiting")], 0.1))
        errors = await asyncio.gather(begun, waiting, return_exceptions=True)
        slow.go.set()
        await queue.close()
        return [error.status for error in errors if isinstance(error, RequestError)], slow.texts, queue.n_posts

    assert asyncio.run(talk()) == ([504, 503], ["begun"], 0)


def test_too_many_looks_are_refused() -> None:
    async def talk() -> tuple[Any, list[int]]:
        service = make_service()
        go = threading.Event()
        async with running(service) as client:
            looks = [asyncio.create_task(service.look(lambda _: go.wait(30))) for _ in range(MAX_LOOKS)]
            await asyncio.sleep(0.05)
            answer = await client.post("/v1/match", json={"text": OTHER})
            go.set()
            await asyncio.gather(*looks)
            later = await client.post("/v1/match", json={"text": OTHER})
        return refused(answer), [int(answer.headers["retry-after"]), later.status_code]

    assert asyncio.run(talk()) == ((429, "too_many_looks"), [1, 200])


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.sleep(30)

    answer = ask(lambda client: client.post("/v1/posts", content=parts(), headers=JSON), Limits(request_timeout=0.2))
    assert refused(answer) == (408, "timeout")


def test_posts_without_a_time_are_an_error_of_their_sender_alone() -> None:
    service = make_service(open_window=lambda: Window.open(None, time="event", workers=1), time_of="event")
    posts: list[Any] = [{"text": f"{REPEATED}{n}"} | ({"created_at": 1.0} if n % 2 else {}) for n in range(8)]
    posts[0] = [*3 * posts[1::2], *3 * posts[1::2], posts[0]]

    async def talk(client: httpx.AsyncClient) -> tuple[list[int], int]:
        answers = await asyncio.gather(*(client.post("/v1/posts", json=post) for post in posts))
        return [answer.status_code for answer in answers], (await client.get("/v1/stats")).json()["n_posts"]

    assert ask(talk, service) == ([422, 200] * 4, 4)


@pytest.mark.parametrize(("time_of", "status"), [("arrival", 200), ("event", 422)])
def test_a_time_in_another_form_matters_only_where_it_counts(time_of: Any, status: int) -> None:
    service = make_service(open_window=lambda: Window.open(None, time=time_of, workers=1), time_of=time_of)
    body = {"text": OTHER, "created_at": "13:42, 16 August"}
    assert ask(lambda client: client.post("/v1/posts", json=body), service).status_code == status


def test_a_request_that_finds_no_room_is_refused() -> None:
    async def slowly(go: asyncio.Event) -> AsyncIterator[bytes]:
        yield b'{"text": "' + b"a" * 90
        await go.wait()
        yield b'"}'

    async def talk() -> tuple[list[int], str, int]:
        service, go = make_service(), asyncio.Event()
        service.reader.room.most = 100
        async with running(service) as client:
            first = asyncio.create_task(client.post("/v1/posts", content=slowly(go), headers=JSON))
            while not service.reader.room.held:
                await asyncio.sleep(0.01)
            refused = await client.post("/v1/posts", json={"text": OTHER})
            go.set()
            answers: list[httpx.Response] = [refused, await first, await client.post("/v1/posts", json={"text": OTHER})]
        return [answer.status_code for answer in answers], refused.json()["error"], service.reader.room.held

    assert asyncio.run(talk()) == ([503, 200, 200], "too_many_bytes", 0)
