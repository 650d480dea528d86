"""The ASGI application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from hybriddup.service.connections import Connections
from hybriddup.service.gate import Gate
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
    connections: Connections | None = None,
    log: Callable[[str], None] | None = None,
    on_ready: Callable[[WindowStats], None] = lambda _: None,
    on_failure: Callable[[], None] = lambda: None,
) -> ASGIApp:
    """Return the application that serves a window.

    Parameters
    ----------
    token
        What clients must send; None = no token.
    hosts
        Names by which the service may be addressed; empty = any.
    connections
        Those of the server; None = another one serves.
    log
        Called with a line about each request.
    on_ready
        Called with its counts once the window is open and posts are taken.
    on_failure
        Called when the window cannot be opened; ``service.failure`` then says why.
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
    return Gate(app, service.metrics, service.room, token, hosts, connections, log)
