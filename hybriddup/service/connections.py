"""Connection limits against hostile clients: too many connections, or silent, slow or half-closed ones.

uvicorn parses requests and closes connections that are idle between two requests. A subclass of its protocol adds what
a server without a proxy in front needs: a deadline for the headers, a deadline for the client to read the answer, a
size limit for headers, and a limit on connections. At that limit, a new connection replaces the one whose client has
kept the server waiting longest. The subclass overrides only callbacks of asyncio and httptools, and the answer to
invalid HTTP.

`hybriddup.service.reading` and `hybriddup.service.batching` have the deadlines for bodies and answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hybriddup.service.limits import MAX_AHEAD, MAX_CHUNKS, MAX_HEADER_BYTES, Limits
from hybriddup.service.problems import RequestError

MAX_CHECK_INTERVAL = 0.5
"""Longest interval between two checks for slow connections, in seconds."""


CONNECTION = "hybriddup.connection"
"""Key of the connection in a request's ``scope["state"]``."""


class Connections:
    """The open connections of a server, and their limits.

    ``note`` is called with the kind of error when a connection is refused, or closed for breaking a limit.
    """

    def __init__(self, limits: Limits, note: Callable[[str], None]) -> None:
        self.limits = limits
        self.note = note
        self.open: set[Connection] = set()
        self.is_looking = False

    def protocol(self) -> type[asyncio.Protocol]:
        """Return the factory of connections, for ``uvicorn.Config(http=...)``."""
        return cast("type[asyncio.Protocol]", partial(Connection, self))

    def add(self, connection: Connection) -> bool:
        """Add a connection; return whether it may stay.

        At the limit, the connection that has kept the server waiting longest is closed to make room.
        """
        has_room = len(self.open) < self.limits.max_connections
        if not has_room:
            self.note("too_many_connections")
            waited_for = [one for one in self.open if one.is_waited_for and not one.transport.is_closing()]
            if has_room := bool(waited_for):
                min(waited_for, key=lambda one: one.since).transport.close()
        self.open.add(connection)
        if not self.is_looking:
            self.look()
        return has_room

    def look(self) -> None:
        """End the connections that are too slow; repeat at intervals while any are open."""
        loop = asyncio.get_running_loop()
        for connection in list(self.open):
            connection.end_if_slow(loop.time())
        if is_looking := bool(self.open):
            shortest = min(self.limits.header_timeout, self.limits.request_timeout)
            loop.call_later(min(shortest / 8, MAX_CHECK_INTERVAL), self.look)
        self.is_looking = is_looking


def take_connection(scope: Scope) -> Connection | None:
    """Remove and return the connection in a request's state, so that the two do not form a reference cycle."""
    found: Connection | None = scope.get("state", {}).pop(CONNECTION, None)
    return found


