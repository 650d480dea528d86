"""Build the ASGI application, and serve it until a signal comes."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from types import FrameType
from typing import NoReturn

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from hybriddup.errors import ConfigError
from hybriddup.service.gate import Gate
from hybriddup.service.limits import Limits
from hybriddup.service.openapi import openapi_schema
from hybriddup.service.problems import RequestError, problem_of
from hybriddup.service.routes import ROUTES
from hybriddup.service.service import Service
from hybriddup.window import WindowStats

LOG = logging.getLogger(__name__)


def create_app(
    service: Service,
    *,
    token: str | None = None,
    hosts: Iterable[str] = (),
    log: Callable[[str], None] | None = None,
    on_ready: Callable[[WindowStats], None] = lambda _: None,
    on_failure: Callable[[], None] = lambda: None,
) -> ASGIApp:
    """Return the application that serves a window.

    Parameters
    ----------
    token, hosts, log
        See `Gate`.
    on_ready
        Called with the window's counts once it is open and posts are accepted.
    on_failure
        Called if the window cannot be opened; ``service.failure`` is the exception.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.start(on_ready, on_failure)
        yield
        await service.close()

    async def answer_problem(request: Request, error: Exception) -> Response:
        service.metrics.refused.labels(error.error if isinstance(error, RequestError) else "http").inc()
        problem = problem_of(request, error)
        if problem.error == "unexpected":
            LOG.error("unexpected error in the service", exc_info=error)
        return problem.response()

    handlers = dict.fromkeys((RequestError, HTTPException, Exception), answer_problem)
    app = Starlette(routes=ROUTES, lifespan=lifespan, exception_handlers=handlers)
    app.router.redirect_slashes = False
    app.state.service = service
    app.state.openapi = openapi_schema(with_token=token is not None)
    return Gate(app, service, token, hosts, log)


class Server(uvicorn.Server):
    """A server that answers all accepted requests before it shuts down, but does not wait long for slow clients."""

    ended_by: int | None = None
    """Number of the signal that ended the server."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        config = uvicorn.Config(
            app,
            http="httptools",
            access_log=False,
            log_level="critical",  # clients' errors are counted, not logged; the application logs its own
            lifespan="on",
            server_header=False,
            ws="none",
            timeout_keep_alive=limits.keep_alive,
            timeout_graceful_shutdown=max(1, round(2 * limits.request_timeout)),
        )
        super().__init__(config)

    def end(self) -> None:
        """Begin to shut down."""
        self.should_exit = True

    def serve_on(self, opened: socket.socket) -> None:
        """Serve on a socket until `end` is called or a signal comes. Must be called in the main thread."""
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as under nohup
            signal.signal(signal.SIGHUP, self.handle_exit)
        self.run([opened])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  uvicorn's handler of signals
        """Begin to shut down; at a second Ctrl-C, end the process at once."""
        if self.should_exit and sig == signal.SIGINT:
            leave_at_once(128 + sig)
        self.ended_by = sig
        self.end()


def leave_at_once(code: int) -> NoReturn:
    """End the process without waiting for threads that load the window or decide.

    Nothing is lost: answered decisions are on disk, and a store survives the end of its process at any moment.
    """
    sys.stderr.flush()
    os._exit(code)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise ConfigError if the address is in use or does not belong to this machine."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # listen at once, so that a client that reads the printed address can connect
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=is_dual)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another --host or --port; "
            "--port 0 takes a free one."
        ) from None
