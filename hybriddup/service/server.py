"""Running the service: the port, the signals, and the end."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from hybriddup.errors import ConfigError


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
        """Begin to drain."""
        self.ended_by = sig
        super().handle_exit(sig, frame)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; ConfigError where it is taken or not of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(address)
        except OSError:
            opened.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another --host or --port; "
            "--port 0 takes a free one."
        ) from None
    return opened


def make_server(app: ASGIApp, drain_seconds: float) -> Server:
    """Return a server for an application; waiting for slow clients at the end is bounded."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=max(1, round(drain_seconds)),
    )
    return Server(config)
