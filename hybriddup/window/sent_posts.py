"""Validates posts as they are sent: texts, mappings or `Post`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hybriddup.data.fields import MISSING, find_or, has_no_value, is_missing
from hybriddup.data.times import TIMES, parse_time
from hybriddup.errors import InputError
from hybriddup.steps.options import quote
from hybriddup.window.records import MADE_ID, MOST_ID_BYTES, Post, PostId

WANTED = "a post must be a text, or a mapping with 'text' and perhaps 'id' and 'created_at'"


def as_posts(posts: Sequence[str | Mapping[str, Any] | Post], *, timed: bool, authors: str | None = None) -> list[Post]:
    """Validate posts and return them; InputError, with the index in the list, if an item is not a valid post.

    ``timed``: whether ``created_at`` is read; otherwise it is ignored, valid or not. ``authors`` is the field with the
    author of a post; None = authors are not read.
    """
    if isinstance(posts, (str, bytes, Mapping, Post)) or not isinstance(posts, Iterable):
        raise InputError(f"posts must be a list of posts; got one {type(posts).__name__}. Use `add` for one post.")
    return [as_post(place, post, timed=timed, authors=authors) for place, post in enumerate(posts)]


def as_post(place: int, post: object, *, timed: bool = True, authors: str | None = None) -> Post:
    """Validate ``post`` and return it; InputError, with its index ``place`` in the list, if it is not a valid post."""
    if isinstance(post, str):
        return Post(post)
    text, post_id, created_at, author = post if isinstance(post, Post) else fields_of(place, post, authors)
    if not isinstance(text, str):
        given = "it has no 'text'" if text is MISSING else f"its 'text' is {quote(text)}"
        raise InputError(f"post {place}: {WANTED}; {given}.")
    time = checked_time(place, created_at) if timed else None
    return Post(text, checked_id(place, post_id), time, None if author is None else checked_author(place, author))


def fields_of(place: int, post: object, authors: str | None) -> tuple[object, object, object, object]:
    """Return text, id, time and author of a mapping; InputError for anything else.

    A null text counts as empty, as in a run.
    """
    if not isinstance(post, (dict, Mapping)):  # the check for dict is fast
        raise InputError(f"post {place}: {WANTED}; got {type(post).__name__}.")
    text = post.get("text", MISSING)
    if text is None or (not isinstance(text, str) and is_missing(text)):
        text = ""
    return text, post.get("id"), post.get("created_at"), None if authors is None else find_or(post, authors)


def checked_id(place: int, post_id: object) -> str | int | None:
    """Return ``post_id`` if it is None (the post has no id) or a valid id; otherwise, raise InputError.

    Valid ids are 64-bit integers, and texts of at most `MOST_ID_BYTES` bytes. Texts such as ``#17`` are not valid,
    because the window generates such ids.
    """
    if post_id is None:
        return None
    if isinstance(post_id, str):
        if post_id.startswith("#") and MADE_ID.fullmatch(post_id):
            raise InputError(
                f"post {place}: ids such as {post_id!r} are reserved for posts without an id. Put something before it."
            )
        n_bytes = len(post_id.encode("utf-8", "surrogatepass"))
        if n_bytes > MOST_ID_BYTES:
            raise InputError(
                f"post {place}: 'id' has {n_bytes:,} bytes, and {MOST_ID_BYTES} are allowed; got {quote(post_id)}."
            )
        return post_id
    if isinstance(post_id, int) and not isinstance(post_id, bool) and -(2**63) <= post_id < 2**63:
        return post_id
    raise InputError(f"post {place}: 'id' must be text or a whole number of 64 bits; got {quote(post_id)}.")


def checked_author(place: int, author: object) -> PostId | None:
    """Return an author, None if the value is missing or blank; InputError if it is not a valid id."""
    if has_no_value(author):
        return None
    if isinstance(author, str) and len(author.encode("utf-8", "surrogatepass")) <= MOST_ID_BYTES:
        return author
    if isinstance(author, int) and not isinstance(author, bool) and -(2**63) <= author < 2**63:
        return author
    raise InputError(
        f"post {place}: its author must be text of at most {MOST_ID_BYTES} bytes, or a whole number of 64 bits; got "
        f"{quote(author)}. Name the field with the author's id or name, such as user.id."
    )


def checked_time(place: int, created_at: object) -> float | None:
    """Convert a ``created_at`` to seconds since 1970, None if it is None; InputError if `parse_time` cannot read it."""
    if created_at is None:
        return None
    if (seconds := parse_time(created_at)) is not None:
        return seconds
    raise InputError(f"post {place}: 'created_at' must be {TIMES}; got {quote(created_at)}.")
