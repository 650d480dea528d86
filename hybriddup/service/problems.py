"""Errors as the service answers them: one shape, with what is allowed."""

from __future__ import annotations

import errno
import sqlite3
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from hybriddup.errors import HybriddupError, InputError
from hybriddup.service.json import json_response
from hybriddup.steps.options import quote

LONGEST_MESSAGE = 1000
"""Characters of a message, whatever of the request it repeats."""


class RequestError(Exception):
    """A request that is not done: the status, the kind of error, what happened, and what is allowed."""

    def __init__(self, status: int, error: str, message: str, allowed: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 3]}..."
        self.allowed = allowed
        self.retry_after = retry_after

    def to_dict(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": self.error, "message": self.message, "allowed": self.allowed}

    def response(self) -> Response:
        """Return the answer."""
        headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        return json_response(self.to_dict(), self.status, headers)

    def as_http(self) -> bytes:
        """Return the answer as it is sent where no request could be made, before the connection is closed."""
        response = self.response()
        headers = [*response.raw_headers, (b"connection", b"close")]
        lines = [b"HTTP/1.1 %d %s" % (self.status, HTTPStatus(self.status).phrase.encode())]
        return b"\r\n".join([*lines, *(b"%s: %s" % header for header in headers), b"", bytes(response.body)])


def not_ready(why: str) -> RequestError:
    """Return the problem of a service whose window is not open (yet)."""
    return RequestError(
        503, "not_ready", f"the window is not ready: {why}.", "send it again when /readyz answers 200", retry_after=1
    )


def could_not(error: HybriddupError, n_decided: int = 0) -> RequestError:
    """Return the problem of posts that are not allowed, or of a window that cannot do what is asked.

    Parameters
    ----------
    n_decided
        Posts of the request that were decided before.
    """
    if isinstance(error, InputError):
        return RequestError(422, "invalid_post", str(error), "see the message and /openapi.json")
    before = f" The first {n_decided:,} posts of the request were decided." if n_decided else ""
    allowed = "send it again, later" + (" with the same ids" if n_decided else "")
    if is_disk_full(error):
        return RequestError(507, "disk_full", f"{error}{before}", allowed, retry_after=5)
    return RequestError(503, "window_failed", f"{error}{before}", allowed, retry_after=1)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error was caused by a disk without room."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    return isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}


async def answer_problem(_: Request, error: Exception) -> Response:
    """Return the answer to a `RequestError`."""
    assert isinstance(error, RequestError)  # noqa: S101  it is registered for nothing else
    return error.response()


async def answer_http_error(request: Request, error: Exception) -> Response:
    """Return the answer to an address or a method that there is not, in the same shape."""
    assert isinstance(error, HTTPException)  # noqa: S101  it is registered for nothing else
    path = request.url.path
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        methods = (error.headers or {}).get("Allow", "another method")
        response = RequestError(
            405, "method_not_allowed", f"{quote(request.method)} is not for {quote(path)}.", methods
        ).response()
        response.headers["allow"] = methods
        return response
    return RequestError(
        error.status_code, "not_found", f"there is nothing at {quote(path)}.", "see /openapi.json"
    ).response()


async def answer_unexpected(_: Request, error: Exception) -> Response:
    """Return the answer to an error that nobody foresaw, without its particulars, which are in the log."""
    kind = type(error).__name__
    return RequestError(
        500, "unexpected", f"an unexpected {kind}; the service's log has more.", "report it as a bug"
    ).response()
