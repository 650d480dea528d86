"""Connections as a hostile world opens them, over real sockets: each test talks to one server with short limits."""

from __future__ import annotations

import json
import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit
from urllib.request import urlopen

import httpx
import pytest

from hybriddup.service.limits import MAX_AHEAD, MAX_CHUNKS, MAX_HEADER_BYTES
from tests.service.support import OTHER, SHAPE, Served, serving

LIMITS = {"--max-connections": "8", "--header-timeout": "0.4", "--request-timeout": "0.5", "--keep-alive": "1"}
BODY = json.dumps({"text": OTHER}).encode()
HEADERS = b"POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
POST = HEADERS % len(BODY) + BODY


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    arguments = [part for option in LIMITS.items() for part in option]
    with serving(tmp_path_factory.mktemp("connections") / "window", *arguments) as served:
        yield served
        assert served.end() == (0, "")


@pytest.fixture
def client(served: Served) -> Iterator[socket.socket]:
    with connect(served) as opened:
        yield opened


def connect(served: Served) -> socket.socket:
    """Return a new connection."""
    parts = urlsplit(served.address)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def rest(client: socket.socket) -> bytes:
    """Return all that comes until the server ends the connection."""
    parts = []
    try:
        while part := client.recv(2**16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def refused(answer: bytes) -> tuple[int, str]:
    """Return status and kind of an error, which must have its shape."""
    head, _, body = answer.partition(b"\r\n\r\n")
    told = json.loads(body)
    assert set(told) == SHAPE
    assert b"connection: close" in head
    return int(head.split()[1]), told["error"]


def counted(served: Served, error: str) -> float:
    """Return how often an error was counted."""
    wanted = f'hybriddup_requests_refused_total{{error="{error}"}} '
    with urlopen(f"{served.address}/metrics", timeout=30) as answer:  # noqa: S310  the server was started here
        lines = answer.read().decode().splitlines()
    return sum(float(line.removeprefix(wanted)) for line in lines if line.startswith(wanted))


def one_answer(client: socket.socket) -> bytes:
    """Return an answer that says how long it is; its headers and its body may come one after the other."""
    answer = b""
    while True:
        head, end, body = answer.partition(b"\r\n\r\n")
        if end and len(body) >= int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]):
            return answer
        answer += (received := client.recv(2**16))
        assert received


def drip(client: socket.socket, data: bytes) -> bytes:
    """Send byte after byte until the server has had enough; return what it says."""
    client.settimeout(0.02)
    for place in range(len(data)):
        try:
            client.send(data[place : place + 1])
            said = client.recv(2**16)
        except TimeoutError:
            continue
        except (ConnectionResetError, BrokenPipeError):
            return b""
        client.settimeout(30)
        return said + rest(client)
    raise AssertionError("the server took all of it")


@pytest.mark.parametrize("endless", [b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"GET /", b"\r\n"])
def test_headers_that_do_not_end_are_not_waited_for(served: Served, client: socket.socket, endless: bytes) -> None:
    answer = drip(client, endless + b"\r\n" * 500 if endless == b"\r\n" else endless + b"a" * 500)
    assert refused(answer) == (408, "timeout")
    assert counted(served, "too_slow") > 0


def test_headers_of_a_later_request_are_not_waited_for_either(client: socket.socket) -> None:
    client.sendall(POST)
    assert one_answer(client).startswith(b"HTTP/1.1 200")
    assert refused(drip(client, b"GET /" + b"a" * 500)) == (408, "timeout")


def test_a_connection_that_says_nothing_is_ended(client: socket.socket) -> None:
    assert rest(client) == b""


def test_a_connection_that_has_nothing_more_to_say_is_ended(client: socket.socket) -> None:
    client.sendall(POST)
    assert rest(client).startswith(b"HTTP/1.1 200")


def test_a_body_sent_byte_by_byte_is_not_waited_for(client: socket.socket) -> None:
    client.sendall(HEADERS % 10_000)
    answer = drip(client, b"[" + b" " * 9_999)
    assert answer.startswith(b"HTTP/1.1 408")


def test_a_body_that_nobody_asked_for_is_not_waited_for(client: socket.socket) -> None:
    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert one_answer(client).startswith(b"HTTP/1.1 200")
    assert drip(client, b"1\r\na\r\n" * 2000) == b""


