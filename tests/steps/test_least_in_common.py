"""What verifiers ask of the characters of a pair: it refuses no pair that they accept, and all that it can."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.kernels.search.pair_limits import count_lacking, least_common
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.steps.tokenizers.char_ngrams import CharNgrams
from hybriddup.steps.verifiers import LeastInCommon, Verifier, VerifierContext
from hybriddup.steps.verifiers.edit import Edit, Lcs
from hybriddup.steps.verifiers.features import Jaccard
from hybriddup.steps.verifiers.judges import AllOf, AnyOf, Judge, SingleJudge
from tests.builders import examples, make_pairs
from tests.inner_kernels import from_python
from tests.steps.test_edit import pairs_on

ALL_SCORES = 0.0
"""A threshold that no score is below, so that every score is exact."""


MAKERS: dict[str, Callable[[], Verifier]] = {
    "edit-indel": lambda: Edit(Edit.Options(distance="indel")),
    "edit-levenshtein": lambda: Edit(Edit.Options(distance="levenshtein")),
    "lcs-longer": lambda: Lcs(Lcs.Options(relative_to="longer")),
    "lcs-shorter": lambda: Lcs(Lcs.Options(relative_to="shorter")),
    "jaccard": lambda: Jaccard(Jaccard.Options()),
}
TELLING = [name for name in MAKERS if name != "jaccard"]

Member = tuple[str, float]
"""Name of a verifier, and how far its threshold is from the pair's own score; 0.0 = exactly on it."""


@st.composite
def pairs_of_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts that have much in common, in order or not: a text and an edited copy of it, in either order."""
    many = "".join(map(chr, range(0x4E00, 0x4F00)))
    letters = draw(st.sampled_from(["ab", "abcdefgh", "猫狗鸟喊你回家abc\ud800", many]))
    base = draw(st.text(alphabet=letters, max_size=60)) * draw(st.sampled_from([1, 1, 1, 1, 9]))
    characters = list(base)
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, len(characters)))
        characters[place : place + draw(st.integers(0, 2))] = draw(st.text(alphabet=letters + "z", max_size=2))
    texts = (base, "".join(characters))
    return texts if draw(st.booleans()) else texts[::-1]


def context_of(texts: Sequence[str]) -> VerifierContext:
    return VerifierContext(texts, CharNgrams(CharNgrams.Options()), 128, 1)


def judge_of(name: str, threshold: float, context: VerifierContext) -> SingleJudge:
    verifier = MAKERS[name]()
    verifier.prepare(context)
    return SingleJudge(verifier, 0, name, threshold)


def near_score(name: str, step: float, context: VerifierContext) -> SingleJudge:
    """The verifier with a threshold at the score of the pair, or so far from it, within 0.0 and 1.0."""
    score = judge_of(name, ALL_SCORES, context).judge(make_pairs([(0, 1)])).scores[0]
    return judge_of(name, float(np.clip(score + step, 0.0, 1.0)), context)


def shares_of(judge: Judge) -> tuple[np.float32, np.float32]:
    """What the judge tells, rounded as the limits of the texts hold it."""
    told = judge.least_in_common()
    return np.float32(told.of_shorter), np.float32(told.of_longer)


def is_listed(judge: Judge, context: VerifierContext) -> bool:
    """Whether stage 1 lists the pair: what the shorter text lacks leaves it open."""
    sketches = sketch_texts(context.texts, 1)
    shorter, longer = sorted((0, 1), key=lambda text: len(context.texts[text]))
    lengths = len(context.texts[shorter]), len(context.texts[longer])
    needed = from_python(least_common)(*lengths, *shares_of(judge))
    return int(from_python(count_lacking)(tuple(sketches[shorter]), tuple(sketches[longer]))) <= lengths[0] - needed


def is_accepted(judge: Judge) -> bool:
    return bool(judge.judge(make_pairs([(0, 1)])).accepted[0])


members = st.tuples(st.sampled_from(sorted(MAKERS)), st.sampled_from([0.0, 0.0, 1e-9, -1e-9, -0.05, 0.05, -0.3]))


@pytest.mark.parametrize("name", TELLING)
@examples(300)
@given(texts=pairs_of_texts())
@example(texts=("a" * 300, "a" * 300))
@example(texts=("a" * 300 + "b", "a" * 255))
@example(texts=("", ""))
@example(texts=("", "a"))
def test_pair_on_the_threshold_is_listed(name: str, texts: tuple[str, str]) -> None:
    context = context_of(texts)
    judge = near_score(name, 0.0, context)
    assert is_accepted(judge)
    assert is_listed(judge, context)


@pytest.mark.parametrize("combined", [AllOf, AnyOf])
@examples(400)
@given(texts=pairs_of_texts(), chosen=st.lists(members, min_size=1, max_size=4))
def test_pair_that_members_accept_is_listed(
    combined: type[AllOf] | type[AnyOf], texts: tuple[str, str], chosen: list[Member]
) -> None:
    context = context_of(texts)
    judge = combined([near_score(name, step, context) for name, step in chosen])
    assert is_listed(judge, context) or not is_accepted(judge)


@pytest.mark.parametrize("threshold", ["0.5", "0.6", "0.75", "0.8", "0.85", "0.9", "0.95"])
@pytest.mark.parametrize("name", ["edit-indel", "edit-levenshtein", "lcs-longer"])
def test_pair_with_one_character_too_many_is_not_listed(name: str, threshold: str) -> None:
    pairs = list(pairs_on(Fraction(threshold), "indel" if name == "edit-indel" else "levenshtein", 254))
    assert pairs
    for a, b in pairs:
        for longer, expected in ((b, True), (b + "z", False)):
            context = context_of([a, longer])
            assert is_listed(judge_of(name, float(threshold), context), context) is expected


@pytest.mark.parametrize("threshold", ["0.5", "0.8", "0.9", "0.95"])
def test_contained_text_is_listed_until_it_has_too_many_other_characters(threshold: str) -> None:
    n, longer = 20, "x" * 20 + "w" * 9
    n_common = int(n * Fraction(threshold))
    for n_others, expected in ((n - n_common, True), (n - n_common + 1, False)):
        shorter = "x" * (n - n_others) + other_letter(longer, n_others) * n_others
        context = context_of([shorter, longer])
        assert is_listed(judge_of("lcs-shorter", float(threshold), context), context) is expected


def other_letter(text: str, n: int) -> str:
    """A letter of which ``n`` have no bit of the sketch in common with each other or with the text."""
    for letter in "abcdefghijklmnopqrstuv":
        one, other = sketch_texts([text, letter * n], 1)
        if np.bitwise_count(other).sum() == n and not (one & other).any():
            return letter
    raise AssertionError("every letter shares a bit with the text")


@pytest.mark.parametrize(("combined", "asked"), [(AllOf, LeastInCommon(0.4, 0.4)), (AnyOf, LeastInCommon(0.0, 0.0))])
def test_of_a_member_that_does_not_tell_any_pair_is_listed(combined: type[AllOf | AnyOf], asked: LeastInCommon) -> None:
    """With `any`, where it could accept the pair; `all` goes by the others."""
    members = [judge_of(name, 0.8, context_of([])) for name in ("edit-indel", "jaccard")]
    assert combined(members).least_in_common() == asked
