"""Deciding batch by batch is the greedy rule, however the batches are cut."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.records import CandidatePairs, Fingerprints, VerifiedPairs
from hybriddup.steps import deciders
from hybriddup.steps.blocks import BlockIndex, Expectation, JoiningIndex
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.deciders import Decider, Decisions, batch_bounds, decide
from hybriddup.summary import BlockReport
from hybriddup.waiting import FingerprintQueue
from tests import reference
from tests.builders import make_prints
from tests.steps.block_runs import expectation_of

N_TEXTS = 14
Matches = set[tuple[int, int]]
match_sets = st.sets(
    st.tuples(st.integers(0, N_TEXTS - 1), st.integers(0, N_TEXTS - 1)).filter(lambda pair: pair[0] < pair[1])
)


def accept(matches: Matches) -> deciders.Verify:
    """A verifier that accepts these pairs and no others."""

    def verify(pairs: CandidatePairs) -> VerifiedPairs:
        chosen = [pair in matches for pair in zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)]
        kept = pairs.take(np.array(chosen, np.bool_))
        ones, zeros = np.ones(len(kept)), np.zeros(len(kept), np.int32)
        return VerifiedPairs(kept.earlier, kept.later, kept.hamming_distances, ones, ones, zeros, zeros)

    return verify


class Unjoined:
    """A scan as a plugin's index may be: without joining one batch with another."""

    def __init__(self) -> None:
        self.scan = Scan()

    def prepare(self, expectation: Expectation) -> None:
        self.scan.prepare(expectation)

    def add(self, prints: Fingerprints) -> None:
        self.scan.add(prints)

    def candidates(self, prints: Fingerprints) -> CandidatePairs:
        return self.scan.candidates(prints)

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:
        return self.scan.candidates_within(prints)

    def report(self) -> BlockReport:
        return self.scan.report()


class Halving(Scan):
    """A scan that compares few texts with each other at once, so that batches are halved."""

    small_batch = 2  # type: ignore[assignment]


indexes = pytest.mark.parametrize("make_index", [Scan, Halving, Unjoined])


def run(
    matches: Matches, prints: Fingerprints, n_texts: int, make_index: type[Scan] | type[Unjoined] = Scan
) -> Decisions:
    """Decide with an index that finds every pair."""
    index = make_index()
    index.prepare(expectation_of(prints))
    return decide(FingerprintQueue([prints]), n_texts, index, accept(matches))


def test_indexes_here_are_of_both_kinds() -> None:
    """Those that join two batches, and those that do not."""
    for make_index, joins in ((Scan, True), (Halving, True), (Unjoined, False)):
        index = make_index()
        index.prepare(expectation_of(make_prints([0])))
        assert isinstance(index, BlockIndex)
        assert isinstance(index, JoiningIndex) is joins


def keepers_of(decisions: Decisions) -> dict[int, int]:
    """The keeper of each removed text."""
    deciding = decisions.deciding
    return dict(zip(deciding.later.tolist(), deciding.earlier.tolist(), strict=True))


@st.composite
def batch_sizes(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Bounds of batches that cover all texts, cut anywhere."""
    cuts = sorted({0, N_TEXTS, *draw(st.lists(st.integers(0, N_TEXTS), max_size=5))})
    return list(pairwise(cuts))


@indexes
@given(matches=match_sets, bounds=batch_sizes())
def test_decisions_equal_the_greedy_rule_for_any_batches(
    make_index: type[Scan], matches: Matches, bounds: list[tuple[int, int]]
) -> None:
    """Kept texts and the earliest kept match of each removed one, for any graph of matches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decider, "batch_bounds", lambda *_: iter(bounds))
        decisions = run(matches, make_prints([0] * N_TEXTS), N_TEXTS, make_index)
    expected = reference.greedy_decide(range(N_TEXTS), dict.fromkeys(matches))
    assert np.flatnonzero(decisions.kept).tolist() == expected.kept
    assert keepers_of(decisions) == {text: found[0] for text, found in expected.keepers.items()}


