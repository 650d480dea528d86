"""Chooses which pairs of posts a user should label, so that tuning needs few labels (active learning).

The first pairs cover the whole range of scores. After these, pairs near the current decision boundary alternate with
pairs from the whole range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.records import CandidatePairs, Float64s, Int64s
from hybriddup.data.spread import spread_rows
from hybriddup.errors import InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.audit import FIRST_LOOK, WideScan
from hybriddup.run.components import Components
from hybriddup.run.pipeline import Run
from hybriddup.run.progress import Clock
from hybriddup.steps.verifiers.best_threshold import threshold_for
from hybriddup.study.evaluate import open_to_all, single_bands

MOST_POSTS = 100_000
"""Maximum number of posts that are read, from the start of the input; most repeats follow soon after the original."""
MOST_PAIRS = 50_000
"""Approximate number of pairs that are scored, from evenly spread posts."""
SHARES = 11
"""Number of score bins: one for 0.0, and ten equal ones up to 1.0."""
FIRST_ANSWERS = 30
"""Number of pairs that are chosen first, from one score bin after another. After these, pairs near the decision
boundary alternate with pairs from the bins."""


class ScoredCandidates(NamedTuple):
    """Scored pairs of posts, from which `Chooser` chooses the pairs to label."""

    texts: Sequence[str]
    """Texts of the posts as they were read."""
    pairs: Int64s
    """int64[n, 2]: indices in ``texts`` of the two posts of each pair."""
    scores: Float64s
    """float64[n]: score of each pair by the verifiers of the configuration, 0.0 to 1.0."""


def score_candidates(texts: Sequence[str], settings: Settings, registry: Registry, workers: int) -> ScoredCandidates:
    """Find pairs of posts that are similar but not equal, and score them.

    Raises InputError if there are no such pairs, or no length band of the configuration has exactly one verifier.
    """
    if not single_bands(settings):
        raise InputError("no length band of the configuration has a verifier by itself, so pairs have no score.")
    raw = texts[:MOST_POSTS]
    run = Run(Components.create(open_to_all(settings), registry, workers), workers, Clock())
    found = run.distinct_texts(raw)
    near = np.flatnonzero(found.is_near)
    if not len(near):
        raise InputError("no post is long enough to be compared.")
    _, verified = run.verifier(found)(some_pairs(WideScan(found.columns, near, workers), near))
    if not len(verified.scores):
        raise InputError("no two of the posts have anything in common.")
    places = found.equal.distinct[np.stack([verified.earlier, verified.later], axis=1)]
    return ScoredCandidates(raw, places, verified.scores)


def some_pairs(scan: WideScan, near: Int64s) -> CandidatePairs:
    """Return about `MOST_PAIRS` pairs whose fingerprints differ in few bits.

    ``near``: int64[n], the indices of the texts that can be near repeats; an evenly spread sample of them is scanned.
    """
    first = scan.pairs(near[spread_rows(len(near), FIRST_LOOK)])
    n = min(len(near), FIRST_LOOK * MOST_PAIRS // max(len(first), 1))
    return scan.pairs(near[spread_rows(len(near), max(n, 1))])


@dataclass
class Chooser:
    """Chooses the next pair to label. A pair is identified by its index in ``candidates``."""

    candidates: ScoredCandidates
    done: set[int] = field(default_factory=set)
    """Pairs not to choose again: the user labeled them, was unsure, or skipped them."""
    labels: dict[int, bool] = field(default_factory=dict)
    """Map from pair to label, without the pairs about which the user was unsure."""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        order = rng.permutation(len(self.candidates.scores))
        shares = np.ceil(self.candidates.scores[order] * (SHARES - 1)).astype(np.int64).clip(0, SHARES - 1)
        self._parts: list[list[int]] = [order[shares == share].tolist() for share in range(SHARES)]

    @cached_property
    def _place_of(self) -> dict[frozenset[str], int]:
        return {frozenset(self.texts_of(place)): place for place in range(len(self.candidates.scores))}

    def answered(self, texts: tuple[str, str], label: bool | None) -> None:
        """Record an answer from an earlier session about two texts, so that the pair is not chosen again.

        ``label`` is None if the user was unsure.
        """
        place = self._place_of.get(frozenset(texts))
        if place is not None:
            self.note(place, label)

    def note(self, place: int, label: bool | None) -> None:
        """Record the user's label of a pair; None = unsure."""
        self.done.add(place)
        if label is not None:
            self.labels[place] = label

    def forget(self, place: int) -> None:
        """Remove the label of a pair, so that it can be chosen again."""
        self.done.discard(place)
        self.labels.pop(place, None)

    def next(self) -> int | None:
        """Return the index of the next pair to label; None if all pairs are done."""
        n = len(self.done)
        if n >= FIRST_ANSWERS and n % 2 and (place := self._least_sure()) is not None:
            return place
        for turn in range(SHARES):
            part = self._parts[(n + turn) % SHARES]
            chosen = next((at for at in part if at not in self.done), None)
            if chosen is not None:
                return chosen
        return None

    def _least_sure(self) -> int | None:
        """Return the unlabeled pair whose score is closest to the best threshold for the labels so far.

        None if all pairs are done, or all labels are equal.
        """
        places = np.array(list(self.labels), np.int64)
        labels = np.array(list(self.labels.values()), np.bool_)
        if not labels.any() or labels.all():
            return None
        border = threshold_for(self.candidates.scores[places], labels, 0.0)
        nearest: list[int] = np.argsort(np.abs(self.candidates.scores - border), kind="stable").tolist()
        return next((place for place in nearest if place not in self.done), None)

    def texts_of(self, place: int) -> tuple[str, str]:
        """Return the texts of a pair as they were read."""
        a, b = self.candidates.pairs[place].tolist()
        return self.candidates.texts[a], self.candidates.texts[b]
