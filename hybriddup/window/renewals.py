"""Renewals: with ``renew``, a copy makes the kept post match for another horizon.

The memory of a window and the ids of its store are forgotten from the oldest position on. So a kept post that is
renewed is stored again at a new position, with the copy's time and in the copy's transaction. Both positions belong to
one post. At the earlier position, the post matches until it is too old, as if it had not been renewed. A copy renews a
post if it comes at least a sixteenth of a horizon after the last renewal, so that a text that comes all the time is
stored again at most 16 times per horizon.

Renewed posts are stored again after the batch that contains the copies. A batch is split if a renewal could change
whether a later post of the batch is kept. If a text matches two kept posts, it is a duplicate of one of them; which one
can depend on how posts are batched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from hybriddup.data.records import Float64s, Int64s
from hybriddup.window.records import StoredPost

STEPS = 16
"""Maximum number of times that a post is renewed per horizon."""


class Renewals:
    """Maps each position of a renewed post to its previous position, and back."""

    def __init__(self, pairs: Iterable[tuple[int, int]] = ()) -> None:
        self._newer: dict[int, int] = {}
        self._older: dict[int, int] = {}
        """Maps each new position of a renewed post to the previous one, in ascending order of the new position."""
        self.add(pairs)

    def add(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Add pairs of the new and the previous position of a renewed post, in ascending order of the new position."""
        for position, before in pairs:
            self._newer[before], self._older[position] = position, before

    def newest(self, position: int) -> int:
        """Return the latest position of the post that is, or was, stored at a position."""
        while (newer := self._newer.get(position)) is not None:
            position = newer
        return position

    def all_of(self, position: int) -> list[int]:
        """Return all positions of a post, oldest first, given its latest position."""
        positions = [position]
        while (before := self._older.get(positions[-1])) is not None:
            positions.append(before)
        return positions[::-1]

    def is_old(self, position: int) -> bool:
        """Return whether the post at a position was stored again later."""
        return position in self._newer

    def old(self) -> Int64s:
        """Return int64[n]: the positions of posts that were stored again later."""
        return np.fromiter(self._newer, np.int64, len(self._newer))

    def forget_before(self, first: int) -> None:
        """Forget the renewals whose new position is before ``first``."""
        while self._older and (position := next(iter(self._older))) < first:
            del self._newer[self._older.pop(position)]


def renewing_copies(
    repeated: Mapping[int, int], kept_at: Mapping[int, float], times: Float64s, edges: Float64s, horizon: float
) -> tuple[dict[int, int], int]:
    """Find the copies of a batch that renew posts, and how many posts at its start do not depend on the renewals.

    A renewed post is stored again at a new position, so that it has several positions; here, the latest one is used.

    Parameters
    ----------
    repeated
        Map from the index of each copy in the batch to the latest position of the post that it repeats.
    kept_at
        Map from these positions to the times of the posts, in seconds since 1970.
    times, edges
        float64[n]: the time of each post of the batch, and the time after which kept posts match it.
    horizon
        Seconds for which a kept post matches; a copy renews it only after 1 / `STEPS` of this time.

    Returns
    -------
    tuple
        A map from the latest position of each renewed post to the index of the last copy that renews it; and the
        number of posts at the start of the batch whose decisions do not depend on these renewals.
    """
    renewing, reached, end = dict[int, int](), dict(kept_at), len(times)
    for place in sorted(repeated):
        of, time = repeated[place], float(times[place])
        if time < reached[of] + horizon / STEPS:
            continue
        too_late = np.flatnonzero(edges[place + 1 :] >= reached[of])
        end = min(end, place + 1 + int(too_late[0])) if len(too_late) else end
        renewing[of], reached[of] = place, time
    return renewing, end


def renewed_posts(
    renewing: Mapping[int, int], posts: Sequence[StoredPost], keepers: Iterable[StoredPost], repeated: Mapping[int, int]
) -> list[StoredPost]:
    """Return the renewed posts, to be stored again after a batch, with the copies in the batch counted.

    ``renewing`` is the map that `renewing_copies` returned. ``posts`` is the batch, and ``keepers`` are the stored
    posts that it repeats. ``repeated`` is as in `renewing_copies`, but empty if copies are not counted.
    """
    if not renewing:
        return []
    first = posts[0].position
    by_position = {post.position: post for post in (*keepers, *posts)}
    copies_of: dict[int, list[StoredPost]] = {}
    for place, of in repeated.items():
        copies_of.setdefault(of, []).append(posts[place])
    return [
        (by_position[of].with_copies(copies_of[of]) if copies_of else by_position[of])._replace(
            position=first + len(posts) + n, time=posts[place].time
        )
        for n, (of, place) in enumerate(sorted(renewing.items()))
    ]
