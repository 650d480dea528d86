"""Contract check for guards: symmetry, determinism, no refusal of equal posts, and a reason for each refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hybriddup.testing.contract import Subject
from hybriddup.testing.texts import ALL_TEXTS

POSTS = tuple(text[:400] for text in ALL_TEXTS)
EDITED = (
    "Floor 3 is open until 10:30 @anna 😀 https://example.org/a",
    "Floor 8 is not open until 11:30 @tom 🎉 https://example.org/b",
    "三楼今天不开门",
    "八楼今天开门",
    "Floor 3 is" + " " * 60 + "open @anna . . . . . 7",
    "from Bath to Bristol",
    "from Bristol to Bath",
)
"""Texts that differ in features that the built-in guards compare."""


def check_guard(component: Any, **options: Any) -> None:
    """Check that a guard keeps its contract; see `hybriddup.testing`."""
    subject = Subject("guard", component, options)
    posts = [*POSTS, *EDITED]
    pairs = [(a, b) for a in range(len(posts)) for b in range(len(posts))]
    guard = subject.make()
    with subject.clause("any two posts are compared, including nasty ones"):
        refused = _refuse(guard, posts, pairs)
        reasons = {pair: guard.reason(posts[pair[0]], posts[pair[1]]) for pair in pairs}
    for pair, is_refused in zip(pairs, refused, strict=True):
        shown = f"{ascii(posts[pair[0]])[:60]} and {ascii(posts[pair[1]])[:60]}"
        reason = reasons[pair]
        if posts[pair[0]] == posts[pair[1]]:
            subject.require(reason is None, "equal posts are never refused", f"{shown}: {reason!r}")
        clause = "refuse and reason agree"
        subject.require(is_refused == (reason is not None), clause, f"{shown}: refuse {is_refused}, reason {reason!r}")
        clause = "a guard is symmetric in the two posts"
        subject.require((reason is None) == (reasons[pair[::-1]] is None), clause, f"{shown}: {reason!r} one way only")
    _check_batches(subject, posts, pairs, refused)
    subject.check_recipe(guard)


def _refuse(guard: Any, posts: Sequence[str], pairs: Sequence[tuple[int, int]]) -> list[bool]:
    earlier, later = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    refused: list[bool] = guard.refuse(posts, earlier, later).tolist()
    return refused


def _check_batches(
    subject: Subject, posts: Sequence[str], pairs: Sequence[tuple[int, int]], refused: Sequence[bool]
) -> None:
    guard = subject.make()
    with subject.clause("no pairs give no answers"):
        subject.require(_refuse(guard, posts, []) == [], "no pairs give no answers", "it gives some")
    clause = "a pair's answer does not depend on the batch, and is the same each time"
    again = _refuse(guard, posts, pairs[::-1])[::-1]
    alone = [_refuse(guard, [posts[a], posts[b]], [(0, 1)])[0] for a, b in pairs[::7]]
    subject.require(again == list(refused), clause, "another order gives other answers")
    subject.require(alone == list(refused[::7]), clause, "pairs alone give other answers")
    clause = "it works in another process, with another hash seed"
    elsewhere = subject.elsewhere(guard, lambda other: _refuse(other, posts, pairs))
    subject.require(elsewhere == list(refused), clause, "it gives other answers")
