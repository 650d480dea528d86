"""Judges: what `all` and `any` of several verifiers accept, which member decided, and how a plan is built."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hybriddup.config.settings import AllVerifiers, SingleVerifier
from hybriddup.data.records import CandidatePairs, Float64s, Int32s
from hybriddup.errors import PluginError
from hybriddup.run.bands import plan_judges
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.judges import AllOf, AnyOf, SingleJudge


class Recorded:
    """Gives the scores that it is told, by the pair's earlier position, and notes what it was asked."""

    def __init__(self, scores: Float64s, bound: int = 100) -> None:
        self.scores = np.asarray(scores)
        self.bound = bound
        self.asked: list[int] = []
        self.n_prepared = 0

    def prepare(self, context: VerifierContext) -> None:  # noqa: ARG002 - a stand-in
        self.n_prepared += 1

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002 - a stand-in
        self.asked += pairs.earlier.tolist()
        return self.scores[pairs.earlier]

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - a stand-in
        return lengths + np.int32(self.bound)


def judges(scores: Float64s, thresholds: list[float]) -> tuple[SingleJudge, ...]:
    """One member for each row of scores."""
    return tuple(
        SingleJudge(Recorded(row), index, f"v{index}", threshold)
        for index, (row, threshold) in enumerate(zip(np.asarray(scores), thresholds, strict=True))
    )


def pairs_of(n: int) -> CandidatePairs:
    return CandidatePairs(np.arange(n), np.arange(n) + n, np.zeros(n, np.int32))


SHARES = st.sampled_from([0.0, 0.5, 0.6, 0.8, 0.9, 1.0])
MEMBERS = st.integers(1, 4).flatmap(
    lambda n: st.tuples(arrays(np.float64, (n, 8), elements=SHARES), st.lists(SHARES, min_size=n, max_size=n))
)


@pytest.mark.parametrize(("combined", "of_members"), [(AllOf, np.all), (AnyOf, np.any)])
@given(members=MEMBERS)
def test_all_or_any_of_the_members_accept(
    combined: Any, of_members: Any, members: tuple[Float64s, list[float]]
) -> None:
    scores, thresholds = members
    judgement = combined(judges(scores, thresholds)).judge(pairs_of(8))
    assert judgement.accepted.tolist() == of_members(scores >= np.array(thresholds)[:, None], axis=0).tolist()


@pytest.mark.parametrize("combined", [AllOf, AnyOf])
@given(members=MEMBERS)
def test_evidence_is_that_of_the_member_that_decided(combined: Any, members: tuple[Float64s, list[float]]) -> None:
    scores, thresholds = members
    judgement = combined(judges(scores, thresholds)).judge(pairs_of(8))
    assert judgement.scores.tolist() == scores[judgement.verifiers, np.arange(8)].tolist()
    assert judgement.thresholds.tolist() == np.array(thresholds)[judgement.verifiers].tolist()


def test_all_names_the_member_closest_to_refusing() -> None:
    members = judges([[1.0, 0.8], [0.75, 1.0], [0.75, 0.9]], [0.75, 0.625, 0.625])
    assert AllOf(members).judge(pairs_of(2)).verifiers.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("combined", "scores", "named", "asked"),
    [
        (AllOf, [[0.9, 0.1, 0.9], [0.2, 0.0, 0.9]], [1, 0, 0], [0, 2]),
        (AnyOf, [[0.9, 0.1, 0.1], [1.0, 0.9, 0.2]], [0, 1, 1], [1, 2]),
    ],
)
def test_the_first_member_that_decides_is_named(combined: Any, scores: Any, named: list[int], asked: list[int]) -> None:
    """It refuses with `all`, and accepts with `any`; the members after it do not score the pair."""
    members = judges(scores, [0.8, 0.6])
    assert combined(members).judge(pairs_of(3)).verifiers.tolist() == named
    assert members[1].verifier.asked == asked  # type: ignore[attr-defined]


