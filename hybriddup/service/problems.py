"""Errors as the service answers them: one shape, with what is allowed."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from hybriddup.errors import HybriddupError, InputError, StoreError, UnsupportedError
from hybriddup.files.tables import json_line
from hybriddup.steps.options import quote
from hybriddup.window.records import PostId

MEDIA_TYPE = "application/json"
LONGEST_MESSAGE = 1000
"""Characters of a message, whatever of the request it repeats."""


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON, which browsers take for nothing else."""
    return Response(json_line(data), status, {"x-content-type-options": "nosniff", **(headers or {})}, MEDIA_TYPE)


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
        if self.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = self.allowed
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


def no_post(post_id: PostId) -> RequestError:
    """Return the problem of an id that no post within the horizon has."""
    message = f"there is no post with the id {quote(post_id)} within the horizon."
    return RequestError(404, "not_found", message, "ids of posts that were decided; ?type=int for numbers")


def could_not(error: HybriddupError, n_decided: int = 0) -> RequestError:
    """Return the problem of posts that are not allowed, or of a window that cannot do what is asked.

    Of the request, ``n_decided`` posts were decided before. An error that is not about the request may name paths and
    servers, so only the log of the service has it.
    """
    if isinstance(error, InputError):
        return RequestError(422, "invalid_post", str(error), "see the message and /openapi.json")
    if isinstance(error, UnsupportedError):
        return RequestError(501, "not_supported", str(error), "see the message")
    before = f" The first {n_decided:,} posts of the request were decided." if n_decided else ""
    allowed = "send it again, later" + (" with the same ids" if n_decided else "")
    if is_disk_full(error):
        return RequestError(507, "disk_full", f"the disk of the store is full.{before}", allowed, retry_after=5)
    what = "the store could not be read or written" if isinstance(error, StoreError) else "the window failed"
    message = f"{what}; the service's log says why.{before}"
    return RequestError(503, "window_failed", message, allowed, retry_after=1)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error was caused by a disk without room."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    return isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}


def problem_of(request: Request, error: Exception) -> RequestError:
    """Return an error as a problem: an address or a method that there is not, or one that nobody foresaw."""
    path = quote(request.url.path)
    if isinstance(error, RequestError):
        return error
    if not isinstance(error, HTTPException):  # its particulars are in the log
        message = f"an unexpected {type(error).__name__}; the service's log has more."
        return RequestError(500, "unexpected", message, "report it as a bug")
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return RequestError(error.status_code, "not_found", f"there is nothing at {path}.", "see /openapi.json")
    methods = (error.headers or {}).get("Allow", "another method")
    return RequestError(405, "method_not_allowed", f"{quote(request.method)} is not for {path}.", methods)