@given(match_sets)
def test_texts_that_are_not_in_the_index_stay(matches: Matches) -> None:
    """Only every other position has a fingerprint; the others are kept and remove nothing."""
    positions = list(range(0, N_TEXTS, 2))
    decisions = run(matches, make_prints([0] * len(positions), positions=positions), N_TEXTS)
    seen = {pair for pair in matches if pair[0] % 2 == 0 and pair[1] % 2 == 0}
    expected = reference.greedy_decide(range(N_TEXTS), dict.fromkeys(seen))
    assert np.flatnonzero(decisions.kept).tolist() == expected.kept


@given(match_sets)
def test_one_pair_decides_each_removed_text(matches: Matches) -> None:
    """Sorted by the removed text, each once, and none of them kept."""
    decisions = run(matches, make_prints([0] * N_TEXTS), N_TEXTS)
    removed = decisions.deciding.later.tolist()
    assert removed == sorted(set(removed)) == np.flatnonzero(~decisions.kept).tolist()


@given(match_sets)
def test_deciding_pairs_are_among_the_verified(matches: Matches) -> None:
    """Nothing is removed on other grounds."""
    decisions = run(matches, make_prints([0] * N_TEXTS), N_TEXTS)
    verified = set(zip(decisions.verified.earlier.tolist(), decisions.verified.later.tolist(), strict=True))
    assert {(keeper, text) for text, keeper in keepers_of(decisions).items()} <= verified <= matches


class Recorder(Scan):
    """An index that remembers what was added and what was compared with itself."""

    def prepare(self, expectation: Expectation) -> None:
        super().prepare(expectation)
        self.made_findable: list[int] = []
        self.compared: list[int] = []

    def add(self, prints: Fingerprints) -> None:
        self.made_findable += prints.positions.tolist()
        super().add(prints)

    def candidates_between(
        self, earlier: Fingerprints | None, later: Fingerprints, round_number: int | None
    ) -> CandidatePairs:
        self.compared += later.positions.tolist() if earlier is later else []
        return super().candidates_between(earlier, later, round_number)


@given(match_sets, batch_sizes())
def test_index_holds_what_was_kept_and_nothing_else(matches: Matches, bounds: list[tuple[int, int]]) -> None:
    """Repeats cost no look-ups later, and repeats of earlier batches are not compared with their own batch."""
    prints, index = make_prints([0] * N_TEXTS), Recorder()
    index.prepare(expectation_of(prints))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decider, "batch_bounds", lambda *_: iter(bounds))
        decisions = decide(FingerprintQueue([prints]), N_TEXTS, index, accept(matches))
    kept = np.flatnonzero(decisions.kept).tolist()
    assert index.made_findable == kept
    before = {last: [row for row in kept if row < first] for first, last in bounds}
    staying = [
        row
        for first, last in bounds
        for row in range(first, last)
        if not any((keeper, row) in matches for keeper in before[last])
    ]
    assert index.compared == staying


def test_candidates_are_counted() -> None:
    """In one batch of texts that do not match, every pair once."""
    decisions = run(set(), make_prints([0] * N_TEXTS), N_TEXTS)
    assert decisions.n_candidate_pairs == N_TEXTS * (N_TEXTS - 1) // 2


def test_no_texts_need_no_decision() -> None:
    """An empty corpus, and one in which no text can be a near repeat."""
    decisions = run(set(), make_prints([]), 3)
    assert (decisions.kept.tolist(), len(decisions.deciding), len(decisions.verified)) == ([True] * 3, 0, 0)


@pytest.mark.parametrize("smallest", [4096, 100_000])
@pytest.mark.parametrize("n", [0, 1, 4095, 4096, 4097, 8192, 65536, 65537, 300_000])
def test_batches_cover_all_texts_without_gap_or_overlap(n: int, smallest: int) -> None:
    """In order, none empty, none larger than the limit, each as large as all before it where the limits allow."""
    bounds = list(batch_bounds(n, smallest, 2**17))
    assert [row for first, last in bounds for row in (first, last)] == list(flat_cuts(bounds, n))
    assert all(0 < last - first <= 2**17 for first, last in bounds)
    assert all(last - first == min(max(first, smallest), 2**17) for first, last in bounds[:-1])


def flat_cuts(bounds: list[tuple[int, int]], n: int) -> Iterator[int]:
    """What adjacent bounds from 0 to ``n`` look like, flat."""
    before = 0
    for _, last in bounds:
        yield from (before, last)
        before = last
    assert before == n