def test_combined_bounds_are_the_smallest_of_all_and_the_largest_of_any() -> None:
    members = tuple(SingleJudge(Recorded(np.zeros(1), bound), 0, "v", 0.5) for bound in (7, 3, 5))
    lengths = np.array([10, 20], np.int32)
    assert AllOf(members).max_partner_lengths(lengths).tolist() == [13, 23]
    assert AnyOf(members).max_partner_lengths(lengths).tolist() == [17, 27]


@pytest.mark.parametrize("combined", [AllOf, AnyOf])
def test_judging_does_not_change_the_scores_of_a_verifier(combined: Any) -> None:
    members = judges([[0.9, 0.1], [0.7, 0.9]], [0.8, 0.8])
    whole = members[0].verifier.scores  # type: ignore[attr-defined]
    members[0].verifier.score_pairs = lambda *_: whole  # type: ignore[attr-defined]
    combined(members).judge(pairs_of(2))
    assert whole.tolist() == [0.9, 0.1]


def test_verifier_that_returns_too_few_scores_is_named() -> None:
    judge = SingleJudge(Recorded(np.zeros(4)), 0, "mine", 0.5)
    judge.verifier.score_pairs = lambda *_: np.zeros(1)  # type: ignore[method-assign]
    with pytest.raises(PluginError, match=r"verifier 'mine' .*float64\[4\].*\[1\]"):
        judge.judge(pairs_of(4))


@pytest.mark.parametrize("scores", [[[np.nan], [1.0]], [[1.0], [np.nan]]])
def test_score_that_is_not_a_number_refuses(scores: Float64s) -> None:
    members = judges(scores, [0.5, 0.5])
    assert AllOf(members).judge(pairs_of(1)).accepted.tolist() == [False]
    assert AnyOf(members).judge(pairs_of(1)).accepted.tolist() == [True]


def test_plan_makes_one_verifier_for_each_choice_of_options() -> None:
    edit, cosine = (SingleVerifier(use=use, threshold=0.6) for use in ("edit", "cosine"))
    combined = AllVerifiers(all=(edit, cosine, SingleVerifier(use="cosine", threshold=0.6, idf=False)))
    bands = [None, SingleVerifier(use="cosine", threshold=0.9), combined]
    plan = plan_judges(bands, lambda _: Recorded(np.zeros(1)))
    assert plan.names == ("cosine", "edit", "cosine")
    assert plan.keys == ("cosine {}", "edit {}", 'cosine {"idf": false}')
    assert len(plan.verifiers) == 3


def test_plan_prepares_each_verifier_once() -> None:
    bands = [SingleVerifier(use="edit", threshold=threshold) for threshold in (0.8, 0.9)]
    plan = plan_judges(bands, lambda _: Recorded(np.zeros(1)))
    plan.prepare(VerifierContext([], None, 128, 1))  # type: ignore[arg-type]
    assert [verifier.n_prepared for verifier in plan.verifiers] == [1]  # type: ignore[attr-defined]


def test_bands_of_one_verifier_are_judged_together() -> None:
    scores = np.array([0.7, 0.7, 0.7, 0.9, 0.7, 0.7])
    made: list[Recorded] = []

    def create(_: SingleVerifier) -> Recorded:
        made.append(Recorded(scores))
        return made[-1]

    single = [SingleVerifier.model_validate({"use": "edit", "threshold": threshold}) for threshold in (0.6, 0.8)]
    combined = AllVerifiers.model_validate({"all": [each.model_dump() for each in single]})
    plan = plan_judges([None, single[0], single[1], combined], create)

    judgement = plan.judge(pairs_of(6), np.array([1, 2, 0, 2, 3, 1], np.int32))

    assert judgement.accepted.tolist() == [True, False, False, True, False, True]
    assert judgement.thresholds.tolist() == [0.6, 0.8, 1.0, 0.8, 0.8, 0.6]
    assert len(made) == 1
    assert made[0].asked[:4] == [0, 1, 3, 5]
