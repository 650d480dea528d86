"""The verifiers against their slow twins, and every one of them on its thresholds."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.config.read import read_config, shipped_names
from hybriddup.data.records import CandidatePairs, Tokens, tokens_from_lists
from hybriddup.steps.verifiers import Verifier, VerifierContext, bounds, features
from hybriddup.steps.verifiers.bounds import positions_of
from hybriddup.steps.verifiers.cosine import Cosine
from hybriddup.steps.verifiers.edit import Edit, Lcs
from hybriddup.steps.verifiers.features import Jaccard
from hybriddup.steps.verifiers.hamming import Hamming
from tests import reference
from tests.builders import examples

short_texts = st.text(alphabet="ab好\ud800\0", max_size=12)
word_texts = st.lists(st.sampled_from(["big", "cat", "猫", "a", "b", "sat", "\0\0\0\0x"]), max_size=8).map(" ".join)


class SplitAtSpaces:
    """A tokenizer that needs no kernel."""

    holds_interpreter = False

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([text.split(" ") for text in texts])


def all_pairs(n_texts: int, distance: int = 0) -> CandidatePairs:
    """Every pair of texts, sorted by later, then earlier."""
    later, earlier = np.tril_indices(n_texts, -1)
    return CandidatePairs(earlier.astype(np.int64), later.astype(np.int64), np.full(len(later), distance, np.int32))


def score_all(
    verifier: Verifier, texts: list[str], threshold: float = 0.0, distance: int = 0, bits: int = 128, workers: int = 1
) -> dict[tuple[int, int], float]:
    verifier.prepare(VerifierContext(texts, SplitAtSpaces(), bits, workers))
    pairs = all_pairs(len(texts), distance)
    scores = verifier.score_pairs(pairs, np.full(len(pairs), threshold))
    assert scores.dtype == np.float64
    assert scores.shape == (len(pairs),)
    places = zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)
    return dict(zip(places, scores.tolist(), strict=True))


def score_two(verifier: Verifier, a: str, b: str, threshold: float = 0.0) -> float:
    return score_all(verifier, [a, b], threshold)[0, 1]


class OnThreshold(NamedTuple):
    """Texts of which the first two score exactly a threshold, made of whole numbers."""

    texts: list[str]
    distance: int = 0
    bits: int = 128


def letters(n: int, first: int) -> str:
    return "".join(chr(first + place) for place in range(n))


def texts_in_common(threshold: Fraction, less: int) -> OnThreshold:
    """Two texts of 6 x denominator characters with 6 x numerator in common, or ``less``."""
    length, n_common = 6 * threshold.denominator, 6 * threshold.numerator - less
    common = letters(n_common, 0x4E00)
    rest = length - n_common
    return OnThreshold([common + letters(rest, 0x8000), common + letters(rest, 0x9000)])


def words_in_common(threshold: Fraction, less: int) -> OnThreshold:
    """Two texts of which the share of common words among all distinct words is the threshold, or one word less."""
    n_common, n_all = 6 * threshold.numerator - less, 6 * threshold.denominator
    common = letters(n_common, 0x4E00)
    others = letters(n_all - n_common, 0x8000)
    half = len(others) // 2
    return OnThreshold([" ".join(common + others[:half]), " ".join(others[half:] + common)])


def four_squares(n: int) -> list[int]:
    """Whole numbers whose squares add up to ``n``; Lagrange: four are always enough."""
    for a in range(isqrt(n), -1, -1):
        for b in range(isqrt(n - a * a), -1, -1):
            for c in range(isqrt(n - a * a - b * b), -1, -1):
                d = isqrt(n - a * a - b * b - c * c)
                if a * a + b * b + c * c + d * d == n:
                    return [a, b, c, d]
    raise AssertionError(n)


def angle_of(threshold: Fraction, less: int) -> OnThreshold:
    """``x`` and a vector of length denominator whose part along ``x`` is the numerator; with ``less``, one less.

    Two more texts hold the other words, so that every word stands in as many texts as the others.
    """
    along, length = threshold.numerator, threshold.denominator
    others = four_squares(length**2 - along**2)
    words = [word for word, n in zip("pqrs", others, strict=True) for _ in range(n)]
    if less:
        words += ["t"]
    return OnThreshold(["x", " ".join(["x"] * along + words), " ".join(sorted(set(words)))])


def bits_in_common(threshold: Fraction, less: int) -> OnThreshold:
    bits = 64 * threshold.denominator
    return OnThreshold(["a", "b"], distance=bits - 64 * threshold.numerator + less, bits=bits)


CASES: dict[str, tuple[Callable[[], Verifier], Callable[[Fraction, int], OnThreshold]]] = {
    "edit": (lambda: Edit(Edit.Options()), texts_in_common),
    "edit levenshtein": (lambda: Edit(Edit.Options(distance="levenshtein")), texts_in_common),
    "lcs": (lambda: Lcs(Lcs.Options()), texts_in_common),
    "lcs of the shorter": (lambda: Lcs(Lcs.Options(relative_to="shorter")), texts_in_common),
    "jaccard": (lambda: Jaccard(Jaccard.Options()), words_in_common),
    "cosine": (lambda: Cosine(Cosine.Options()), angle_of),
    "cosine without idf": (lambda: Cosine(Cosine.Options(idf=False)), angle_of),
    "hamming": (Hamming, bits_in_common),
}


def find_thresholds(written: Any) -> set[Fraction]:
    """Every ``threshold`` in a configuration, as the decimal fraction that it was written as."""
    if isinstance(written, dict):
        found = {Fraction(str(written["threshold"]))} if "threshold" in written else set()
        return found.union(*map(find_thresholds, written.values()))
    return set().union(*map(find_thresholds, written)) if isinstance(written, list) else set()


def shipped_thresholds() -> set[Fraction]:
    return set().union(*(find_thresholds(read_config(name).data) for name in shipped_names()))


FIVE_HUNDREDTHS = {Fraction(n, 20) for n in range(12, 20)}
NOT_DECIMAL = {Fraction(k, n) for n in (3, 7, 9, 11, 17) for k in range(n // 2 + 1, n)}
THRESHOLDS = sorted(shipped_thresholds() | FIVE_HUNDREDTHS | NOT_DECIMAL)


@pytest.mark.parametrize("name", CASES)
def test_pairs_match_on_the_threshold_and_not_one_step_under_it(name: str) -> None:
    make, build = CASES[name]
    for threshold in THRESHOLDS:
        under, on = (
            score_all(make(), pair.texts, float(threshold), distance=pair.distance, bits=pair.bits)[0, 1]
            for pair in (build(threshold, 1), build(threshold, 0))
        )
        assert under < float(threshold) <= on, threshold


def test_configurations_that_ship_are_among_the_thresholds() -> None:
    assert shipped_thresholds()


def test_angle_on_the_threshold_has_words_of_equal_frequency() -> None:
    """With IDF, the cosine is only exact where every word weighs the same, so that the case tests what it says."""
    texts = angle_of(Fraction(4, 5), 0).texts
    idf = reference.inverse_document_frequencies([text.split() for text in texts])
    assert len({idf(word) for text in texts for word in text.split()}) == 1


@given(st.lists(short_texts, min_size=2, max_size=4), st.sampled_from(["longer", "shorter"]))
@examples(60)
def test_lcs_equals_its_plain_twin(texts: list[str], relative_to: str) -> None:
    scores = score_all(Lcs(Lcs.Options(relative_to=relative_to)), texts)
    for (a, b), score in scores.items():
        assert score == float(reference.lcs_similarity(texts[a], texts[b], relative_to))


def test_megabyte_posts_of_different_words_are_refused_at_once() -> None:
    """Two long posts with too few characters in common never reach the quadratic part."""
    a, b = "ab" * 500_000, "cd" * 500_000
    assert score_two(Lcs(Lcs.Options()), a, b, 0.8) < 0.8


@given(st.lists(word_texts, min_size=2, max_size=5))
@examples(60)
def test_jaccard_of_tokens_equals_its_plain_twin(texts: list[str]) -> None:
    for (a, b), score in score_all(Jaccard(Jaccard.Options()), texts).items():
        words = [[word for word in texts[i].split(" ") if word] for i in (a, b)]
        expected = reference.jaccard(*words) if any(words) else Fraction(int(texts[a] == texts[b]))
        assert score == float(expected)


@given(st.lists(short_texts, min_size=2, max_size=5), st.integers(1, 5))
@examples(60)
def test_jaccard_of_character_ngrams_equals_its_plain_twin(texts: list[str], size: int) -> None:
    verifier = Jaccard(Jaccard.Options(features="char_ngrams", size=size))
    for (a, b), score in score_all(verifier, texts).items():
        pieces = [reference.char_ngrams(texts[i], size) for i in (a, b)]
        expected = reference.jaccard(*pieces) if any(pieces) else Fraction(int(texts[a] == texts[b]))
        assert score == float(expected)


@pytest.mark.parametrize("make", [Jaccard, Cosine], ids=["jaccard", "cosine"])
def test_texts_without_any_token_do_not_match_unless_equal(make: Any) -> None:
    assert score_all(make(make.Options()), ["", " ", " "]) == {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 1.0}


@given(st.lists(word_texts, min_size=2, max_size=6), st.booleans())
@examples(60)
def test_cosine_equals_its_plain_twin(texts: list[str], idf: bool) -> None:
    words = [[word for word in text.split(" ") if word] for text in texts]
    weight_of = reference.inverse_document_frequencies(words) if idf else lambda _: 1.0
    for (a, b), score in score_all(Cosine(Cosine.Options(idf=idf)), texts).items():
        both_empty = not words[a] and not words[b]
        expected = float(texts[a] == texts[b]) if both_empty else reference.cosine(words[a], words[b], weight_of)
        assert score == pytest.approx(expected, abs=1.5e-12)
        assert score <= 1.0


@given(word_texts, word_texts, st.integers(1, 20), st.integers(1, 20))
@examples(100)
def test_cosine_of_counts_is_accepted_exactly_where_whole_numbers_say_so(a: str, b: str, p: int, q: int) -> None:
    threshold = Fraction(min(p, q), max(p, q))
    words = [[word for word in text.split(" ") if word] for text in (a, b)]
    if any(words):
        score = score_two(Cosine(Cosine.Options(idf=False)), a, b, float(threshold))
        assert (score >= float(threshold)) == reference.cosine_reaches(*words, threshold)


def test_cosine_weights_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ["big cat sat", "big cat cat", "the cat", "sat the big big cat", "dog"]
    vectors = TfidfVectorizer(analyzer=str.split).fit_transform(texts)
    expected = (vectors @ vectors.T).toarray()
    for (a, b), score in score_all(Cosine(Cosine.Options()), texts).items():
        assert score == pytest.approx(expected[a, b], abs=1e-12)


def test_idf_learns_from_a_sample_spread_over_the_run() -> None:
    texts = ["cat sat", "cat big", "sat big", "cat cat"]
    weight_of = reference.inverse_document_frequencies([texts[0].split(), texts[2].split()])
    scores = score_all(Cosine(Cosine.Options(idf_sample=2)), texts)
    expected = reference.cosine(texts[0].split(), texts[1].split(), weight_of)
    assert scores[0, 1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("holds_interpreter", [False, True])
def test_idf_learned_in_many_batches_is_that_of_all_texts(
    holds_interpreter: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SplitAtSpaces, "holds_interpreter", holds_interpreter)
    rng = np.random.default_rng(8)
    texts = [" ".join(map(str, rng.integers(0, 60, 6))) for _ in range(2500)]
    split = [text.split() for text in texts]
    weight_of = reference.inverse_document_frequencies(split)
    verifier = Cosine(Cosine.Options())
    verifier.prepare(VerifierContext(texts, SplitAtSpaces(), 128, 1))
    scores = verifier.score_pairs(all_pairs(20), np.zeros(190)).tolist()
    expected = [reference.cosine(split[a], split[b], weight_of) for b in range(20) for a in range(b)]
    assert scores == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("distance", "expected"), [(0, 1.0), (32, 0.75), (128, 0.0)])
def test_hamming_scores_the_share_of_equal_bits(distance: int, expected: float) -> None:
    assert score_all(Hamming(), ["a", "b"], distance=distance) == {(0, 1): expected}


# --- what holds for all of them, beside the contract that `tests.contracts` checks ---


@pytest.mark.parametrize("name", CASES)
def test_score_depends_on_its_pair_alone(name: str) -> None:
    rng = np.random.default_rng(2)
    texts = [" ".join(map(str, rng.integers(0, 300, rng.integers(1, 20)))) for _ in range(25)]
    verifier = CASES[name][0]()
    together = score_all(verifier, texts, distance=9)
    pairs = all_pairs(len(texts), 9)
    alone = [verifier.score_pairs(pairs.take(np.array([i])), np.zeros(1)).item() for i in range(len(pairs))]
    in_batches = verifier.score_pairs(pairs.take(np.tile(np.arange(len(pairs)), 40)), np.zeros(40 * len(pairs)))
    assert alone == list(together.values())
    assert 40 * alone == in_batches.tolist()


@pytest.mark.parametrize("name", CASES)
def test_scores_do_not_depend_on_the_workers(name: str) -> None:
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice(list("abcdef"), 40)) for _ in range(90)]
    one, two = (score_all(CASES[name][0](), texts, 0.5, distance=3, workers=workers) for workers in (1, 2))
    assert one == two


lengths_and_thresholds = (st.integers(0, 5000), st.integers(1, 40), st.integers(1, 40))


@given(*lengths_and_thresholds)
def test_longest_partner_is_the_last_that_reaches_the_threshold(length: int, p: int, q: int) -> None:
    threshold = min(p, q) / max(p, q)
    longest = int(bounds.longest_partners(np.array([length], np.int32), threshold)[0])
    assert longest == 0 if length == 0 else length / longest >= threshold > length / (longest + 1)


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
def test_longest_partner_is_exact_for_every_shipped_threshold(threshold: Fraction) -> None:
    lengths = np.arange(1, 400, dtype=np.int32)
    expected = [length * threshold.denominator // threshold.numerator for length in lengths.tolist()]
    assert bounds.longest_partners(lengths, float(threshold)).tolist() == expected


@given(*lengths_and_thresholds)
@example(99, 11, 20)
def test_smallest_count_is_the_first_that_reaches_the_threshold(total: int, p: int, q: int) -> None:
    threshold, total = min(p, q) / max(p, q), total + 1
    count = int(bounds.smallest_counts(np.array([threshold]), np.array([total]))[0])
    assert count / total >= threshold > (count - 1) / total


@pytest.mark.parametrize(("length", "threshold"), [(0, 0.0), (5, 0.0), (10**6, 1e-9)])
def test_no_threshold_and_a_tiny_one_mean_no_bound(length: int, threshold: float) -> None:
    assert bounds.longest_partners(np.array([length], np.int32), threshold).tolist() == [bounds.NO_BOUND]


def test_counting_does_not_change_the_tokens() -> None:
    tokens = tokens_from_lists([["b", "a", "b"], [], ["a"]])
    before = [column.copy() for column in tokens]
    features.count_features(tokens)
    assert all((now == then).all() for now, then in zip(tokens, before, strict=True))


@given(st.integers(0, 60), st.sampled_from([3, 40, 10_000]), st.integers(0, 1000))
def test_texts_of_pairs_are_numbered_in_order(n: int, span: int, least: int) -> None:
    rng = np.random.default_rng(n * span + least)
    earlier, later = rng.integers(0, span, (2, n)) + least
    positions, one, other = positions_of(earlier, later)
    assert positions.tolist() == sorted({*earlier.tolist(), *later.tolist()})
    assert positions[one].tolist() == earlier.tolist()
    assert positions[other].tolist() == later.tolist()
