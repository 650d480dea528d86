"""Recent decisions for the web page: counts over time, the latest posts, and pairs of posts to judge."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Any, Literal, get_args

import numpy as np

from hybriddup.data.removed import EQUAL
from hybriddup.service.limits import MOST_LATEST
from hybriddup.study.label_choice import Chooser, ScoredCandidates
from hybriddup.window import Decision, Match, StoredPost, Window
from hybriddup.window.records import PostId

Outcome = Literal["kept", "near", "exact"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LONGEST_TO_JUDGE = 1000
"""Maximum length of a post in a pair to judge, in characters."""
MOST_MATCHES = 4
"""Number of matches to fetch for a post: enough that usually one is neither the post itself nor an exact duplicate."""


@dataclass
class Slot:
    """Counts of the new decisions in one time slot, a period of `History.seconds_a_slot` seconds."""

    start: int
    """Start of the slot, in seconds since 1970."""
    kept: int = 0
    exact: int = 0
    near: int = 0


@dataclass
class History:
    """Counts of new decisions in the last half hour, by time slot; empty slots and repeated ids are left out."""

    seconds_a_slot: int = 10
    n_slots: int = 180
    slots: list[Slot] = field(default_factory=list)
    """The time slots with new decisions, oldest first."""

    def add(self, decisions: Sequence[Decision]) -> None:
        """Count decisions that were just made."""
        slot = self._current()
        for one in decisions:
            if one.repeated:
                continue
            outcome = one.evidence.reason if one.evidence else "kept"
            setattr(slot, outcome, getattr(slot, outcome) + 1)

    def _current(self) -> Slot:
        """Return the slot for the current time, a new one if necessary; the newest slot if the clock was set back."""
        start = int(time()) // self.seconds_a_slot * self.seconds_a_slot
        if not self.slots or self.slots[-1].start < start:
            self.slots.append(Slot(start))
            self.forget()
        return self.slots[-1]

    def forget(self) -> None:
        """Remove the slots that are older than the last half hour."""
        oldest = int(time()) - self.n_slots * self.seconds_a_slot
        self.slots = [slot for slot in self.slots if slot.start > oldest]


class Latest:
    """Ids and positions (running numbers) of the posts that were decided last, by outcome. Not thread-safe."""

    def __init__(self) -> None:
        self._ids = {outcome: deque[tuple[int, PostId]](maxlen=MOST_LATEST) for outcome in OUTCOMES}

    def add(self, decisions: Sequence[Decision]) -> None:
        """Store the positions and ids of decided posts; skip repeated ids."""
        for one in decisions[-MOST_LATEST:]:
            if not one.repeated:
                self._ids[one.evidence.reason if one.evidence else "kept"].append((one.position, one.id))

    def newest(self, limit: int, outcome: Outcome | None = None) -> list[tuple[int, PostId]]:
        """Return positions and ids of the ``limit`` latest posts with this outcome, None = any; newest first."""
        wanted = OUTCOMES if outcome is None else (outcome,)
        return sorted((one for name in wanted for one in self._ids[name]), key=lambda one: one[0], reverse=True)[:limit]


def still_there(window: Window, posts: Sequence[tuple[int, PostId]]) -> Iterator[StoredPost]:
    """Yield the posts that are still in the window; skip an id that now belongs to another post."""
    for position, post_id in posts:
        post = window.get(post_id)
        if post is not None and post.position == position:
            yield post


def with_keeper(window: Window, post: StoredPost) -> dict[str, Any]:
    """Return a post as plain data; add ``of_text``, the text of the post that it repeats.

    ``of_text`` is left out if that post is no longer in the window.
    """
    if post.evidence is None or (keeper := window.get(post.evidence.duplicate_of)) is None:
        return post.to_dict()
    is_it = keeper.position == post.evidence.of_position  # or a later post with its id
    return post.to_dict() | ({"of_text": keeper.text} if is_it else {})


def pairs_to_judge(window: Window, posts: Sequence[tuple[int, PostId]], limit: int) -> list[dict[str, Any]]:
    """Return up to ``limit`` pairs for a person to judge, spread over the range of scores.

    Each post in ``posts``, a position and an id, is paired with the most similar kept post. Posts that have left the
    window are skipped.
    """
    found: dict[frozenset[str], tuple[StoredPost, Match]] = {}
    for post in still_there(window, posts):
        if (match := nearest_other(window, post)) is not None:
            found.setdefault(frozenset((post.text, match.text)), (post, match))
    return [
        {"a": match.text, "b": post.text, "is_match": match.is_match}
        | {"verifier": match.verifier, "score": match.score, "threshold": match.threshold}
        for post, match in in_turn(list(found.values()))[:limit]
    ]


def nearest_other(window: Window, post: StoredPost) -> Match | None:
    """Return the kept post most similar to ``post``, except exact duplicates; None if there is no such post.

    Also return None if either post is longer than `LONGEST_TO_JUDGE`.
    """
    if len(post.text) > LONGEST_TO_JUDGE:
        return None
    others = (match for match in window.match(post.text, MOST_MATCHES) if match.verifier != EQUAL)
    other = next(others, None)
    return None if other is None or len(other.text) > LONGEST_TO_JUDGE else other


def in_turn(pairs: list[tuple[StoredPost, Match]]) -> list[tuple[StoredPost, Match]]:
    """Sort pairs into the order in which `hybriddup label` would show them."""
    scores = np.array([match.score for _, match in pairs], np.float64)
    places = np.arange(2 * len(pairs), dtype=np.int64).reshape(-1, 2)
    texts = [text for post, match in pairs for text in (match.text, post.text)]
    chooser = Chooser(ScoredCandidates(texts, places, scores))
    ordered = []
    while (place := chooser.next()) is not None:
        chooser.note(place, None)
        ordered.append(pairs[place])
    return ordered
