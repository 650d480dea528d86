"""Posts as users send them: texts, mappings, or `Post` objects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hybriddup.data.times import TIMES, parse_time
from hybriddup.errors import InputError
from hybriddup.steps.options import quote
from hybriddup.window.records import Post

MADE_ID = re.compile(r"#[0-9]+")
MOST_ID_BYTES = 512
"""Of an id in UTF-8: each answer about a post repeats its id, and that of the post that it repeats."""
WANTED = "a post must be a text, or a mapping with 'text' and perhaps 'id' and 'created_at'"


def as_posts(posts: Sequence[str | Mapping[str, Any] | Post], *, timed: bool) -> list[Post]:
    """Return posts, checked; InputError where something is none, which says at which place.

    Where a window does not go by event time, ``timed``, ``created_at`` may hold anything and is left out.
    """
    if isinstance(posts, (str, bytes, Mapping)):
        raise InputError(f"posts must be a list of posts; got one {type(posts).__name__}. Use `add` for one post.")
    return [as_post(place, post, timed=timed) for place, post in enumerate(posts)]


def as_post(place: int, post: object, *, timed: bool = True) -> Post:
    """Return one post, checked; see `as_posts`."""
    if isinstance(post, str):
        return Post(post)
    text, post_id, created_at = post if isinstance(post, Post) else fields_of(place, post)
    if not isinstance(text, str):
        raise InputError(f"post {place}: {WANTED}; its 'text' is {type(text).__name__}.")
    return Post(text, checked_id(place, post_id), seconds_of(place, created_at) if timed else None)


def fields_of(place: int, post: object) -> tuple[object, object, object]:
    """Return the fields of a mapping; InputError where it is none."""
    if not isinstance(post, (dict, Mapping)):  # a dictionary is told at once
        raise InputError(f"post {place}: {WANTED}; got {type(post).__name__}.")
    return post.get("text"), post.get("id"), post.get("created_at")


def made_id(position: int) -> str:
    """Return the id of a post that came without one."""
    return f"#{position}"


def checked_id(place: int, post_id: object) -> str | int | None:
    """Return an id; InputError where it is neither text nor a whole number of 64 bits, or could be a made one."""
    if post_id is None:
        return None
    if isinstance(post_id, str):
        if post_id.startswith("#") and MADE_ID.fullmatch(post_id):
            raise InputError(
                f"post {place}: ids such as {post_id!r} are those of posts that came without one. "
                "Put something before it."
            )
        n_bytes = len(post_id.encode("utf-8", "surrogatepass"))
        if n_bytes > MOST_ID_BYTES:
            raise InputError(
                f"post {place}: 'id' has {n_bytes:,} bytes, and {MOST_ID_BYTES} are the most; got {quote(post_id)}."
            )
        return post_id
    if isinstance(post_id, int) and not isinstance(post_id, bool) and -(2**63) <= post_id < 2**63:
        return post_id
    raise InputError(f"post {place}: 'id' must be text or a whole number of 64 bits; got {quote(post_id)}.")


def seconds_of(place: int, created_at: object) -> float | None:
    """Return a time in seconds since 1970, as `parse_time` reads it; None where there is none."""
    if created_at is None:
        return None
    if (seconds := parse_time(created_at)) is not None:
        return seconds
    raise InputError(f"post {place}: 'created_at' must be {TIMES}; got {quote(created_at)}.")
