"""Deciding in rounds and in ever smaller batches is the greedy rule too, and asks of no pair twice."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybriddup.records import CandidatePairs, Fingerprints, VerifiedPairs
from hybriddup.steps.blocks import Crowded, Expectation, JoiningIndex, join_index
from hybriddup.steps.blocks.join_index import JoinIndex
from hybriddup.steps.blocks.pigeonhole import Blocks
from hybriddup.steps.blocks.scan import Scan
from hybriddup.steps.blocks.table_shape import Neighbours, Table
from hybriddup.steps.blocks.tables import Tables
from hybriddup.steps.deciders import Decider, Decisions, decide
from hybriddup.summary import BlockReport
from hybriddup.waiting import FingerprintQueue
from tests import reference
from tests.builders import make_pairs, make_prints
from tests.steps.block_runs import clustered_prints, expectation_of, find_pairs

N_TEXTS = 14
N_ROUNDS = 3
Pair = tuple[int, int]
pairs_of_texts = st.tuples(st.integers(0, N_TEXTS - 1), st.integers(0, N_TEXTS - 1)).filter(
    lambda pair: pair[0] < pair[1]
)
rounds_of_pairs = st.dictionaries(pairs_of_texts, st.sets(st.integers(0, N_ROUNDS - 1)), max_size=60)
"""In which rounds a pair is found; in none of them, it is lost."""


class InRounds:
    """An index that finds the pairs that it is told, each in the rounds that it is told."""

    n_rounds = N_ROUNDS

    def __init__(self, rounds_of: dict[Pair, set[int]], small_batch: int, most: int) -> None:
        self.rounds_of, self.small_batch, self.most = rounds_of, small_batch, most
        self.positions: list[int] = []

    def prepare(self, expectation: Expectation) -> None:
        """Nothing to plan."""

    def add(self, prints: Fingerprints) -> None:
        self.positions += prints.positions.tolist()

    @property
    def added(self) -> Fingerprints | None:
        return make_prints([0] * len(self.positions), positions=self.positions) if self.positions else None

    def candidates_between(
        self, earlier: Fingerprints, later: Fingerprints, round_number: int | None
    ) -> CandidatePairs:
        before = earlier.positions.tolist()
        asked = set(range(N_ROUNDS)) if round_number is None else {round_number}
        found = [
            (a, b)
            for a in before
            for b in later.positions.tolist()
            if a < b and self.rounds_of.get((a, b), set()) & asked
        ]
        if len(found) > self.most and len(later) > 1:
            raise Crowded
        return make_pairs(found)

    def candidates(self, prints: Fingerprints) -> CandidatePairs:  # noqa: ARG002  (a stand-in)
        raise AssertionError("an index that joins is asked to join")

    def candidates_within(self, prints: Fingerprints) -> CandidatePairs:  # noqa: ARG002  (a stand-in)
        raise AssertionError("an index that joins is asked to join")

    def report(self) -> BlockReport:
        return BlockReport(shape="", exact=True)


class Asked:
    """A verifier that accepts these pairs and remembers what it was asked."""

    def __init__(self, matches: set[Pair]) -> None:
        self.matches, self.pairs = matches, list[Pair]()

    def __call__(self, pairs: CandidatePairs) -> VerifiedPairs:
        listed = list(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True))
        self.pairs += listed
        kept = pairs.take(np.array([pair in self.matches for pair in listed], np.bool_))
        ones, zeros = np.ones(len(kept)), np.zeros(len(kept), np.int32)
        return VerifiedPairs(kept.earlier, kept.later, kept.hamming_distances, ones, ones, zeros, zeros)


@st.composite
def decided(draw: st.DrawFn) -> tuple[Decisions, Asked, reference.Decisions, list[Pair]]:
    """Decisions over any pairs in any rounds, the verifier, what the rule says, and the bounds of the batches."""
    rounds_of = draw(rounds_of_pairs)
    matches = set(draw(st.lists(st.sampled_from(sorted(rounds_of)), max_size=40))) if rounds_of else set()
    bounds = list(pairwise(sorted({0, N_TEXTS, *draw(st.lists(st.integers(0, N_TEXTS), max_size=14))})))
    index = InRounds(rounds_of, draw(st.sampled_from([1, 2, 5, 100])), draw(st.sampled_from([0, 1, 3, 1000])))
    verify = Asked(matches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decider, "batch_bounds", lambda *_: iter(bounds))
        decisions = decide(all_equal(), N_TEXTS, index, verify)
    expected = reference.greedy_decide(range(N_TEXTS), dict.fromkeys(pair for pair in matches if rounds_of[pair]))
    assert index.positions == expected.kept
    return decisions, verify, expected, bounds


def all_equal() -> FingerprintQueue:
    """Texts whose fingerprints do not differ."""
    return FingerprintQueue([make_prints([0] * N_TEXTS)])


def keepers_of(decisions: Decisions) -> dict[int, int]:
    """The keeper of each removed text."""
    deciding = decisions.deciding
    return dict(zip(deciding.later.tolist(), deciding.earlier.tolist(), strict=True))


@settings(max_examples=300)
@given(decided())
def test_kept_texts_are_those_of_the_rule(run: tuple[Decisions, Asked, reference.Decisions, list[Pair]]) -> None:
    """However pairs are spread over the rounds, texts over the batches, and wherever batches are too crowded."""
    decisions, _, expected, _ = run
    assert np.flatnonzero(decisions.kept).tolist() == expected.kept


@settings(max_examples=300)
@given(decided())
def test_keeper_is_a_kept_match_of_each_removed_text(
    run: tuple[Decisions, Asked, reference.Decisions, list[Pair]],
) -> None:
    """Each removed text has one, and one deciding pair, in order."""
    decisions, _, expected, _ = run
    keepers = keepers_of(decisions)
    assert list(keepers) == sorted(expected.keepers) == decisions.deciding.later.tolist()
    assert all(keeper in expected.keepers[text] for text, keeper in keepers.items())


@settings(max_examples=300)
@given(decided())
def test_no_pair_is_verified_twice(run: tuple[Decisions, Asked, reference.Decisions, list[Pair]]) -> None:
    """Though several rounds find it; and each one that is counts as a candidate."""
    decisions, verify, _, _ = run
    assert len(verify.pairs) == len(set(verify.pairs)) == decisions.n_candidate_pairs


@settings(max_examples=300)
@given(decided())
def test_texts_of_earlier_batches_are_not_verified_against_removed_ones(
    run: tuple[Decisions, Asked, reference.Decisions, list[Pair]],
) -> None:
    """Texts that left before a batch came cost nothing there."""
    _, verify, expected, bounds = run
    first_of = {row: first for first, last in bounds for row in range(first, last)}
    assert all(earlier in expected.kept for earlier, later in verify.pairs if earlier < first_of[later])


@settings(max_examples=100)
@given(rounds_of_pairs.filter(len), st.data())
def test_halves_are_verified_against_what_stays_of_the_half_before(
    rounds_of: dict[Pair, set[int]], data: st.DataObject
) -> None:
    """Where texts are halved down to one at a time, no pair with a removed text is verified, in a batch of any size."""
    matches = set(data.draw(st.lists(st.sampled_from(sorted(rounds_of)), max_size=40)))
    verify = Asked(matches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decider, "batch_bounds", lambda *_: iter([(0, N_TEXTS)]))
        decisions = decide(
            FingerprintQueue([make_prints([0] * N_TEXTS)]), N_TEXTS, InRounds(rounds_of, 1, 1000), verify
        )
    assert all(decisions.kept[earlier] for earlier, _ in verify.pairs)


@settings(max_examples=100)
@given(rounds_of_pairs, st.data())
def test_keeper_is_the_earliest_match_of_the_first_round_that_has_one(
    rounds_of: dict[Pair, set[int]], data: st.DataObject
) -> None:
    """Of a text that comes after all that it matches."""
    matches = set(data.draw(st.lists(st.sampled_from(sorted(rounds_of)), max_size=40))) if rounds_of else set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Decider, "batch_bounds", lambda *_: iter([(row, row + 1) for row in range(N_TEXTS)]))
        decisions = decide(
            FingerprintQueue([make_prints([0] * N_TEXTS)]), N_TEXTS, InRounds(rounds_of, 4, 100), Asked(matches)
        )
    for text, keeper in keepers_of(decisions).items():
        kept = [row for row in range(text) if decisions.kept[row] and (row, text) in matches]
        assert keeper == min(kept, key=lambda row: (min(rounds_of[row, text], default=N_ROUNDS), row))


def test_index_of_these_tests_is_one_that_joins() -> None:
    """Or the decider would not ask it round by round."""
    assert isinstance(InRounds({}, 1, 1), JoiningIndex)


# --- the indexes of the package ---


def make_tables() -> Tables:
    return Tables(Tables.Options(n_tables=12, key_bits=6, n_weak_bits=2))


def make_blocks() -> Blocks:
    return Blocks(Blocks.Options(n_blocks=12, n_key_blocks=1))


def prints_in_clusters(seed: int, n: int = 60) -> Fingerprints:
    return clustered_prints(np.random.default_rng(seed), n, 128, 20)


def decide_with(index: JoinIndex, prints: Fingerprints, workers: int = 1) -> tuple[Decisions, Asked]:
    """Decisions where two of three pairs within the limits match."""
    index.prepare(expectation_of(prints, workers=workers, pilot=lambda: (prints, prints)))
    n_texts = int(prints.positions[-1]) + 1
    verify = Asked({(a, b) for b in range(n_texts) for a in range(b) if (7 * a + 5 * b) % 3})
    return decide(FingerprintQueue([prints]), n_texts, index, verify), verify


makers = pytest.mark.parametrize("make_index", [Scan, make_blocks, make_tables])


@makers
@pytest.mark.parametrize("bits", [64, 128])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_rounds_together_find_what_candidates_finds(make_index: type[JoinIndex], bits: int, seed: int) -> None:
    """No pair is lost between the rounds, and none found that all tables at once do not find."""
    prints, index = clustered_prints(np.random.default_rng(seed), 40, bits, 20), make_index()
    index.prepare(expectation_of(prints, pilot=lambda: (prints, prints)))
    earlier, later = prints.take(slice(0, 25)), prints.take(slice(25, 40))
    index.add(earlier)
    pairs = index.candidates(later)
    whole = set(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True))
    for start in (index.added, earlier):
        parts = [index.candidates_between(start, later, number) for number in range(index.n_rounds)]
        found = [set(zip(part.earlier.tolist(), part.later.tolist(), strict=True)) for part in parts]
        assert set().union(*found) == whole
        at_once = index.candidates_between(start, later, None)
        assert set(zip(at_once.earlier.tolist(), at_once.later.tolist(), strict=True)) == whole


@pytest.mark.parametrize("n_keys", range(1, 40))
def test_each_table_is_in_one_round(n_keys: int) -> None:
    """In order, and no round is empty."""
    tables = [Table(np.array([key]), Neighbours()) for key in range(n_keys)]
    rounds = join_index.cut_rounds(tables)
    assert [int(table.key[0]) for chosen in rounds for table in chosen] == list(range(n_keys))
    assert all(rounds)


@makers
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), most=st.sampled_from([0, 3, 40]), few=st.sampled_from([1, 5]))
def test_crowded_batches_are_cut_and_decided_the_same(
    make_index: type[JoinIndex], seed: int, most: int, few: int
) -> None:
    """With room for few pairs, texts are looked up a few at a time: the same stay, and no pair is verified twice."""
    prints = prints_in_clusters(seed)
    whole, _ = decide_with(make_index(), prints)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_index, "MOST_NEAR", most)
        patch.setattr(join_index, "FEW_TEXTS", few)
        cut, verify = decide_with(make_index(), prints)
    assert cut.kept.tolist() == whole.kept.tolist()
    assert len(verify.pairs) == len(set(verify.pairs))


@makers
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32), small=st.sampled_from([1, 2, 7, 30]))
def test_batches_of_any_size_decide_the_same(make_index: type[JoinIndex], seed: int, small: int) -> None:
    """Texts are compared with each other a few at a time, and halves with halves."""
    prints = prints_in_clusters(seed)
    whole, _ = decide_with(make_index(), prints)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JoinIndex, "small_batch", small)
        cut, _ = decide_with(make_index(), prints)
    assert cut.kept.tolist() == whole.kept.tolist()


@makers
@pytest.mark.parametrize("most", [10, 200, 2**23])
def test_workers_change_no_decision_however_crowded(make_index: type[JoinIndex], most: int) -> None:
    """Whether texts are too crowded may depend on the slices of the workers; the result, keepers included, may not."""
    prints = prints_in_clusters(1, 300)
    outcomes = []
    for workers in (1, 2, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(join_index, "MOST_NEAR", most)
            patch.setattr(join_index, "FEW_TEXTS", 3)
            decisions, _ = decide_with(make_index(), prints, workers)
        outcomes.append((decisions.kept.tolist(), keepers_of(decisions), decisions.n_candidate_pairs))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_few_texts_are_never_too_crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or nothing would get them smaller."""
    monkeypatch.setattr(join_index, "MOST_NEAR", 5)
    monkeypatch.setattr(join_index, "FEW_TEXTS", 10)
    index = Scan()
    prints = make_prints([0] * 30)
    assert len(find_pairs(index, prints.take(slice(0, 20)))) == 190
    assert len(index.candidates_between(index.added, prints.take(slice(20, 30)), 0)) == 200
    with pytest.raises(Crowded):
        index.candidates_between(index.added, prints.take(slice(19, 30)), 0)
