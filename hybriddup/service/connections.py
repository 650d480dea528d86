"""Connections as a hostile world opens them: too many, silent, slow to send or to read, or half closed.

uvicorn ends connections that are idle between two requests. This adds what else a server that is reached directly
needs: a time for the headers and for the body of a request, whatever the address, a time for taking the answer, a
limit of the headers, and a limit of the connections, of which the one that has been waited for longest makes room.
"""

from __future__ import annotations

from asyncio import BaseTransport, TimerHandle, Transport
from collections.abc import Callable
from functools import partial
from typing import Any, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from hybriddup.service.limits import MAX_AHEAD, MAX_HEADER_BYTES, Limits
from hybriddup.service.problems import RequestError

GRACE = 1.0
"""Seconds after which a body that is late ends its connection: what reads it has answered by then."""


class Connections:
    """The connections of a server, and what they may do at most.

    Parameters
    ----------
    note
        Called with the kind of error when a connection is refused or ended for what it does.
    """

    def __init__(self, limits: Limits, note: Callable[[str], None]) -> None:
        self.limits = limits
        self.note = note
        self.n_open = 0
        self.waited_for: dict[Connection, None] = {}
        """Those that are to send something, the one that began to be waited for first in front."""

    def protocol(self) -> type[HttpToolsProtocol]:
        """Return what makes the protocol of a connection, for ``uvicorn.Config(http=...)``."""
        return cast("type[HttpToolsProtocol]", partial(Connection, self))

    def has_room(self) -> bool:
        """Return whether another connection may stay; where there are too many, end the one longest waited for."""
        if self.n_open < self.limits.max_connections:
            return True
        self.note("too_many_connections")
        longest = next(iter(self.waited_for), None)
        if longest is None:
            return False
        longest.end()
        return True


class Connection(HttpToolsProtocol):
    """One connection of a client."""

    transport: Transport

    def __init__(self, all_of_them: Connections, **given: Any) -> None:
        super().__init__(**given)
        self.all_of_them = all_of_them
        self.limits = all_of_them.limits
        self.deadline: TimerHandle | None = None
        """When what is waited for must be there: headers, or a body."""
        self.must_read_by: TimerHandle | None = None
        self.answering: RequestResponseCycle | None = None
        """The request that is answered, behind which others may wait that were sent ahead."""
        self.n_header_bytes = 0
        self.in_headers = True
        """Whether no whole headers came since the last request, or since the connection was made."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for a request, or refuse the connection."""
        super().connection_made(cast("Transport", transport))
        has_room = self.all_of_them.has_room()
        self.all_of_them.n_open += 1
        if has_room:
            self.wait_for_headers()
        else:
            allowed = f"at most {self.limits.max_connections:,} connections; come back later"
            self.refuse(RequestError(503, "too_many_connections", "too many requests are being answered.", allowed))

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the connection."""
        self.all_of_them.n_open -= 1
        self.stop_waiting()
        self.stop_must_read()
        self.call_off()
        super().connection_lost(error)

    def data_received(self, data: bytes) -> None:
        """Read what came; a request that began must go on."""
        if self.in_headers:
            self.n_header_bytes += len(data)
            if self.deadline is None:
                self.wait_for_headers()
        super().data_received(data)
        if self.in_headers and self.n_header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            allowed = f"at most {MAX_HEADER_BYTES:,} bytes"
            self.refuse(RequestError(431, "headers_too_large", "the headers are too large.", allowed))

    def on_headers_complete(self) -> None:
        """Begin to answer, and to wait for the body; end the connection of a client that asks far ahead."""
        if len(self.pipeline) >= MAX_AHEAD:
            self.all_of_them.note("too_many_ahead")
            self.end()
            raise ConnectionAbortedError("the client sent too many requests ahead")  # ends the parsing of what came
        self.in_headers = False
        self.wait(self.limits.request_timeout + GRACE)
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self.answering = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        """Wait for nothing until there is an answer, or the next request."""
        self.in_headers, self.n_header_bytes = True, 0
        self.stop_waiting()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, for as long as a connection is kept."""
        super().on_response_complete()
        if self.transport.is_closing():
            self.have_read()
        elif self.pipeline:
            self.flow.pause_reading()
        elif self.timeout_keep_alive_task is not None and self.deadline is None:
            self.all_of_them.waited_for[self] = None

    def timeout_keep_alive_handler(self) -> None:
        """End a connection that was idle for long."""
        self.end()

    def wait_for_headers(self) -> None:
        """Wait for the end of the headers."""
        self.wait(self.limits.header_timeout)

    def wait(self, seconds: float) -> None:
        """Have the connection end unless what is waited for comes in time."""
        self.stop_waiting()
        self.deadline = self.loop.call_later(seconds, self.too_late)
        self.all_of_them.waited_for[self] = None

    def stop_waiting(self) -> None:
        """Note that what was waited for came."""
        self.all_of_them.waited_for.pop(self, None)
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def too_late(self) -> None:
        """End the connection of a client that is too slow, with an answer where it began to ask."""
        self.stop_waiting()
        self.all_of_them.note("too_slow")
        if self.in_headers and self.n_header_bytes and (self.cycle is None or self.cycle.response_complete):
            seconds = f"{self.limits.header_timeout:g} s"
            message = f"the headers did not come within {seconds}."
            self.refuse(RequestError(408, "timeout", message, f"at most {seconds}"))
        else:
            self.end()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        if not self.transport.is_closing():
            self.all_of_them.note("not_http")
        self.refuse(RequestError(400, "not_http", msg, "HTTP/1.1"))

    def refuse(self, problem: RequestError) -> None:
        """Send a problem, and end the connection."""
        if self.transport.is_closing():
            return
        response = problem.response()
        headers = [*response.raw_headers, (b"connection", b"close")]
        lines = [STATUS_LINE[response.status_code], *(b"%s: %s\r\n" % header for header in headers), b"\r\n"]
        self.transport.write(b"".join([*lines, bytes(response.body)]))
        self.end()

    def end(self) -> None:
        """End the connection; what the client does not take in time is lost."""
        self.stop_waiting()
        self._unset_keepalive_if_required()
        if not self.transport.is_closing():
            self.call_off()
            self.transport.close()
            self.have_read()

    def call_off(self) -> None:
        """Tell what makes an answer that nobody will read it, which uvicorn tells only the last request of several."""
        self.pipeline.clear()
        if self.answering is not None and not self.answering.response_complete:
            self.answering.disconnected = True
            self.answering.message_event.set()

    def have_read(self) -> None:
        """Have the connection cut off where a client leaves what was sent to it for too long."""
        if self.must_read_by is None and self.transport.get_write_buffer_size():
            self.must_read_by = self.loop.call_later(self.limits.request_timeout, self.cut_off)

    def cut_off(self) -> None:
        """Drop the connection with all that was still to be sent."""
        self.all_of_them.note("too_slow")
        self.call_off()
        self.transport.abort()

    def stop_must_read(self) -> None:
        """Note that the client took what was sent."""
        if self.must_read_by is not None:
            self.must_read_by.cancel()
            self.must_read_by = None

    def pause_writing(self) -> None:
        """Wait until the client takes what was sent, but not for ever."""
        super().pause_writing()
        self.have_read()

    def resume_writing(self) -> None:
        """Go on."""
        self.stop_must_read()
        super().resume_writing()
        if self.transport.is_closing():
            self.have_read()

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """Answer a client that has said all it will say; end the connection of one that stopped halfway."""
        if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
            return None
        self.cycle.keep_alive = False
        return True