def test_a_body_in_countless_parts_is_refused(served: Served, client: socket.socket) -> None:
    """Each is an event, which others would wait for."""
    client.sendall(HEADERS.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked") + b"1\r\n \r\n" * MAX_CHUNKS)
    with suppress(ConnectionResetError, BrokenPipeError):
        client.sendall(b"1\r\n \r\n" * 100)
    assert refused(rest(client)) == (413, "too_many_chunks")
    assert counted(served, "too_many_chunks") > 0


def test_a_body_that_is_refused_is_not_taken_to_its_end(client: socket.socket) -> None:
    client.sendall(HEADERS % 2**40)
    answer = b""
    with suppress(ConnectionResetError, BrokenPipeError):
        for _ in range(2**30 // 2**16):
            client.sendall(b"a" * 2**16)
        raise AssertionError("the server took all of it")
    with suppress(ConnectionResetError):
        answer = client.recv(2**16)
    assert answer[:12] in {b"HTTP/1.1 413", b""}


def test_headers_that_are_too_large_are_refused(served: Served, client: socket.socket) -> None:
    line = b"X: " + b"a" * 1000 + b"\r\n"
    with suppress(ConnectionResetError, BrokenPipeError):
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + line * (6 * MAX_HEADER_BYTES // len(line)))
    assert rest(client)[:12] in {b"HTTP/1.1 431", b""}
    assert httpx.get(f"{served.address}/healthz").status_code == 200


@pytest.mark.parametrize(
    "said",
    [b"\x16\x03\x01\x02\x00\x01\x00\x01", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"GET\r\n\r\n"],
)
def test_what_is_no_http_is_refused(served: Served, said: bytes) -> None:
    """As TLS is, and other things that find the port; in the shape of all errors, and counted."""
    before = counted(served, "not_http")
    with connect(served) as client:
        client.sendall(said)
        assert refused(rest(client)) == (400, "not_http")
    assert counted(served, "not_http") == before + 1


def test_a_client_that_said_all_is_answered(served: Served, client: socket.socket) -> None:
    client.sendall(POST)
    client.shutdown(socket.SHUT_WR)
    answer = rest(client)
    assert answer.startswith(b"HTTP/1.1 200")
    assert httpx.get(f"{served.address}/readyz").status_code == 200


def test_a_client_that_stopped_halfway_is_let_go(client: socket.socket) -> None:
    client.sendall(POST[:-5])
    client.shutdown(socket.SHUT_WR)
    began = time.monotonic()
    assert not rest(client).startswith(b"HTTP/1.1 200")
    assert time.monotonic() - began < 20


def test_clients_that_are_gone_at_once_leave_no_trace(served: Served) -> None:
    """Though they have no address any more when the server hears of them; its silence is checked at the end."""
    for number in range(100):
        with connect(served) as client:
            client.send(POST[: number % 3 * 60])
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert httpx.get(f"{served.address}/healthz").status_code == 200


def test_a_foreign_name_is_refused_without_a_token(served: Served) -> None:
    assert httpx.get(f"{served.address}/v1/stats", headers={"host": "evil.example"}).status_code == 421


def test_of_too_many_connections_the_one_idle_for_longest_makes_room(served: Served) -> None:
    """So that whoever holds connections without using them keeps nobody out."""
    with ExitStack() as stack:
        silent = [stack.enter_context(connect(served)) for _ in range(8)]
        client = stack.enter_context(connect(served))
        client.sendall(POST)
        assert client.recv(2**16).startswith(b"HTTP/1.1 200")
        assert rest(silent[0]) == b""
    assert counted(served, "too_many_connections") > 0


def test_an_answer_that_nobody_takes_is_not_kept(served: Served) -> None:
    parts, before = urlsplit(served.address), counted(served, "too_slow")
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((parts.hostname, parts.port))
        client.settimeout(0.1)
        deadline = time.monotonic() + 60
        with suppress(ConnectionResetError, BrokenPipeError):  # when it is cut off
            while time.monotonic() < deadline and counted(served, "too_slow") == before:
                client.send(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                time.sleep(0.03)  # not so many ahead that it is cut off for that
    assert counted(served, "too_slow") > before


def test_requests_sent_ahead_are_answered_in_order_unless_they_are_too_many(served: Served) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + POST
    with connect(served) as client:
        client.sendall(asked * (MAX_AHEAD // 2))
        client.shutdown(socket.SHUT_WR)
        answers = rest(client)
        assert re.findall(rb'"(status|decision)"', answers) == [b"status", b"decision"] * (MAX_AHEAD // 2)
    with connect(served) as client:
        client.sendall(asked * MAX_AHEAD)
        assert rest(client).count(b"HTTP/1.1 200") < MAX_AHEAD
    assert counted(served, "too_many_ahead") > 0
