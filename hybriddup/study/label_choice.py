"""Which pairs of their own posts people should judge, so that few answers teach much.

First pairs over all scores, so that it is seen where judgement turns; then also pairs where it is least sure.
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
"""The first so many posts are looked at: what repeats mostly comes soon after."""
MOST_PAIRS = 50_000
"""About as many pairs are scored, of posts spread evenly."""
SHARES = 11
"""Scores are divided into so many parts: 0, and ten from there to 1."""
FIRST_ANSWERS = 30
"""So many pairs come from all parts in turn; after these, every other one from where the score is least sure."""


class ScoredCandidates(NamedTuple):
    """Pairs of posts to choose from."""

    texts: Sequence[str]
    """The posts as they were read."""
    pairs: Int64s
    """int64[n, 2]: places of the two texts."""
    scores: Float64s
    """float64[n]: by the configuration, 0.0 to 1.0."""


def score_candidates(texts: Sequence[str], settings: Settings, registry: Registry, workers: int) -> ScoredCandidates:
    """Return pairs of posts that are not equal and have something in common, with their scores.

    InputError where no two posts do, or where no length band of the configuration has a single verifier.
    """
    if not single_bands(settings.lengths):
        raise InputError("no length band of the configuration has a verifier by itself, so that pairs have no score.")
    raw = texts[:MOST_POSTS]
    run = Run(Components.create(open_to_all(settings), registry, workers), workers, Clock())
    found = run.distinct_texts(raw)
    near = np.flatnonzero(found.is_near)
    if not len(near):
        raise InputError("no post is long enough to be compared.")
    _, verified = run.verifier(found)(some_pairs(WideScan(found.known, near, workers), near))
    if not len(verified.scores):
        raise InputError("no two of the posts have anything in common.")
    places = found.equal.distinct[np.stack([verified.earlier, verified.later], axis=1)]
    return ScoredCandidates(raw, places, verified.scores)


def some_pairs(scan: WideScan, near: Int64s) -> CandidatePairs:
    """Return about `MOST_PAIRS` pairs of texts that differ in few bits of their fingerprints."""
    first = scan.pairs(near[spread_rows(len(near), FIRST_LOOK)])
    n = min(len(near), FIRST_LOOK * MOST_PAIRS // max(len(first), 1))
    return scan.pairs(near[spread_rows(len(near), max(n, 1))])


@dataclass
class Chooser:
    """Says which pair should be judged next."""

    candidates: ScoredCandidates
    asked: set[int] = field(default_factory=set)
    """Places of the pairs that were answered, or need not be."""
    labels: dict[int, bool] = field(default_factory=dict)
    """What was answered, by place; those of whom nobody was sure are left out."""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        order = rng.permutation(len(self.candidates.scores))
        shares = np.ceil(self.candidates.scores[order] * (SHARES - 1)).astype(np.int64).clip(0, SHARES - 1)
        self._parts: list[list[int]] = [order[shares == share].tolist() for share in range(SHARES)]

    @cached_property
    def _place_of(self) -> dict[frozenset[str], int]:
        return {frozenset(self.texts_of(place)): place for place in range(len(self.candidates.scores))}

    def answered(self, texts: tuple[str, str], label: bool | None) -> None:
        """Note what was answered about two texts in an earlier session, so that they are not asked about again."""
        place = self._place_of.get(frozenset(texts))
        if place is not None:
            self.note(place, label)

    def note(self, place: int, label: bool | None) -> None:
        """Note an answer; None = nobody is sure."""
        self.asked.add(place)
        if label is not None:
            self.labels[place] = label

    def forget(self, place: int) -> None:
        """Take an answer back."""
        self.asked.discard(place)
        self.labels.pop(place, None)

    def next(self) -> int | None:
        """Return the place of the pair to ask about; None where all were asked about."""
        n = len(self.asked)
        if n >= FIRST_ANSWERS and n % 2 and (place := self._least_sure()) is not None:
            return place
        for turn in range(SHARES):
            part = self._parts[(n + turn) % SHARES]
            chosen = next((at for at in part if at not in self.asked), None)
            if chosen is not None:
                return chosen
        return None

    def _least_sure(self) -> int | None:
        """Return the pair whose score is nearest to where the answers so far part; None where they do not."""
        places = np.array(list(self.labels), np.int64)
        labels = np.array(list(self.labels.values()), np.bool_)
        if not labels.any() or labels.all():
            return None
        border = threshold_for(self.candidates.scores[places], labels, 0.0)
        nearest: list[int] = np.argsort(np.abs(self.candidates.scores - border), kind="stable").tolist()
        return next((place for place in nearest if place not in self.asked), None)

    def texts_of(self, place: int) -> tuple[str, str]:
        """Return the two posts of a pair, as they were read."""
        a, b = self.candidates.pairs[place].tolist()
        return self.candidates.texts[a], self.candidates.texts[b]
