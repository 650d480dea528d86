"""Read and parse the bodies of requests, within limits of size, memory and time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import thread_time
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from hybriddup.errors import InputError
from hybriddup.files.jsonl import parse_line
from hybriddup.files.text import Broken
from hybriddup.service.limits import LARGE_BODY, MAX_BYTES_OF_BODIES, Limits
from hybriddup.service.problems import MEDIA_TYPE, RequestError
from hybriddup.steps.options import quote
from hybriddup.window import Post
from hybriddup.window.event_time import TimeOf, event_time
from hybriddup.window.sent_posts import as_post

T = TypeVar("T")
KEY = "hybriddup.body_bytes"
"""Key in a request's scope for the number of bytes of its body that are in memory."""
POST_SHAPE = 'an object with "text", and perhaps "id" and "created_at"; see /openapi.json'
REST = 4
"""Pause between parsing two large bodies, as a multiple of the time to parse the first. Parsing holds the interpreter
lock, so the pause lets other threads run."""


class BodyRoom:
    """Memory budget of ``most`` bytes for the bodies of unanswered requests; a single body may exceed it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    def take(self, scope: Scope, n_bytes: int) -> None:
        """Reserve ``n_bytes`` more bytes for a request; raise RequestError if they exceed the budget."""
        own = scope.get(KEY, 0)
        if self.held + n_bytes > self.most and self.held > own:
            message = f"the bodies of other requests take {self.held - own:,} bytes."
            allowed = f"at most {self.most:,} bytes in all bodies together; send it again, later"
            raise RequestError(503, "too_many_bytes", message, allowed, retry_after=1)
        self.held += n_bytes
        scope[KEY] = own + n_bytes

    def release(self, scope: Scope) -> None:
        """Return the reserved bytes of a request to the budget; called when the request has been answered."""
        self.held -= scope.pop(KEY, 0)


class Reader:
    """Reads request bodies within a memory budget; large bodies are parsed one at a time."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.room = BodyRoom(max(MAX_BYTES_OF_BODIES, limits.max_body_bytes))
        self.parsing_large = asyncio.Semaphore(1)

    async def read(self, request: Request, make: Callable[[Any], T]) -> T:
        """Read a body, parse it as JSON, and return the result of ``make``, which is called with the parsed body.

        Raises RequestError if the Content-Type is not JSON, if the body is invalid, too large or too slow, if the
        memory budget is exceeded, or if ``make`` raises a RequestError.
        """
        # against cross-site requests: browsers send other types for any site, but JSON only for the service's own pages
        given = request.headers.get("content-type", "none").partition(";")[0].strip().lower()
        if given != MEDIA_TYPE:
            raise RequestError(415, "not_json", f"the Content-Type is {quote(given)}.", f"Content-Type: {MEDIA_TYPE}")
        body = await self._body_in_time(request)
        if len(body) <= LARGE_BODY:
            return make(parse(body))
        return await self._parse_in_thread(lambda: make(parse(body)))

    async def _body_in_time(self, request: Request) -> bytes:
        seconds = f"{self.limits.request_timeout:g} s"
        try:
            async with asyncio.timeout(self.limits.request_timeout):
                return await self._body(request)
        except TimeoutError:
            message = f"the body did not come within {seconds}."
            raise RequestError(408, "timeout", message, f"at most {seconds}") from None
        except ClientDisconnect:
            message = "the client disconnected before the body was complete."
            raise RequestError(400, "disconnected", message, "a complete body") from None

    async def _body(self, request: Request) -> bytes:
        """Return a body; raise RequestError as soon as it exceeds the size limit or the memory budget."""
        limit = self.limits.max_body_bytes
        parts, n_bytes = [], declared_bytes(request) or 0
        allowed = f"at most {limit:,} bytes"
        if n_bytes <= limit:
            n_bytes = 0
            async for part in request.stream():
                parts.append(part)
                n_bytes += len(part)
                if n_bytes > limit:
                    break
                self.room.take(request.scope, len(part))
        if n_bytes > limit:
            raise RequestError(413, "body_too_large", f"the body has more than {limit:,} bytes.", allowed)
        return b"".join(parts)

    async def _parse_in_thread(self, parse_all: Callable[[], T]) -> T:
        """Parse a large body in a thread, one at a time."""
        timeout = self.limits.request_timeout
        try:
            await asyncio.wait_for(self.parsing_large.acquire(), timeout)
        except TimeoutError:
            message = f"other large bodies were parsed for {timeout:g} s."
            allowed = f"bodies of at most {LARGE_BODY:,} bytes do not wait; or send it again, later"
            raise RequestError(503, "too_many_large_bodies", message, allowed, retry_after=1) from None
        spent = 0.0

        def timed() -> T:
            nonlocal spent
            began = thread_time()
            try:
                return parse_all()
            finally:
                spent = thread_time() - began

        try:
            return await asyncio.to_thread(timed)
        except RequestError as problem:
            raise problem.with_traceback(None) from None  # the frames would keep the parsed body in memory
        finally:
            asyncio.get_running_loop().call_later(REST * spent, self.parsing_large.release)


def declared_bytes(request: Request) -> int | None:
    """Return the Content-Length of a request in bytes; None if it is missing or invalid."""
    declared = request.headers.get("content-length", "")
    return int(declared) if declared.isdecimal() and len(declared) < 20 else None


def parse(body: bytes) -> Any:
    """Parse a body as JSON; raise RequestError if it is invalid."""
    parsed = parse_line(body)
    if isinstance(parsed, Broken):
        raise RequestError(400, "not_json", f"the body is {parsed}.", "JSON in UTF-8")
    return parsed


def posts_of(body: Any, limits: Limits, time_of: TimeOf, authors: str | None = None) -> list[Post]:
    """Validate the post or array of posts in a body, and return the posts; raise RequestError if anything is invalid.

    If ``time_of`` is ``arrival``, the field ``created_at`` is ignored, even if it is invalid. ``authors`` is the name
    of the field with the author of a post; None = authors are not read.
    """
    given = body if isinstance(body, list) else [body]
    if not 1 <= len(given) <= limits.max_posts:
        status = 413 if given else 422
        message = f"the request has {len(given):,} posts."
        raise RequestError(status, "wrong_number_of_posts", message, f"1 to {limits.max_posts:,} posts a request")
    return [post_of(place, one, limits, time_of, authors) for place, one in enumerate(given)]


def post_of(place: int, given: Any, limits: Limits, time_of: TimeOf, authors: str | None) -> Post:
    """Validate one post and return it; raise RequestError if it is invalid or too long.

    ``place`` is the index of the post in the request, for the message.
    """
    if not isinstance(given, dict):
        raise RequestError(422, "invalid_post", f"post {place}: not an object.", POST_SHAPE)
    if given.get("text", "") is None:  # a window would take null for an empty text, as runs over files have to
        raise RequestError(422, "invalid_post", f"post {place}: its 'text' is null.", POST_SHAPE)
    try:
        post = as_post(place, given, timed=time_of == "event", authors=authors)
        if time_of == "event":
            event_time(place, post)  # fail before any post of the request is decided
    except InputError as error:
        raise RequestError(422, "invalid_post", str(error), POST_SHAPE) from None
    check_length(post.text, limits, f"post {place}: the text")
    return post


def check_length(text: str, limits: Limits, what: str = "the text") -> None:
    """Raise RequestError if a text is too long; ``what`` names the text in the message."""
    if len(text) > limits.max_text_length:
        allowed = f"at most {limits.max_text_length:,} characters"
        raise RequestError(422, "text_too_long", f"{what} has {len(text):,} characters.", allowed)
