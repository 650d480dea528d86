"""Error answers of the service, which all have three fields: kind of error, message, and what is allowed."""

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
"""Maximum length of an error message, in characters, because it may quote the request."""


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return an answer in JSON, with a header that keeps browsers from guessing another type."""
    return Response(json_line(data), status, {"x-content-type-options": "nosniff", **(headers or {})}, MEDIA_TYPE)


class RequestError(Exception):
    """A refused request: HTTP status, kind of error, what happened, and what is allowed."""

    def __init__(self, status: int, error: str, message: str, allowed: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.error = error
        self.message = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 3]}..."
        self.allowed = allowed
        self.retry_after = retry_after

    def to_dict(self) -> dict[str, Any]:
        """Return the body of the error answer as plain data."""
        return {"error": self.error, "message": self.message, "allowed": self.allowed}

    def response(self) -> Response:
        """Return the error as an HTTP response."""
        headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["www-authenticate"] = "Bearer"
        if self.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = self.allowed
        return json_response(self.to_dict(), self.status, headers)


def not_ready(why: str) -> RequestError:
    """Return the error for requests while the window is not open or cannot be used, with the reason ``why``."""
    return RequestError(
        503, "not_ready", f"the window is not ready: {why}.", "send it again when /readyz answers 200", retry_after=1
    )


def no_post(post_id: PostId) -> RequestError:
    """Return the error for an id that no post of the window has."""
    message = f"there is no post with the id {quote(post_id)} within the horizon."
    return RequestError(404, "not_found", message, "ids of posts that were decided; ?type=int for numbers")


def could_not(error: HybriddupError, n_decided: int = 0) -> RequestError:
    """Map an error of the window to an error answer.

    The status is 422 for invalid posts, 501 for an unsupported operation, 507 for a full disk, else 503. ``n_decided``
    is the number of the request's posts that were decided before the error. The answer omits the message of a store,
    which may contain paths and server names.
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
    message = f"{what}; see the service's log.{before}"
    return RequestError(503, "window_failed", message, allowed, retry_after=1)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error was caused by a full disk."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return getattr(cause, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    return isinstance(cause, OSError) and cause.errno in {errno.ENOSPC, errno.EDQUOT}


def problem_of(request: Request, error: Exception) -> RequestError:
    """Map an exception to an error answer: 404 for an unknown path, 405 for a wrong method, 500 if unexpected."""
    path = quote(request.url.path)
    if isinstance(error, RequestError):
        return error
    if not isinstance(error, HTTPException):  # the traceback is in the log
        message = f"an unexpected {type(error).__name__}; see the service's log."
        return RequestError(500, "unexpected", message, "report it as a bug")
    if error.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
        return RequestError(error.status_code, "not_found", f"there is no resource at {path}.", "see /openapi.json")
    methods = (error.headers or {}).get("Allow", "another method")
    return RequestError(405, "method_not_allowed", f"{path} does not accept {quote(request.method)}.", methods)
