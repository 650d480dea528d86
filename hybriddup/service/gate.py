"""What every request passes: the name by which the service is addressed, the token, and the clock."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from hashlib import sha256
from time import perf_counter

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hybriddup.service.body_room import BodyRoom
from hybriddup.service.metrics import Metrics
from hybriddup.service.problems import RequestError
from hybriddup.service.routes import OPEN_TO_ALL, route_name

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Gate:
    """Lets a request through to the application, or answers it, and measures how long it took.

    Parameters
    ----------
    room
        Where requests hold bytes, which they give back at their end.
    token
        What clients must send as ``Authorization: Bearer``; None = nothing.
    hosts
        Names by which the service may be addressed where there is no token: a site that lets its own name lead to this
        machine could otherwise use a visitor's browser to read posts. Empty = any.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, room: BodyRoom, token: str | None, hosts: Iterable[str]) -> None:
        self.app = app
        self.metrics = metrics
        self.room = room
        self.digest = None if token is None else sha256(token.encode()).digest()
        self.hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            problem = self.problem_of(scope)
            if problem is not None:
                self.metrics.refused.labels(problem.error).inc()
            await (self.app if problem is None else problem.response())(scope, receive, note_status)
        finally:
            self.room.release(scope)
            method = scope["method"] if scope["method"] in METHODS else "other"
            labels = route_name(scope["path"]), method, str(status)
            self.metrics.requests.labels(*labels).observe(perf_counter() - began)

    def problem_of(self, scope: Scope) -> RequestError | None:
        """Return why a request is not let through; None where it is."""
        headers = Headers(scope=scope)
        if self.hosts and (name := host_name(headers.get("host", ""))) not in self.hosts:
            allowed = f"Host: {', '.join(sorted(self.hosts))}; with a token, any"
            return RequestError(421, "wrong_host", f"the service is not called {name!r}.", allowed)
        if self.digest is None or scope["path"] in OPEN_TO_ALL:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        # digests have one length, so that the comparison does not tell that of the token
        same = hmac.compare_digest(sha256(given.strip().encode("latin-1", "replace")).digest(), self.digest)
        if kind.lower() == "bearer" and same:
            return None
        what = "wrong" if given else "missing"
        return RequestError(401, "unauthorized", f"the token is {what}.", "Authorization: Bearer TOKEN")


def host_name(header: str) -> str:
    """Return the name in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.partition(":")[0].lower()
