"""The latest decisions, for people who watch, and pairs of their posts that a person may judge."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
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


class Latest:
    """Which posts were decided last, those sent again left out. For one thread."""

    def __init__(self) -> None:
        self._ids = {outcome: deque[tuple[int, PostId]](maxlen=MOST_LATEST) for outcome in OUTCOMES}

    def add(self, decisions: Sequence[Decision]) -> None:
        """Note decisions that were made now."""
        for one in decisions[-MOST_LATEST:]:
            if not one.repeated:
                self._ids[one.evidence.reason if one.evidence else "kept"].append((one.position, one.id))

    def ids(self, limit: int, outcome: Outcome | None = None) -> list[PostId]:
        """Return the ids of the latest posts, newest first; of one outcome, or of all."""
        wanted = OUTCOMES if outcome is None else (outcome,)
        newest = sorted((one for name in wanted for one in self._ids[name]), key=lambda one: one[0], reverse=True)
        return [post_id for _, post_id in newest[:limit]]


def with_keepers(window: AnyWindow, ids: Sequence[PostId]) -> list[tuple[StoredPost, StoredPost | None]]:
    """Return the posts with these ids that are within the horizon, each with the kept post that it repeats."""
    posts = [post for post in map(window.get, ids) if post is not None]
    return [(post, window.get(post.evidence.of) if post.evidence else None) for post in posts]


def pairs_to_judge(window: AnyWindow, ids: Sequence[PostId], limit: int) -> list[dict[str, Any]]:
    """Return pairs of posts and those most similar to them, so that pairs of all scores come in turn.

    Parameters
    ----------
    ids
        Posts that were decided within the horizon; others are left out.
    limit
        So many pairs at most.
    """
    found: dict[frozenset[str], tuple[StoredPost, Match]] = {}
    for post in map(window.get, ids):
        if post is not None and (match := nearest_other(window, post)) is not None:
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
