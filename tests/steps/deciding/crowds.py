"""Texts that crowd their keys on purpose, decided by the package and by the rule in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hybriddup.data.records import NO_KEY, Bools, CandidatePairs, Int64s, PairLimits, UInt64s, VerifiedPairs
from hybriddup.kernels.search.pair_limits import TextColumns, text_columns
from hybriddup.run.decisions import RunDecisions, decide_all
from hybriddup.steps.blocks import BlockIndex, BlockReport
from hybriddup.steps.candidates.groups import group_texts
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.deciding.contest import Limits
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.exact import EqualTexts
from tests import reference
from tests.builders import clustered_numbers, words_of

N_LENGTHS = 3


class ListedKeys(BlockIndex):
    """A block index whose keys and probes stand in lists; a text is the number of its entry."""

    def __init__(self, crowd: Crowd) -> None:
        self.max_bucket_size = crowd.max_bucket_size
        self.probes_others = crowd.probes is not crowd.keys
        self._keys, self._probes = crowd.keys, crowd.probes
        self._entry_of = {int(bits): entry for entry, bits in enumerate(crowd.bits)}

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return self._keys[list(map(int, texts))]

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        """Return the listed probes; each fingerprint is of one entry only."""
        return self._probes[[self._entry_of[int(row[0])] for row in bits]]


@dataclass
class Crowd:
    """Distinct texts, the order in which some of them come, and what matches what."""

    names: Int64s
    """int64[n]: which distinct text comes; the other columns are by distinct text."""
    keys: UInt64s
    probes: UInt64s
    bits: UInt64s
    """uint64[n_distinct]."""
    lengths: Int64s
    distance_limits: Int64s
    """int64[N_LENGTHS]: by length."""
    accepts: Bools
    """bool[n_distinct, n_distinct]: symmetric."""
    is_near: Bools
    """bool[n_distinct]."""
    max_bucket_size: int = 0
    most_pairs: Int64s = field(default_factory=lambda: np.full(N_LENGTHS, 2**62))
    """int64[N_LENGTHS]: by length."""

    def columns(self) -> TextColumns:
        """What is known of each distinct text."""
        n = len(self.bits)
        lengths = self.lengths.astype(np.int32)
        limits = self.distance_limits[lengths].astype(np.int32)
        shares = np.zeros(n, np.float32)
        reaches = np.full(n, 2**31 - 1, np.int32)
        return text_columns(self.bits[:, None].copy(), PairLimits(lengths, limits, reaches, shares, shares))

    def equal(self) -> EqualTexts:
        """Which of the texts that come are equal; those that never come are left out."""
        first_of = np.unique(self.names, return_index=True)[1][np.unique(self.names, return_inverse=True)[1]]
        return EqualTexts.of(first_of)

    def verify(self, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return which pairs the table accepts, and these."""
        accepted = self.accepts[self.names[pairs.earlier], self.names[pairs.later]]
        n = np.zeros(len(pairs), np.int32)
        verified = VerifiedPairs(
            pairs.earlier, pairs.later, pairs.hamming_distances, n.astype(float), n.astype(float), n, n
        )
        return accepted, verified.take(accepted)

    def distance_of(self, earlier: int, later: int) -> int:
        return reference.hamming_distance(*(int(self.bits[self.names[text]]) for text in (earlier, later)))

    def is_within(self, earlier: int, later: int) -> bool:
        """Whether two texts are within the limit of the shorter one."""
        shorter = min(int(self.lengths[self.names[text]]) for text in (earlier, later))
        return self.distance_of(earlier, later) <= self.distance_limits[shorter]


