"""Connections over real sockets: slow, silent and half-closed clients, and data that is not HTTP."""

from __future__ import annotations

import json
import re
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import httpx
import pytest

from tests.service.support import OTHER, SHAPE, Served, serving

LIMITS = ("--request-timeout", "0.5", "--keep-alive", "1")
BODY = json.dumps({"text": OTHER}).encode()
HEADERS = b"POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
POST = HEADERS % len(BODY) + BODY
CLOSE = (b"Host:", b"Connection: close\r\nHost:")
LAST = POST.replace(*CLOSE)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("connections") / "window", *LIMITS) as served:
        yield served
        assert served.end() == (0, "")


@pytest.fixture
def client(served: Served) -> Iterator[socket.socket]:
    with connect(served) as opened:
        yield opened


def connect(served: Served) -> socket.socket:
    parts = urlsplit(served.address)
    return socket.create_connection((parts.hostname, parts.port), timeout=30)


def rest(client: socket.socket) -> bytes:
    parts = []
    with suppress(ConnectionResetError):
        while part := client.recv(2**16):
            parts.append(part)
    return b"".join(parts)


def refused(answer: bytes) -> tuple[int, str]:
    head, _, body = answer.partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert set(problem) == SHAPE
    return int(head.split()[1]), problem["error"]


def test_an_idle_connection_is_closed(client: socket.socket) -> None:
    client.sendall(POST)
    assert rest(client).startswith(b"HTTP/1.1 200")


def test_a_body_sent_byte_by_byte_is_not_waited_for(client: socket.socket) -> None:
    client.sendall(HEADERS % 10_000)
    client.settimeout(0.02)
    for byte in b"[" + b" " * 9_999:
        client.send(bytes([byte]))
        with suppress(TimeoutError):
            assert client.recv(2**16).startswith(b"HTTP/1.1 408")
            return
    raise AssertionError("the server read all of it")


def test_a_body_that_is_too_large_is_refused_before_it_comes(client: socket.socket) -> None:
    client.sendall(HEADERS.replace(*CLOSE) % 2**40)
    assert refused(rest(client)) == (413, "body_too_large")


def test_a_body_that_is_refused_does_not_disturb_the_next_request(client: socket.socket) -> None:
    client.sendall(POST.replace(b"json", b"text") + HEADERS.replace(b"json", b"text") % 500_000 + b"a" * 500_000 + LAST)
    assert re.findall(rb"HTTP/1.1 (\d+)", rest(client)) == [b"415", b"415", b"200"]


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x02\x00\x01\x00\x01", b"CONNECT a:1 HTTP/1.1\r\n\r\n", b"GET\r\n\r\n"])
def test_invalid_http_is_refused(client: socket.socket, data: bytes) -> None:
    client.sendall(data)
    assert rest(client).startswith(b"HTTP/1.1 400")


def test_a_client_that_stops_halfway_is_disconnected(client: socket.socket) -> None:
    client.sendall(POST[:-5])
    client.shutdown(socket.SHUT_WR)
    assert not rest(client).startswith(b"HTTP/1.1 200")


def test_clients_that_disconnect_at_once_leave_no_trace(served: Served) -> None:
    """The server may learn of them after they have gone; the fixture checks that it logged nothing."""
    for number in range(100):
        with connect(served) as client:
            client.send((b"", POST[:60], POST[:-9], 9 * POST)[number % 4])
            if number % 4 < 3:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                client.recv(9)  # the other posts are being decided
    assert httpx.get(f"{served.address}/healthz").status_code == 200


def test_a_foreign_host_name_is_refused_without_a_token(served: Served) -> None:
    assert httpx.get(f"{served.address}/v1/stats", headers={"host": "evil.example"}).status_code == 421


def test_requests_sent_ahead_are_answered_in_order(client: socket.socket) -> None:
    health = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    client.sendall((health + POST) * 15 + health + LAST)
    assert re.findall(rb'"(status|decision)"', rest(client)) == [b"status", b"decision"] * 16
