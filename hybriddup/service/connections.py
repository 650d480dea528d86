"""Connections as a hostile world opens them: too many, silent, slow to send or to read, or half closed.

uvicorn parses requests and ends connections that are idle between two of them. A subclass of its protocol adds what
else a server needs that is reached directly: a time for the headers of a request and for taking the answer, a limit of
the headers, and a limit of the connections, of which the one that has been waited for longest makes room. It overrides
only what asyncio calls in a protocol and httptools in its owner, and the answer to what is no HTTP.
`hybriddup.service.gate` has the times of bodies and answers.
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

LONGEST_BETWEEN_LOOKS = 0.5
"""Seconds after which connections are looked at again, to end the slow ones."""


CONNECTION = "hybriddup.connection"
"""By which the state of a request has its connection."""


class Connections:
    """The connections of a server, and what they may do at most.

    ``note`` is called with the kind of error when one is refused or ended for what it does.
    """

    def __init__(self, limits: Limits, note: Callable[[str], None]) -> None:
        self.limits = limits
        self.note = note
        self.open: set[Connection] = set()
        self.is_looking = False

    def protocol(self) -> type[asyncio.Protocol]:
        """Return what makes the protocol of a connection, for ``uvicorn.Config(http=...)``."""
        return cast("type[asyncio.Protocol]", partial(Connection, self))

    def add(self, connection: Connection) -> bool:
        """Return whether another connection may stay; where there are too many, end the one longest waited for."""
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
        """End the connections that are too slow, now and again while there are any."""
        loop = asyncio.get_running_loop()
        for connection in list(self.open):
            connection.end_if_slow(loop.time())
        if is_looking := bool(self.open):
            shortest = min(self.limits.header_timeout, self.limits.request_timeout)
            loop.call_later(min(shortest / 8, LONGEST_BETWEEN_LOOKS), self.look)
        self.is_looking = is_looking


def take_connection(scope: Scope) -> Connection | None:
    """Take the connection of a request out of its state, so that the two do not refer to each other."""
    found: Connection | None = scope.get("state", {}).pop(CONNECTION, None)
    return found


class Connection(HttpToolsProtocol):
    """One connection of a client: uvicorn's, with limits."""

    def __init__(self, all_of_them: Connections, *, app_state: dict[str, Any], **given: Any) -> None:
        super().__init__(app_state={**app_state, CONNECTION: self}, **given)
        self.all_of_them = all_of_them
        self.in_headers = True
        """Whether no whole headers came since the last request, or since the connection was made."""
        self.n_header_bytes = self.n_chunks = 0
        self.n_unanswered = 0
        """Requests whose headers came, and which are not answered."""
        self.since = 0.0
        """When the last headers or the last answer was complete, or the connection was made."""
        self.headers_since: float | None = None
        """When headers began to be waited for; None = they need not come yet."""
        self.unread_since: float | None = None
        self.said_all = False
        self.problem: RequestError | None = None
        """Why the parser was stopped."""

    @property
    def is_waited_for(self) -> bool:
        """Whether the client is to send something: a request, or the rest of one."""
        return not self.n_unanswered or not self.in_headers

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, or refuse the connection."""
        super().connection_made(transport)
        self.since = self.headers_since = self.loop.time()
        if not self.all_of_them.add(self):
            allowed = f"at most {self.all_of_them.limits.max_connections:,} connections; come back later"
            self.refuse(RequestError(503, "too_many_connections", "too many requests are being answered.", allowed))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.all_of_them.open.discard(self)
        super().connection_lost(exc)
        for state in (self.app_state, (self.scope or {}).get("state", {})):  # of a request that never came whole
            state.clear()  # they refer to each other

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless it is too much."""
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

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  uvicorn's words
        """Refuse what the parser was stopped for, or cannot read."""
        self.refuse(self.problem or RequestError(400, "not_http", "this is no HTTP request.", "HTTP/1.1"))

    def on_headers_complete(self) -> None:
        """Take a request, unless too many wait."""
        if self.n_unanswered >= MAX_AHEAD:
            allowed = f"at most {MAX_AHEAD} requests before the first is answered"
            self.stop(RequestError(429, "too_many_ahead", "too many requests were sent ahead.", allowed))
        super().on_headers_complete()
        self.in_headers, self.headers_since, self.n_chunks = False, None, 0
        self.n_unanswered += 1
        self.since = self.loop.time()

    def on_chunk_header(self) -> None:
        """Count the parts of a body: each is an event in Python, however small."""
        self.n_chunks += 1
        if self.n_chunks > MAX_CHUNKS:
            message, allowed = "the body comes in too many chunks.", f"at most {MAX_CHUNKS:,} chunks"
            self.stop(RequestError(413, "too_many_chunks", message, allowed))

    def on_message_complete(self) -> None:
        """Wait for the next request."""
        super().on_message_complete()
        self.in_headers, self.n_header_bytes = True, 0

    def stop(self, problem: RequestError) -> None:
        """Have the parser stop at once."""
        self.problem = problem
        raise ConnectionAbortedError  # the problem itself would hold this frame, and so the connection, in memory

    def answered(self) -> None:
        """Wait for the next request, for as long as a connection is kept."""
        self.n_unanswered -= 1
        self.since = self.loop.time()
        if self.headers_since is not None:
            self.headers_since = self.since
        if self.said_all and not self.n_unanswered:
            self.transport.close()

    def end_if_slow(self, now: float) -> None:
        """End the connection of a client that takes too long to ask, or to take what was answered."""
        limits = self.all_of_them.limits
        if not self.transport.get_write_buffer_size():
            self.unread_since = None
        elif self.unread_since is None:
            self.unread_since = now
        elif now - self.unread_since > limits.request_timeout:
            self.all_of_them.note("too_slow")
            self.transport.abort()
            return
        if self.headers_since is None or self.n_unanswered or now - self.headers_since <= limits.header_timeout:
            return
        seconds = f"{limits.header_timeout:g} s"
        message = f"the headers did not come within {seconds}."
        self.refuse(RequestError(408, "timeout", message, f"at most {seconds}"), counted_as="too_slow")

    def refuse(self, problem: RequestError, counted_as: str | None = None) -> None:
        """End the connection, with a problem where the client asked and nothing else is being answered."""
        if self.transport.is_closing():
            return
        self.all_of_them.note(counted_as or problem.error)
        has_asked = self.n_header_bytes or problem.status == 503
        if has_asked and self.n_unanswered <= (not self.in_headers):
            self.transport.write(problem.as_http())
        self.transport.close()

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer a client that has said all it will say; end the connection of one that stopped halfway."""
        self.said_all = True
        return self.n_unanswered > 0 and self.in_headers
