"""ASGI middleware around the application: checks host name and token, and times requests."""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from time import perf_counter
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hybriddup.service.limits import SECONDS_BEFORE_429
from hybriddup.service.problems import RequestError
from hybriddup.service.routes import OPEN_TO_ALL, route_name
from hybriddup.service.service import Service
from hybriddup.steps.options import quote

T = TypeVar("T")
HOST = re.compile(r"(?:\[(?P<address>[0-9a-fA-F:.]+)\]|(?P<name>[^\s:@/\[\]]*))(?::[0-9]*)?")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Gate:
    """Passes a request to the application or refuses it, and measures the time to answer.

    Parameters
    ----------
    service
        The service whose metrics are updated, and whose memory budget for bodies a request releases when it ends.
    token
        The token that clients must send as ``Authorization: Bearer``; None = no token is needed.
    hosts
        Host names that requests may use; empty = any. Without a token, this stops DNS rebinding: a site that resolves
        its own name to this machine could otherwise read posts through a visitor's browser.
    log
        Called with one line per request; None = requests are not logged.
    """

    def __init__(
        self, app: ASGIApp, service: Service, token: str | None, hosts: Iterable[str], log: Callable[[str], None] | None
    ) -> None:
        self.app = app
        self.metrics, self.room = service.metrics, service.reader.room
        self.digest = None if token is None else sha256(token.encode()).digest()
        self.hosts = frozenset(hosts)
        self.log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and record how long the answer took."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def send_timed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status == HTTPStatus.TOO_MANY_REQUESTS:
                    # clients that retry at once would otherwise take processor time from deciding
                    await asyncio.sleep(SECONDS_BEFORE_429)
            await if_open(send(message), None)

        async def receive_if_open() -> Message:
            return await if_open(receive(), {"type": "http.disconnect"})

        try:
            problem = self.problem_of(scope["path"], Headers(scope=scope))
            if problem is not None:
                self.metrics.refused.labels(problem.error).inc()
            await (self.app if problem is None else problem.response())(scope, receive_if_open, send_timed)
        finally:
            self.room.release(scope)
            method = scope["method"] if scope["method"] in METHODS else "other"
            seconds = perf_counter() - began
            self.metrics.requests.labels(route_name(scope["path"]), method, str(status)).observe(seconds)
            if self.log is not None:
                self.log(log_line(scope, method, status, seconds))

    def problem_of(self, path: str, headers: Headers) -> RequestError | None:
        """Return the error for a request with a wrong host name or token; None if the request is allowed."""
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


async def if_open(action: Awaitable[T], otherwise: T) -> T:
    """Return the result of ``action``, or ``otherwise`` if the client has closed the connection.

    uvloop raises an error if a closed connection is used; uvicorn passes the error on until it notices the closing.
    """
    try:
        return await action
    except RuntimeError as error:
        if "handler is closed" not in str(error):
            raise
        return otherwise


def host_name(header: str) -> str:
    """Return the host name in a Host header, in lower case, without the port; a malformed header is returned whole."""
    found = HOST.fullmatch(header)
    return (header if found is None else found["address"] or found["name"]).lower()


def log_line(scope: Scope, method: str, status: int, seconds: float) -> str:
    """Return a line for the access log; it omits the query string, which may contain the text of a post."""
    path = scope["raw_path"].partition(b"?")[0].decode("ascii", "replace")
    client = scope["client"][0] if scope["client"] else "-"
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {client} {method} {path} {status} {seconds:.4f} s"
