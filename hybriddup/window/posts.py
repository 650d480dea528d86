"""Posts as users send them: texts, mappings, or `Post` objects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hybriddup.errors import InputError
from hybriddup.steps.options import quote
from hybriddup.window.records import Post

MADE_ID = re.compile(r"#[0-9]+")
MOST_ID_BYTES = 512
"""Of an id in UTF-8: each answer about a post repeats its id, and that of the post that it repeats."""
FIRST_MOMENT, LAST_MOMENT = -62_135_596_800, 253_402_300_799
"""Seconds since 1970 of the first moment of the year 1, and of the last second of the year 9999."""
WANTED = "a post must be a text, or a mapping with 'text' and perhaps 'id' and 'created_at'"


def as_posts(posts: Sequence[str | Mapping[str, Any] | Post], *, timed: bool) -> list[Post]:
    """Return posts, checked.

    Parameters
    ----------
    timed
        Whether the window goes by event time; otherwise ``created_at`` may hold anything and is left out.

    Raises
    ------
    InputError
        Something is no post; the message says at which place.
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
    """Return a time in seconds since 1970, of a number or of ISO 8601 text; text without a zone is UTC."""
    if created_at is None:
        return None
    if isinstance(created_at, (int, float)) and not isinstance(created_at, bool):
        seconds: float | None = created_at
    else:
        seconds = seconds_of_text(created_at)
    if seconds is not None and FIRST_MOMENT <= seconds <= LAST_MOMENT:
        return float(seconds)
    raise InputError(
        f"post {place}: 'created_at' must be seconds since 1970 or a time such as '2026-11-21T12:00:00Z', of the years "
        f"1 to 9999; got {quote(created_at)}."
    )


def seconds_of_text(text: object) -> float | None:
    """Return the seconds since 1970 of ISO 8601 text; None where it is something else."""
    try:
        moment = datetime.fromisoformat(text)  # type: ignore[arg-type]
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
