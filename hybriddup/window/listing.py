"""Listing the posts of a window, newest first: each call looks at so many at most, a few at a time."""

from __future__ import annotations

from collections.abc import Callable

from hybriddup.errors import InputError
from hybriddup.window.records import PostId, PostList, StoredPost

MOST_LOOKED_AT, LOOKED_AT_ONCE = 10_000, 256
"""Posts that one search looks at, and how many of them while no post is decided: for a millisecond or two."""


def list_posts(
    posts_before: Callable[[int | None, int], PostList],
    limit: int,
    after: int | None,
    text: str,
    of: PostId | None,
) -> PostList:
    """Return the posts that are wanted; parameters and errors are those of `hybriddup.Window.posts`.

    Parameters
    ----------
    posts_before
        Returns the posts at so many positions before one, newest first.
    """
    if limit < 1:
        raise InputError(f"limit must be at least 1; got {limit}.")
    wanted, n_left, found = text.casefold(), MOST_LOOKED_AT, list[StoredPost]()
    is_search = bool(wanted) or of is not None
    while n_left:
        n = min(n_left, LOOKED_AT_ONCE if is_search else limit - len(found))
        listed = posts_before(after, n)
        n_left, after = n_left - n, listed.after
        for post in listed.posts:
            if wanted in post.text.casefold() and (of is None or is_duplicate_of(post, of)):
                found.append(post)
                if len(found) == limit:
                    return PostList(found, post.position)
        if after is None:
            break
    return PostList(found, after)


def is_duplicate_of(post: StoredPost, post_id: PostId) -> bool:
    """Return whether a post is a duplicate of the post with an id."""
    return post.evidence is not None and (type(post.evidence.of), post.evidence.of) == (type(post_id), post_id)
