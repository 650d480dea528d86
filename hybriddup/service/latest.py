"""Decisions for people who watch: counts over time, the latest ones, and pairs of posts to judge."""

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
from hybriddup.window import AnyWindow, Decision, Match, StoredPost
from hybriddup.window.records import PostId

Outcome = Literal["kept", "near", "exact"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
LONGEST_TO_JUDGE = 1000
"""Characters of a post that a person is asked about."""
MOST_MATCHES = 4
"""Posts that are looked at for one that a post may be compared with: itself and its equals are left out."""


@dataclass
class Slot:
    """New decisions within one slot of time."""

    start: int
    """Seconds since 1970."""
    kept: int = 0
    exact: int = 0
    near: int = 0


@dataclass
class History:
    """New decisions of the last half hour; slots without any, and answers given again, are left out."""

    seconds_a_slot: int = 10
    n_slots: int = 180
    slots: list[Slot] = field(default_factory=list)
    """Oldest first."""

    def add(self, decisions: Sequence[Decision]) -> None:
        """Count decisions that were made now."""
        slot = self._current()
        for one in decisions:
            if one.repeated:
                continue
            outcome = one.evidence.reason if one.evidence else "kept"
            setattr(slot, outcome, getattr(slot, outcome) + 1)

    def _current(self) -> Slot:
        """Return the slot of this moment; a clock that goes backwards stays in the last one."""
        start = int(time()) // self.seconds_a_slot * self.seconds_a_slot
        if not self.slots or self.slots[-1].start < start:
            self.slots.append(Slot(start))
            self.forget()
        return self.slots[-1]

    def forget(self) -> None:
        """Forget the slots that are too old."""
        oldest = int(time()) - self.n_slots * self.seconds_a_slot
        self.slots = [slot for slot in self.slots if slot.start > oldest]


class Latest:
    """Which posts were decided last, those sent again left out. For one thread."""

    def __init__(self) -> None:
        self._ids = {outcome: deque[tuple[int, PostId]](maxlen=MOST_LATEST) for outcome in OUTCOMES}

    def add(self, decisions: Sequence[Decision]) -> None:
        """Note decisions that were made now."""
        for one in decisions[-MOST_LATEST:]:
            if not one.repeated:
                self._ids[one.evidence.reason if one.evidence else "kept"].append((one.position, one.id))

    def newest(self, limit: int, outcome: Outcome | None = None) -> list[tuple[int, PostId]]:
        """Return the positions and ids of the latest posts, newest first; of one outcome, or of all."""
        wanted = OUTCOMES if outcome is None else (outcome,)
        return sorted((one for name in wanted for one in self._ids[name]), key=lambda one: one[0], reverse=True)[:limit]


def still_there(window: AnyWindow, posts: Sequence[tuple[int, PostId]]) -> Iterator[StoredPost]:
    """Yield those of the posts with these positions and ids that are in the window: others may have their ids now."""
    for position, post_id in posts:
        post = window.get(post_id)
        if post is not None and post.position == position:
            yield post


def plain_post(post: StoredPost) -> dict[str, Any]:
    """Return a post as plain data."""
    decision = "kept" if post.kept else "duplicate"
    plain = {"id": post.id, "position": post.position, "decision": decision, "time": post.time, "text": post.text}
    return plain if post.evidence is None else plain | post.evidence._asdict()


def with_keeper(window: AnyWindow, post: StoredPost) -> dict[str, Any]:
    """Return a post as plain data, with the text of the kept post that it repeats where that is still there."""
    of = [(post.evidence.of_position, post.evidence.of)] if post.evidence else []
    keeper = next(still_there(window, of), None)
    return plain_post(post) | ({} if keeper is None else {"of_text": keeper.text})


def pairs_to_judge(window: AnyWindow, posts: Sequence[tuple[int, PostId]], limit: int) -> list[dict[str, Any]]:
    """Return pairs of posts and those most similar to them, so that pairs of all scores come in turn.

    The posts, of which positions and ids are given, are left out where they are gone.
    """
    found: dict[frozenset[str], tuple[StoredPost, Match]] = {}
    for post in still_there(window, posts):
        if (match := nearest_other(window, post)) is not None:
            found.setdefault(frozenset((post.text, match.text)), (post, match))
    return [plain_pair(*pair) for pair in in_turn(list(found.values()))[:limit]]


def nearest_other(window: AnyWindow, post: StoredPost) -> Match | None:
    """Return the kept post most similar to a post but for those that equal it; None where there is none to judge."""
    if len(post.text) > LONGEST_TO_JUDGE:
        return None
    others = (match for match in window.match(post.text, MOST_MATCHES) if match.verifier != EQUAL)
    other = next(others, None)
    return None if other is None or len(other.text) > LONGEST_TO_JUDGE else other


def in_turn(pairs: list[tuple[StoredPost, Match]]) -> list[tuple[StoredPost, Match]]:
    """Return pairs in the order in which `hybriddup label` would ask about them."""
    scores = np.array([match.score for _, match in pairs], np.float64)
    places = np.arange(2 * len(pairs), dtype=np.int64).reshape(-1, 2)
    texts = [text for post, match in pairs for text in (match.text, post.text)]
    chooser = Chooser(ScoredCandidates(texts, places, scores))
    ordered = []
    while (place := chooser.next()) is not None:
        chooser.note(place, None)
        ordered.append(pairs[place])
    return ordered


def plain_pair(post: StoredPost, match: Match) -> dict[str, Any]:
    """Return a pair as plain data: the kept post first."""
    facts = {"verifier": match.verifier, "score": match.score, "threshold": match.threshold}
    return {"a": match.text, "b": post.text, "is_match": match.is_match} | facts
