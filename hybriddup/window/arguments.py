"""Validates the arguments of window methods. An `InputError` names the given value and the allowed values."""

from __future__ import annotations

from numbers import Integral

from hybriddup.errors import InputError
from hybriddup.steps.options import quote
from hybriddup.window.records import PostId


def checked_text(text: object) -> str:
    """Return ``text``; InputError if it is not a string."""
    if not isinstance(text, str):
        raise InputError(f"text must be a text; got {quote(text)}.")
    return text


def checked_limit(limit: object, at_least: int) -> int:
    """Return a limit as an int; InputError if it is not a whole number of at least ``at_least``."""
    number = whole_number(limit)
    if number is None or number < at_least:
        raise InputError(f"limit must be a whole number of at least {at_least}; got {quote(limit)}.")
    return number


def checked_after(after: object) -> int | None:
    """Return ``after`` as an int or None; InputError if it is neither None nor a whole number.

    Lists run from the newest post to the oldest: ``after`` is the position after which a list continues, and all of its
    posts have smaller positions. None = from the newest post.
    """
    number = whole_number(after)
    if number is None and after is not None:
        raise InputError(f"after must be a position, such as `PostList.after`, or None; got {quote(after)}.")
    return number


def checked_post_id(post_id: object) -> PostId:
    """Return ``post_id``, even if no post has this id; InputError if it is neither a text nor a whole number."""
    if isinstance(post_id, str):
        return post_id
    number = whole_number(post_id)
    if number is None:
        raise InputError(f"an id is a text or a whole number; got {quote(post_id)}.")
    return number


def whole_number(value: object) -> int | None:
    """Return an integer of Python or NumPy as an int; None if it is something else."""
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
