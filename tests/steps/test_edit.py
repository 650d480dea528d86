"""The `edit` verifier against exact fractions, on every threshold, in the kernel and beyond it."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel, Levenshtein

from hybriddup.steps.tokenizers.char_ngrams import CharNgrams
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.edit import Edit
from tests import reference
from tests.builders import make_pairs
from tests.steps.test_verifiers import THRESHOLDS

Distance = Literal["indel", "levenshtein"]
SIMILARITY = {"indel": reference.indel_similarity, "levenshtein": reference.levenshtein_similarity}
distances = pytest.mark.parametrize("distance", SIMILARITY)
few_letters = st.lists(st.text(alphabet="ab好\ud800\0", max_size=10), min_size=2, max_size=4)


def score(texts: list[str], threshold: float, distance: Distance, pairs: list[tuple[int, int]]) -> list[float]:
    verifier = Edit(Edit.Options(distance=distance))
    tokenizer = CharNgrams(CharNgrams.Options())
    verifier.prepare(VerifierContext(texts, tokenizer, 128, workers=1))
    candidates = make_pairs(pairs)
    return verifier.score_pairs(candidates, np.full(len(pairs), threshold)).tolist()


def score_one(a: str, b: str, threshold: float, distance: Distance) -> float:
    return score([a, b], threshold, distance, [(0, 1)])[0]


def pairs_on(threshold: Fraction, distance: Distance, max_length: int) -> Iterator[tuple[str, str]]:
    """Pairs of texts whose similarity is exactly the threshold: every length of the shorter up to a maximum."""
    for n in range(1, max_length):
        partner = n * (2 - threshold) / threshold if distance == "indel" else n / threshold
        if partner.denominator == 1:
            yield "x" * n, "x" * n + "y" * (int(partner) - n)


@distances
@pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
def test_pairs_match_up_to_the_threshold_and_no_farther(distance: Distance, threshold: Fraction) -> None:
    """Every pair up to 400 characters whose exact fraction is the threshold matches; with one character more, none.

    So do the bounds by length say, which cost no match and spare what cannot be one.
    """
    pairs = list(pairs_on(threshold, distance, 400))
    assert pairs
    places = [(2 * place, 2 * place + 1) for place in range(len(pairs))]
    on = score([text for pair in pairs for text in pair], float(threshold), distance, places)
    under = score([text for a, b in pairs for text in (a, b + "z")], float(threshold), distance, places)
    assert max(under) < float(threshold) <= min(on)
    shorter = np.array([len(a) for a, _ in pairs], np.int32)
    longest = Edit(Edit.Options(distance=distance)).max_partner_lengths(shorter, float(threshold))
    assert longest.tolist() == [len(b) for _, b in pairs]


@distances
@given(texts=few_letters)
def test_scores_equal_the_exact_fraction(distance: Distance, texts: list[str]) -> None:
    pairs = [(a, b) for b in range(len(texts)) for a in range(b)]
    assert score(texts, 0.0, distance, pairs) == [float(SIMILARITY[distance](texts[a], texts[b])) for a, b in pairs]


@distances
@given(texts=few_letters, threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_scores_below_the_threshold_may_be_bounds_only(distance: Distance, texts: list[str], threshold: float) -> None:
    pairs = [(a, b) for b in range(len(texts)) for a in range(b)]
    cut = score(texts, threshold, distance, pairs)
    for given_score, exact in zip(cut, score(texts, 0.0, distance, pairs), strict=True):
        assert given_score == exact if exact >= threshold else given_score < threshold


def random_edits(rng: np.random.Generator, n: int, n_edits: int) -> tuple[str, str]:
    """A random text of ``n`` characters, and a copy with some of them replaced."""
    characters = rng.choice(list("abcdefg喊你回家"), n)
    copy = characters.copy()
    copy[rng.choice(n, n_edits, replace=False)] = "Z"
    return "".join(characters), "".join(copy)


@distances
@pytest.mark.parametrize("n", [63, 64, 65, 128, 129, 500, 8192, 8193, 9000, 16_385])
def test_long_texts_are_scored_like_short_ones(distance: Distance, n: int) -> None:
    rng = np.random.default_rng(n)
    scorer = Indel if distance == "indel" else Levenshtein
    for n_edits in (0, n // 20, n // 10, n // 5, n // 2):
        a, b = random_edits(rng, n, n_edits)
        exact, given_score = scorer.normalized_similarity(a, b), score_one(a, b, 0.8, distance)
        if exact >= 0.8:
            assert given_score == pytest.approx(exact, abs=1e-12)
        else:
            assert given_score < 0.8


def test_texts_past_the_kernel_are_accepted_on_the_threshold() -> None:
    assert score_one("ab" * 5000, "ab" * 5000 + "c" * 5000, 0.8, "indel") == 0.8


@distances
def test_pairs_in_any_slices_score_the_same(distance: Distance) -> None:
    rng = np.random.default_rng(9)
    texts = ["", "a", *(text for _ in range(9) for text in random_edits(rng, 40, int(rng.integers(0, 30))))]
    texts += [text for _ in range(2) for text in random_edits(rng, 150, 20)]
    pairs = make_pairs([(a, b) for b in range(len(texts)) for a in range(b)])
    pairs = pairs.take(np.arange(len(pairs))[::-1])
    exact = [float(SIMILARITY[distance](texts[a], texts[b])) for a, b in zip(pairs.earlier, pairs.later, strict=True)]
    for threshold in (0.0, 0.5, 0.8):
        expected = [score if score >= threshold else None for score in exact]
        for workers, n_times in ((1, 1), (1, 4), (3, 4)):
            verifier = Edit(Edit.Options(distance=distance))
            verifier.prepare(VerifierContext(texts, CharNgrams(CharNgrams.Options()), 128, workers))
            repeated = pairs.take(np.tile(np.arange(len(pairs)), n_times))
            scores = verifier.score_pairs(repeated, np.full(len(repeated), threshold))
            assert [score if score >= threshold else None for score in scores.tolist()] == n_times * expected


@distances
def test_long_pairs_among_short_ones_score_as_if_alone(distance: Distance) -> None:
    rng = np.random.default_rng(3)
    texts = [text for n in (40, 9000, 70) for text in random_edits(rng, n, n // 20)]
    pairs = [(a, b) for b in range(len(texts)) for a in range(b)]
    scores = score(texts, 0.8, distance, pairs)
    assert scores == [score_one(texts[a], texts[b], 0.8, distance) for a, b in pairs]
    assert sum(value >= 0.8 for value in scores) == 3


@given(st.lists(st.integers(0, 500), min_size=1, max_size=20), st.sampled_from(THRESHOLDS))
def test_longest_partner_equals_trying_each_length(lengths: list[int], threshold: Fraction) -> None:
    longest = Edit(Edit.Options()).max_partner_lengths(np.array(lengths, np.int32), float(threshold)).tolist()
    for length, partner in zip(lengths, longest, strict=True):
        assert partner >= length
        if length:
            assert 2 * length / (length + partner) >= float(threshold) > 2 * length / (length + partner + 1)
