"""Running the service: the port, the signals, and the end."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

import uvicorn
from starlette.types import ASGIApp

from hybriddup.errors import ConfigError
from hybriddup.service.connections import Connections
from hybriddup.service.limits import Limits


class Server(uvicorn.Server):
    """A server that ends by itself when told to, once everything accepted is answered."""

    ended_by: int | None = None
    """The signal that ended it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Drain on the signals; unlike the base class, do not raise them again afterwards."""
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at a second Ctrl-C, leave."""
        if self.should_exit and sig == signal.SIGINT:
            leave_at_once(128 + sig)
        self.ended_by = sig
        super().handle_exit(sig, frame)


def leave_at_once(code: int) -> NoReturn:
    """End the process without waiting for threads that load the window or decide.

    Nothing is lost: what was answered is on disk, and a store survives the end of its process at any moment.
    """
    sys.stderr.flush()
    os._exit(code)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; ConfigError where it is taken or not of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(address)
            opened.listen()  # so that whoever reads the address can connect at once
        except OSError:
            opened.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another --host or --port; "
            "--port 0 takes a free one."
        ) from None
    return opened


def make_server(app: ASGIApp, limits: Limits, note: Callable[[str], None]) -> Server:
    """Return a server for an application; waiting for slow clients at the end is bounded.

    Parameters
    ----------
    note
        Called with the kind of error when a connection is refused or ended.
    """
    config = uvicorn.Config(
        app,
        http=Connections(limits, note).protocol(),
        access_log=False,
        log_level="error",  # what clients do wrong is counted: whoever may connect could fill the log
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_keep_alive=limits.keep_alive,
        timeout_graceful_shutdown=max(1, round(2 * limits.request_timeout)),
    )
    return Server(config)
