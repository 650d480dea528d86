"""Posts that came together as one JSON text, which SQLite holds as one row, and back.

A post is an array: its id, time, text, the normalized text (null = as it was sent), and its evidence, an array of the
fields of `Evidence` (null = the post was kept). So people can read them, with SQLite's own functions too, but for
surrogates and what follows a NUL.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from hybriddup.window.records import Evidence, PostId, StoredPost


class UnpackError(ValueError):
    """These are not bytes that `pack_posts` returned."""


def pack_posts(posts: Sequence[StoredPost]) -> bytes:
    """Return the JSON of some posts, without their positions."""
    fields = [post[1:] if post.evidence is None else (*post[1:-1], tuple(post.evidence)) for post in posts]
    try:
        return orjson.dumps(fields)
    except TypeError:  # surrogates, which stay as they are, and whole numbers beyond 64 bits
        return json.dumps(list(map(_with_wide_ids, fields)), ensure_ascii=False, allow_nan=False).encode(
            "utf-8", "surrogatepass"
        )


def unpack_posts(first_position: int, n_posts: int, packed: bytes) -> list[StoredPost]:
    """Return the posts that were packed, the first of which is at this position.

    Raises
    ------
    UnpackError
        They are not so many, or the bytes are others.
    """
    try:
        fields = _loads(packed)
        posts = [_read_post(position, *each) for position, each in enumerate(fields, first_position)]
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise UnpackError(f"no posts: {packed!r:.80}") from error
    if len(posts) != n_posts:
        raise UnpackError(f"{len(posts)} posts instead of {n_posts}: {packed!r:.80}")
    return posts


def _with_wide_ids(fields: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the fields of a post, with ids beyond 64 bits, which orjson reads as fractions, as digits in an array."""
    post_id, time, text, normalized, evidence = fields
    return _wide(post_id), time, text, normalized, evidence and (_wide(evidence[0]), *evidence[1:])


def _wide(post_id: PostId) -> PostId | list[str]:
    is_wide = isinstance(post_id, int) and not -(2**63) <= post_id < 2**63
    return [str(post_id)] if is_wide else post_id


def _loads(packed: bytes) -> Any:
    try:
        return orjson.loads(packed)
    except ValueError:  # surrogates
        return json.loads(packed.decode("utf-8", "surrogatepass"))


def _read_post(
    position: int,
    post_id: PostId | list[str],
    time: float,
    text: str,
    normalized: str | None,
    evidence: list[Any] | None,
) -> StoredPost:
    if not isinstance(text, str) or not isinstance(normalized, str | None):
        raise TypeError("a text is none")
    read = None if evidence is None else _read_evidence(*evidence)
    return StoredPost(position, _read_id(post_id), time, text, normalized, read)


def _read_id(packed: PostId | list[str]) -> PostId:
    return int(packed[0]) if isinstance(packed, list) else packed


def _read_evidence(of: PostId | list[str], *others: Any) -> Evidence:
    return Evidence(_read_id(of), *others)
