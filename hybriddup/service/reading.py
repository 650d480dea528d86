"""Reading the bodies of requests within the limits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from starlette.requests import ClientDisconnect, Request

from hybriddup.errors import InputError
from hybriddup.files.jsonl import Broken, parse_line
from hybriddup.service.body_room import BodyRoom
from hybriddup.service.json import MEDIA_TYPE
from hybriddup.service.limits import Limits
from hybriddup.service.problems import RequestError
from hybriddup.window import Post
from hybriddup.window.event_time import TimeOf, event_time
from hybriddup.window.posts import as_post

POST_SHAPE = 'an object with "text", and perhaps "id" and "created_at"; see /openapi.json'


async def read_json(request: Request, limits: Limits, room: BodyRoom) -> Any:
    """Return the JSON of a body.

    Raises
    ------
    RequestError
        It is not declared as JSON, is no JSON, too large, too slow to come, or there is no room for it now.
    """
    # browsers send other types from any site without asking; this one they only send from the page of the service
    if (given := request.headers.get("content-type", "none").partition(";")[0].strip().lower()) != MEDIA_TYPE:
        raise RequestError(415, "not_json", f"the Content-Type is {given}.", f"Content-Type: {MEDIA_TYPE}")
    try:
        async with asyncio.timeout(limits.request_timeout):
            body = await read_body(request, limits.max_body_bytes, room)
    except TimeoutError:
        seconds = f"{limits.request_timeout:g} s"
        raise RequestError(408, "timeout", f"the body did not come within {seconds}.", f"at most {seconds}") from None
    parsed = parse_line(body)
    if isinstance(parsed, Broken):
        raise RequestError(400, "not_json", f"the body is {parsed}.", "JSON in UTF-8")
    return parsed


async def read_body(request: Request, limit: int, room: BodyRoom) -> bytes:
    """Return a body, of which no more than the limit is ever held, nor more than there is room for."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise too_large(limit)
    parts, n_bytes = [], 0
    try:
        async for part in request.stream():
            parts.append(part)
            n_bytes += len(part)
            if n_bytes > limit:
                raise too_large(limit)
            room.take(request.scope, len(part))
    except ClientDisconnect:
        raise RequestError(
            400, "disconnected", "the client went away before the body was there.", "a whole body"
        ) from None
    return b"".join(parts)


def too_large(limit: int) -> RequestError:
    """Return the problem of a body that is too large."""
    return RequestError(413, "body_too_large", f"the body has more than {limit:,} bytes.", f"at most {limit:,} bytes")


def posts_of(body: Any, limits: Limits, time_of: TimeOf) -> list[Post]:
    """Return the posts of a body, one or an array of them; RequestError where something is not allowed.

    By arrival time, what posts say of their time is not looked at, in whatever form it is.
    """
    given: Sequence[Any] = body if isinstance(body, list) else [body]
    if not 1 <= len(given) <= limits.max_posts:
        status = 413 if given else 422
        message = f"the request has {len(given):,} posts."
        raise RequestError(status, "wrong_number_of_posts", message, f"1 to {limits.max_posts:,} posts a request")
    return [post_of(place, one, limits, time_of) for place, one in enumerate(given)]


def post_of(place: int, given: Any, limits: Limits, time_of: TimeOf) -> Post:
    """Return one post, checked."""
    if not isinstance(given, dict):
        raise RequestError(422, "invalid_post", f"post {place}: not an object.", POST_SHAPE)
    try:
        post = as_post(place, given if time_of == "event" else given | {"created_at": None})
        if time_of == "event":
            event_time(place, post)  # before any post of the request is decided
    except InputError as error:
        raise RequestError(422, "invalid_post", str(error), POST_SHAPE) from None
    check_length(post.text, limits, f"post {place}: the text")
    return post


def check_length(text: str, limits: Limits, what: str) -> None:
    """Raise RequestError where a text is too long."""
    if len(text) > limits.max_text_length:
        allowed = f"at most {limits.max_text_length:,} characters"
        raise RequestError(422, "text_too_long", f"{what} has {len(text):,} characters.", allowed)


def text_of(body: Any, limits: Limits) -> str:
    """Return the text of a body that is to be looked for."""
    text = body.get("text") if isinstance(body, dict) else None
    if not isinstance(text, str):
        raise RequestError(422, "invalid_request", "there is no text.", 'an object with "text"; see /openapi.json')
    check_length(text, limits, "the text")
    return text


def whole_number(body: dict[str, Any], key: str, default: int, largest: int) -> int:
    """Return a whole number of a body from 1 to a largest one."""
    value = body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= largest:
        raise RequestError(
            422, "invalid_request", f"{key!r} is {value!r}.", f"{key!r}: a whole number from 1 to {largest}"
        )
    return value
