"""The decision kernel against the greedy rule in plain Python; crowded keys are in `tests.steps.deciding`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.search import decide
from hybriddup.kernels.search.decide import Contest, Course
from tests import reference

N_TEXTS, N_DISTANCES = 12, 8
Pair = tuple[int, int]
pair_sets = st.sets(st.tuples(st.integers(0, N_TEXTS - 2), st.integers(1, N_TEXTS - 1)).filter(lambda p: p[0] < p[1]))


def make_contest(pairs: list[Pair], n: int, previous_copy: list[int] | None = None) -> Contest:
    """All pairs are sure, no text has too many; an earlier text below 0 is one of the index."""
    rows = np.array(sorted(pairs, key=lambda pair: (pair[1], pair[0])), np.int64).reshape(len(pairs), 2)
    return Contest(
        np.searchsorted(rows[:, 1], np.arange(n + 1)),
        np.maximum(rows[:, 0], decide.IN_INDEX),
        np.zeros(len(pairs), np.int32),
        np.ones(len(pairs), np.bool_),
        np.full(len(pairs), decide.OPEN),
        np.zeros(len(pairs), np.int64),
        np.full(len(pairs), decide.NONE),
        np.array([-1] * n if previous_copy is None else previous_copy),
        np.zeros(n),
        np.full(n, -np.inf),
        np.full(n, 2**62),
        np.zeros((n, 0), np.uint32),
        np.zeros((n, 0), np.uint32),
        *np.zeros((2, n, 0), np.int32),
        0,
    )


def make_course(contest: Contest) -> Course:
    n = len(contest.offsets) - 1
    none_kept = np.zeros((n, 0), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int16), np.zeros(1, np.int64)
    return Course(
        np.full(n, decide.UNDECIDED),
        np.full(n, decide.NONE),
        contest.offsets[:-1].copy(),
        np.zeros(n, np.bool_),
        *np.zeros((2, N_DISTANCES), np.int64),
        *none_kept,
    )


def settle(
    contest: Contest, course: Course, matches: set[Pair], *, n_per_round: int = 4, is_last: bool = True
) -> list[Pair]:
    """Decide, and return the pairs that were asked for, in order."""
    later = np.repeat(np.arange(len(course.status)), np.diff(contest.offsets))
    wanted, asked = np.empty(len(later), np.int64), list[Pair]()
    depths = np.zeros((0, 0), np.int64)
    while n := decide.decide_in_order(contest, course, depths, n_per_round, 0, is_last, wanted):
        for pair in wanted[:n].tolist():
            assert contest.verdicts[pair] == decide.OPEN
            asked.append((int(contest.earlier[pair]), int(later[pair])))
            contest.verdicts[pair] = decide.MATCHES if asked[-1] in matches else decide.REFUSED
    return asked


@given(pair_sets, pair_sets, st.sampled_from([1, 2, 4]))
def test_decisions_equal_the_greedy_rule(pairs: set[Pair], refused: set[Pair], n_per_round: int) -> None:
    contest, matches = make_contest(list(pairs), N_TEXTS), pairs - refused
    course = make_course(contest)
    asked = settle(contest, course, matches, n_per_round=n_per_round)
    expected = reference.greedy_decide(range(N_TEXTS), dict.fromkeys(matches))
    assert np.flatnonzero(course.status == decide.KEPT).tolist() == expected.kept
    near = np.flatnonzero(course.status == decide.NEAR)
    keepers = zip(near.tolist(), contest.earlier[course.deciding[near]].tolist(), strict=True)
    assert dict(keepers) == {text: found[0] for text, found in expected.keepers.items()}
    assert len(set(asked)) == len(asked)


def test_before_the_last_pairs_only_matches_decide() -> None:
    contest = make_contest([(-1, 0), (-1, 1)], 2)
    course = make_course(contest)
    settle(contest, course, {(-1, 1)}, is_last=False)
    assert course.status.tolist() == [decide.UNDECIDED, decide.NEAR]


def test_texts_equal_to_a_kept_one_go_for_it() -> None:
    contest = make_contest([(-1, 3), (-1, 4)], 5, previous_copy=[-1, 0, 1, -1, 3])
    course = make_course(contest)
    settle(contest, course, {(-1, 3), (-1, 4)})
    assert course.status.tolist() == [decide.KEPT, decide.EXACT, decide.EXACT, decide.NEAR, decide.NEAR]
    assert course.deciding[1:3].tolist() == [0, 0]


@pytest.mark.parametrize(("oldest", "status"), [(4.0, decide.EXACT), (5.0, decide.KEPT)])
def test_copies_of_a_text_that_is_too_old_stay(oldest: float, status: np.int8) -> None:
    contest = make_contest([], 2, previous_copy=[-1, 0])
    contest = contest._replace(times=np.array([5.0, 6.0]), oldest=np.array([-np.inf, oldest]))
    course = make_course(contest)
    settle(contest, course, set())
    assert course.status.tolist() == [decide.KEPT, status]


def test_a_candidate_is_passed_over_behind_enough_others_that_are_as_near() -> None:
    contest = make_contest([(-5, 0), (-4, 0), (-3, 0), (-2, 0), (-1, 0)], 1)
    contest.distances[:] = [5, 3, 4, 2, 5]
    contest = contest._replace(most_pairs=np.array([2]))
    course = make_course(contest)
    settle(contest, course, set())
    assert contest.verdicts.tolist() == [decide.REFUSED] * 4 + [decide.OPEN]
    assert course.status.tolist() == [decide.KEPT]
    assert course.is_cut.tolist() == [True]


@given(
    st.lists(st.tuples(st.integers(0, N_DISTANCES - 1), st.booleans(), st.booleans()), max_size=20), st.integers(1, 3)
)
def test_only_pairs_that_are_passed_over_in_any_case_are_left_out(
    pairs: list[tuple[int, bool, bool]], most: int
) -> None:
    """Whichever of the unsure ones turn out to be candidates; that some were left out can still be seen."""

    def passed_over(candidates: list[int]) -> set[int]:
        n_as_near = {i: sum(j < i and distances[j] <= distances[i] for j in candidates) for i in candidates}
        return {pair for pair, n in n_as_near.items() if n >= most}

    distances, is_sure = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    candidates = [place for place, (_, sure, other) in enumerate(pairs) if sure or other]
    columns = np.zeros(len(pairs), np.int64), np.array(distances, np.int32), np.array(is_sure, np.bool_)
    stays = decide.may_be_verified(*columns, np.array([most]))
    left = [pair for pair in candidates if stays[pair]]
    assert {pair for pair in range(len(pairs)) if not stays[pair]} <= passed_over(list(range(len(pairs))))
    assert {*candidates} - passed_over(candidates) == {*left} - passed_over(left)
    assert bool(passed_over(candidates)) == bool(passed_over(left))