class Connection(HttpToolsProtocol):
    """uvicorn's HTTP connection, with limits and deadlines."""

    def __init__(self, owner: Connections, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state={**app_state, CONNECTION: self}, **given)
        self.owner = owner
        self.in_headers = True
        """Whether the headers of the next request are still incomplete."""
        self.n_header_bytes = self.n_chunks = 0
        self.n_unanswered = 0
        """Number of requests with complete headers and no complete answer."""
        self.since = 0.0
        """Time when the last headers or the last answer was complete, or the connection was made."""
        self.headers_since: float | None = None
        """Time from which the header deadline counts; None = no headers are due."""
        self.unread_since: float | None = None
        self.has_sent_eof = False
        self.problem: RequestError | None = None
        """The error answer for which the parser was stopped."""

    @property
    def is_waited_for(self) -> bool:
        """Whether the server waits for the client to send a request or the rest of one."""
        return not self.n_unanswered or not self.in_headers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the header deadline, or refuse the connection."""
        super().connection_made(transport)
        self.since = self.headers_since = self.loop.time()
        if not self.owner.add(self):
            allowed = f"at most {self.owner.limits.max_connections:,} connections; connect again, later"
            self.refuse(RequestError(503, "too_many_connections", "too many requests are being answered.", allowed))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.owner.open.discard(self)
        super().connection_lost(exc)
        for state in (self.app_state, (self.scope or {}).get("state", {})):  # the latter of an unfinished request
            state.clear()  # break the reference cycle, so that memory is freed at once

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse headers that are too large."""
        if self.transport.is_closing():
            return
        if self.in_headers:
            self.n_header_bytes += len(data)
            if self.headers_since is None:
                self.headers_since = self.loop.time()
        super().data_received(data)
        if self.in_headers and self.n_header_bytes > MAX_HEADER_BYTES:
            allowed = f"at most {MAX_HEADER_BYTES:,} bytes"
            self.refuse(RequestError(431, "headers_too_large", "the headers are too large.", allowed))

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's message
        """Answer with the problem for which the parser was stopped, or with 400 if it failed by itself."""
        self.refuse(self.problem or RequestError(400, "not_http", "the data is not a valid HTTP request.", "HTTP/1.1"))

    def on_headers_complete(self) -> None:
        """Accept the request, unless too many on this connection are unanswered."""
        if self.n_unanswered >= MAX_AHEAD:
            allowed = f"at most {MAX_AHEAD} requests before the first is answered"
            self.stop(RequestError(429, "too_many_ahead", "too many requests were sent ahead.", allowed))
        super().on_headers_complete()
        self.in_headers, self.headers_since, self.n_chunks = False, None, 0
        self.n_unanswered += 1
        self.since = self.loop.time()

    def on_chunk_header(self) -> None:
        """Refuse bodies in too many chunks: each costs a Python call, however small it is."""
        self.n_chunks += 1
        if self.n_chunks > MAX_CHUNKS:
            message, allowed = "the body comes in too many chunks.", f"at most {MAX_CHUNKS:,} chunks"
            self.stop(RequestError(413, "too_many_chunks", message, allowed))

    def on_message_complete(self) -> None:
        """Wait for the next request."""
        super().on_message_complete()
        self.in_headers, self.n_header_bytes = True, 0

    def stop(self, problem: RequestError) -> None:
        """Stop the parser at once; `send_400_response` then sends the problem."""
        self.problem = problem
        raise ConnectionAbortedError  # the problem itself would hold this frame, and so the connection, in memory

    def answered(self) -> None:
        """Note that a request is answered; close the connection after the last one if the client sent EOF."""
        self.n_unanswered -= 1
        self.since = self.loop.time()
        if self.headers_since is not None:
            self.headers_since = self.since
        if self.has_sent_eof and not self.n_unanswered:
            self.transport.close()

    def end_if_slow(self, now: float) -> None:
        """End the connection if its client is too slow to send headers or to read an answer."""
        limits = self.owner.limits
        if not self.transport.get_write_buffer_size():
            self.unread_since = None
        elif self.unread_since is None:
            self.unread_since = now
        elif now - self.unread_since > limits.request_timeout:
            self.owner.note("too_slow")
            self.transport.abort()
            return
        if self.headers_since is None or self.n_unanswered or now - self.headers_since <= limits.header_timeout:
            return
        seconds = f"{limits.header_timeout:g} s"
        message = f"the headers did not come within {seconds}."
        self.refuse(RequestError(408, "timeout", message, f"at most {seconds}"), counted_as="too_slow")

    def refuse(self, problem: RequestError, counted_as: str | None = None) -> None:
        """Close the connection. Send the problem first if a request was begun and no other answer is under way."""
        if self.transport.is_closing():
            return
        self.owner.note(counted_as or problem.error)
        has_request = self.n_header_bytes or problem.status == 503
        if has_request and self.n_unanswered <= (not self.in_headers):
            self.transport.write(problem.as_http())
        self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Keep the connection of a client that sent EOF until it is answered; close it if a request is incomplete."""
        self.has_sent_eof = True
        return self.n_unanswered > 0 and self.in_headers