def make_crowd(seed: int, *, n_distinct: int | None = None, n_keys: int | None = None, **given: Any) -> Crowd:
    """Return up to 60 texts, of few distinct ones and with few distinct keys unless told, near one another or not."""
    rng = np.random.default_rng(seed)
    n_distinct, n_keys = n_distinct or int(rng.integers(1, 80)), n_keys or int(rng.integers(1, 7))
    numbers: dict[int, None] = {}
    while len(numbers) < n_distinct:
        numbers |= dict.fromkeys(clustered_numbers(rng, n_distinct, 64, int(rng.integers(1, 5)), n_patterns=2))
    listed = list(numbers)[:n_distinct]
    keys = listed_keys(rng, n_distinct, n_keys)
    probes = listed_keys(rng, n_distinct, n_keys) if rng.random() < 0.4 else keys
    accepts = rng.random((n_distinct, n_distinct)) < rng.choice([0.02, 0.05, 0.2, 0.6])
    crowd = Crowd(
        names=rng.integers(0, n_distinct, int(rng.integers(1, 61))),
        keys=keys,
        probes=probes,
        bits=words_of(listed, 1)[:, 0].copy(),
        lengths=rng.integers(0, N_LENGTHS, n_distinct),
        distance_limits=np.array([2, 4, 6]),
        accepts=accepts | accepts.T,
        is_near=rng.random(n_distinct) < rng.choice([0.9, 1.0]),
        max_bucket_size=int(rng.choice([0, 1, 2, 3, 5])),
        most_pairs=rng.choice([[1, 1, 1], [3, 2, 1], [5, 5, 5], [2**62] * 3]),
    )
    for name, value in given.items():
        setattr(crowd, name, value)
    return crowd


def listed_keys(rng: np.random.Generator, n: int, n_different: int) -> UInt64s:
    """Return up to four keys a text, each once, `NO_KEY` anywhere between them."""
    keys = np.full((n, 4), NO_KEY, np.uint64)
    names = rng.integers(0, 2**63, n_different)
    for row in keys:
        some = rng.permutation(names)[: int(rng.integers(0, 5))]
        row[rng.permutation(4)[: len(some)]] = some
    return keys


def decide_by_rule(crowd: Crowd) -> reference.RuleOutcome:
    """Return what the rule says; the first of texts that cannot be near repeats stays, whatever else comes."""
    near = np.flatnonzero(crowd.is_near[crowd.names])
    names = crowd.names[near].tolist()
    outcome = reference.decide_by_rule(
        names,
        [set(crowd.keys[name].tolist()) - {NO_KEY} for name in names],
        [set(crowd.probes[name].tolist()) - {NO_KEY} for name in names],
        lambda earlier, later: crowd.distance_of(near[earlier], near[later]),
        lambda earlier, later: crowd.is_within(near[earlier], near[later]),
        lambda earlier, later: bool(crowd.accepts[names[earlier], names[later]]),
        max_bucket_size=crowd.max_bucket_size,
        most_pairs=crowd.most_pairs[crowd.lengths[names]].tolist(),
    )
    others = {place: first for place, first in enumerate(crowd.equal().first_of.tolist()) if place not in near}
    places = near.tolist()
    exact = {places[text]: places[keeper] for text, keeper in outcome.exact.items()}
    return outcome._replace(
        kept=sorted([places[text] for text in outcome.kept] + [place for place in others if others[place] == place]),
        exact=exact | {place: first for place, first in others.items() if first != place},
        near={places[text]: places[keeper] for text, keeper in outcome.near.items()},
    )


def decide_by_package(
    crowd: Crowd, texts_per_batch: int = 2**14, workers: int = 1, asked_together: int = 128, **fields: int
) -> tuple[RunDecisions, BlockReport]:
    index, equal = ListedKeys(crowd), crowd.equal()
    names = crowd.names[equal.distinct]
    texts, columns, is_near = list(map(str, names.tolist())), crowd.columns().take(names), crowd.is_near[names]
    groups = group_texts(index, texts, columns.bits, is_near, workers)
    held = RunIndex(index, groups, columns, texts, equal.text_numbers, workers)
    limits = Limits(crowd.max_bucket_size, lambda lengths: crowd.most_pairs[lengths], asked_together=asked_together)
    decider = Decider(held, crowd.verify, limits, held.report, workers, **fields)
    return decide_all(decider, held, is_near, equal, texts_per_batch=texts_per_batch).all(), held.report


def as_outcome(decisions: RunDecisions, report: BlockReport) -> reference.RuleOutcome:
    """Return decisions in the form of the reference."""
    exact, deciding = np.flatnonzero(decisions.exact >= 0), decisions.deciding
    return reference.RuleOutcome(
        np.flatnonzero(decisions.kept).tolist(),
        dict(zip(exact.tolist(), decisions.exact[exact].tolist(), strict=True)),
        dict(zip(deciding.later.tolist(), deciding.earlier.tolist(), strict=True)),
        report.limits_hit.get("max_bucket_size", 0),
        report.limits_hit.get("max_candidates", 0),
    )
