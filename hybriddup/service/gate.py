"""ASGI middleware around the application: checks host name and token, times requests, drops bodies nobody reads."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hybriddup.service.connections import Connection, take_connection
from hybriddup.service.limits import SECONDS_BEFORE_429, UNREAD_BYTES, UNREAD_SECONDS
from hybriddup.service.metrics import Metrics
from hybriddup.service.problems import RequestError
from hybriddup.service.reading import BodyRoom
from hybriddup.service.routes import OPEN_TO_ALL, route_name
from hybriddup.steps.options import quote

HOST = re.compile(r"(?:\[(?P<address>[0-9a-fA-F:.]+)\]|(?P<name>[^\s:@/\[\]]*))(?::[0-9]*)?")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Gate:
    """Passes a request to the application or refuses it, and measures the time to answer.

    Parameters
    ----------
    room
        The memory budget for bodies; a request's bytes are released when it ends.
    token
        The token that clients must send as ``Authorization: Bearer``; None = no token is needed.
    hosts
        Host names that requests may use; empty = any. Without a token, this stops DNS rebinding: a site that resolves
        its own name to this machine could otherwise read posts through a visitor's browser.
    log
        Called with one line per request; None = requests are not logged.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        room: BodyRoom,
        token: str | None,
        hosts: Iterable[str],
        log: Callable[[str], None] | None,
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.room = room
        self.digest = None if token is None else sha256(token.encode()).digest()
        self.hosts = frozenset(hosts)
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and record its time."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        connection = take_connection(scope)
        exchange = Exchange(headers, receive, send, connection)
        try:
            problem = self.problem_of(scope["path"], headers)
            if problem is not None:
                self.metrics.refused.labels(problem.error).inc()
            await (self.app if problem is None else problem.response())(scope, exchange.receive, exchange.send)
        finally:
            self.room.release(scope)
            method = scope["method"] if scope["method"] in METHODS else "other"
            labels = route_name(scope["path"]), method, str(exchange.status)
            seconds = (exchange.ended or perf_counter()) - exchange.began
            self.metrics.requests.labels(*labels).observe(seconds)
            if connection is not None:
                connection.answered()
            if self.log is not None:
                self.log(log_line(scope, method, exchange.status, seconds))

    def problem_of(self, path: str, headers: Headers) -> RequestError | None:
        """Return the error of a request with a wrong host name or token; None if it may pass."""
        if self.hosts and (name := host_name(headers.get("host", ""))) not in self.hosts:
            allowed = f"Host: {', '.join(sorted(self.hosts))}; with a token, any"
            return RequestError(421, "wrong_host", f"{quote(name)} is not a host name of this service.", allowed)
        if self.digest is None or path in OPEN_TO_ALL:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        # digests all have the same length, so the time to compare does not reveal the token's
        same = hmac.compare_digest(sha256(given.strip().encode("latin-1", "replace")).digest(), self.digest)
        if kind.lower() == "bearer" and same:
            return None
        what = "wrong" if given else "missing"
        return RequestError(401, "unauthorized", f"the token is {what}.", "Authorization: Bearer TOKEN")


class Exchange:
    """A request and its answer.

    If the answer begins before the whole body was read, the connection is closed after the answer. If the client may
    retry (the answer has Retry-After), up to `UNREAD_BYTES` of the body are read and dropped first; if nothing of the
    body is left then, the connection stays open.
    """

    def __init__(self, headers: Headers, receive: Receive, send: Send, connection: Connection | None) -> None:
        self._receive, self._send, self._connection = receive, send, connection
        self.status = 500
        self.began = perf_counter()
        self.ended: float | None = None
        self.is_unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        self.is_last = False

    def _is_open(self) -> bool:
        return self._connection is None or not self._connection.transport.is_closing()

    async def receive(self) -> Message:
        """Return the next part of the body."""
        try:
            message = await self._receive()
        except RuntimeError:  # from uvloop: the connection is closed, and uvicorn may not know yet
            if self._is_open():
                raise
            message = {"type": "http.disconnect"}
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self.is_unread = False
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            message = await self._start(message)
        elif self.is_last and not message.get("more_body", False):
            await self._pass_on({**message, "more_body": True})
            # closing while the client still sends would reset the connection, and the answer could be lost
            await self._drop_body()
            message = {"type": "http.response.body"}
        await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        try:
            await self._send(message)
        except RuntimeError:  # as above
            if self._is_open():
                raise

    async def _start(self, message: Message) -> Message:
        self.status, headers = message["status"], message["headers"]
        if self.status == 429:
            # clients that retry at once would otherwise take processor time from deciding
            await asyncio.sleep(SECONDS_BEFORE_429)
        if self.is_unread and any(name == b"retry-after" for name, _ in headers):
            await self._drop_body()
        self.ended = perf_counter()
        self.is_last = self.is_unread
        return {**message, "headers": [*headers, (b"connection", b"close")]} if self.is_last else message

    async def _drop_body(self) -> None:
        """Read and discard the rest of the body, up to a size and a time."""
        n_bytes = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(UNREAD_SECONDS):
                while self.is_unread and n_bytes <= UNREAD_BYTES:
                    n_bytes += len((await self.receive()).get("body", b""))


def host_name(header: str) -> str:
    """Return the host name in a Host header, without the port, or all of a malformed header; in lower case."""
    found = HOST.fullmatch(header)
    return (header if found is None else found["address"] or found["name"]).lower()


def log_line(scope: Scope, method: str, status: int, seconds: float) -> str:
    """Return a log line: the path percent-encoded, without the query string, which may contain the text of a post."""
    path = scope["raw_path"].partition(b"?")[0].decode("ascii", "replace")
    client = scope["client"][0] if scope["client"] else "-"
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {client} {method} {path} {status} {seconds:.4f} s"
