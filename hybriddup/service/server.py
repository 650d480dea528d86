"""Running the service: the port, the signals, and the end."""

from __future__ import annotations

import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from hybriddup.errors import ConfigError
from hybriddup.service.connections import Connections

SWITCH_INTERVAL = 0.0005
"""Seconds after which the thread that decides gets the interpreter back from the event loop: with Python's own 5 ms,
requests that are refused take all the time."""


class Server:
    """A server that ends by itself when told to, once everything accepted is answered.

    Parameters
    ----------
    connections
        Whose limits hold; waiting for slow clients at the end is bounded.
    """

    def __init__(self, app: ASGIApp, connections: Connections) -> None:
        self.ended_by: int | None = None
        """The signal that ended it."""
        limits = connections.limits
        config = uvicorn.Config(
            app,
            http=connections.protocol(),
            access_log=False,
            log_level="critical",  # what clients do wrong is counted, not logged; the application logs its own errors
            lifespan="on",
            server_header=False,
            proxy_headers=False,
            ws="none",
            timeout_keep_alive=limits.keep_alive,
            timeout_graceful_shutdown=max(1, round(2 * limits.request_timeout)),
        )
        self.uvicorn = uvicorn.Server(config)

    def end(self) -> None:
        """Begin to drain."""
        self.uvicorn.should_exit = True

    def run(self, opened: socket.socket) -> None:
        """Serve at a socket until told to end; to be called in the main thread.

        The event loop runs in a thread of its own: uvicorn leaves the signals alone there.
        """
        numbers = signal.SIGINT, signal.SIGTERM
        before = {number: signal.signal(number, self._end_by) for number in numbers}
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        try:
            with ThreadPoolExecutor(1, "serving") as serving:
                serving.submit(self.uvicorn.run, [opened]).result()
        finally:
            sys.setswitchinterval(interval)
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end_by(self, number: int, _: FrameType | None) -> None:
        """Begin to drain; at a second Ctrl-C, leave."""
        if self.uvicorn.should_exit and number == signal.SIGINT:
            leave_at_once(128 + number)
        self.ended_by = number
        self.end()


def leave_at_once(code: int) -> NoReturn:
    """End the process without waiting for threads that load the window or decide.

    Nothing is lost: what was answered is on disk, and a store survives the end of its process at any moment.
    """
    sys.stderr.flush()
    os._exit(code)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; ConfigError where it is taken or not of this machine."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # it listens at once, so that whoever reads the address can connect
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=is_dual)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another --host or --port; "
            "--port 0 takes a free one."
        ) from None
