"""Long texts are compared section by section: never above the truth, equal to it for near-equal texts, and bounded."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

import hybriddup
from hybriddup.data.records import encode_texts
from hybriddup.steps.tokenizers.char_ngrams import CharNgrams
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.characters import common_lengths
from hybriddup.steps.verifiers.edit import Edit, Lcs
from hybriddup.steps.verifiers.sections import LONGEST_EXACT, SECTION, cuts_of
from tests.builders import make_pairs

HAN = [chr(point) for point in range(0x4E00, 0x5E00)]
N = 3 * LONGEST_EXACT


def random_text(seed: int, n: int = N, letters: list[str] = HAN) -> str:
    """A text in which some characters are far more frequent than others."""
    rng = np.random.default_rng(seed)
    return "".join(np.array(letters)[(rng.pareto(0.5, n) * len(letters) / 50).astype(np.int64) % len(letters)])


def edited(text: str, n_edits: int, seed: int) -> str:
    """A copy with characters replaced, dropped and put in, anywhere."""
    rng = np.random.default_rng(seed)
    characters = list(text)
    for place in rng.integers(0, len(text), n_edits).tolist():
        characters[place] = ("", "字", characters[place] + "加")[place % 3]
    return "".join(characters)


BASE = random_text(1)
WORDS = " ".join(random_text(place, 6, list("abcdefghijklmnop")) for place in range(N // 7))
INSERTED = random_text(2, N // 2)
NEAR = {
    "one character": (BASE, BASE[: N // 2] + "X" + BASE[N // 2 + 1 :]),
    "spread edits": (BASE, edited(BASE, N // 100, 3)),
    "a fifth edited": (BASE, edited(BASE, N // 5, 4)),
    "letters edited": (WORDS, edited(WORDS, N // 20, 5)),
    "a long insertion": (BASE, BASE[:9000] + INSERTED + BASE[9000:]),
    "cut at both ends": (BASE, edited(BASE[3000:-3000], 500, 6)),
    "a paragraph moved": (BASE, BASE[:2000] + BASE[4000:12_000] + BASE[2000:4000] + BASE[12_000:]),
    "equal": (BASE, BASE),
}
PERIOD = random_text(7, 900) * (N // 900)
FAR = {
    "unrelated": (BASE, random_text(8)),
    "shuffled words": (WORDS, " ".join(np.random.default_rng(9).permutation(WORDS.split()))),
    "halves swapped": (BASE, BASE[N // 2 :] + BASE[: N // 2]),
    "periodic": (edited(PERIOD, N // 5, 10), edited(PERIOD, N // 5, 11)),
    "one letter": ("a" * N, "a" * (N - 5000) + "b" * 9000),
    "two letters": (random_text(12, N, ["a", "b"]), random_text(13, N, ["a", "b"])),
}


def in_common(*texts: str, pair: tuple[int, int] = (0, 1)) -> int:
    """What two of some texts have in common, as verifiers count it."""
    return int(common_lengths(encode_texts(texts), np.array(pair[:1]), np.array(pair[1:]))[0])


@pytest.mark.parametrize("name", NEAR)
def test_long_near_texts_have_in_common_what_rapidfuzz_says(name: str) -> None:
    assert in_common(*NEAR[name]) == LCSseq.similarity(*NEAR[name])


@pytest.mark.parametrize("name", FAR)
def test_other_long_texts_are_never_said_to_be_more_alike_than_they_are(name: str) -> None:
    exact = LCSseq.similarity(*FAR[name])
    assert 0.85 * exact <= in_common(*FAR[name]) <= exact


@pytest.mark.parametrize("name", [*NEAR, *FAR])
def test_what_long_texts_have_in_common_depends_on_the_two_alone(name: str) -> None:
    """The other way round, and among other texts that number the characters otherwise."""
    a, b = (NEAR | FAR)[name]
    assert in_common(a, b) == in_common(b, a) == in_common("字母", INSERTED, a, b, pair=(3, 2))


@pytest.mark.parametrize("name", [*NEAR, *FAR])
def test_sections_cover_both_texts_and_are_short(name: str) -> None:
    a, b = (encode_texts([text]).code_points for text in (NEAR | FAR)[name])
    for of_a, of_b in cuts_of(a, b):
        n_before, n_after = int(of_a[0]), len(a) - int(of_a[-1])
        assert (n_before, n_after) == (int(of_b[0]), len(b) - int(of_b[-1]))
        assert a[:n_before].tolist() == b[:n_before].tolist()
        assert a[len(a) - n_after :].tolist() == b[len(b) - n_after :].tolist()
        sizes = np.minimum(np.diff(of_a), np.diff(of_b))
        assert (np.diff(of_a) >= 0).all()
        assert (np.diff(of_b) >= 0).all()
        assert len(sizes) == 1 or sizes.max() <= 2 * SECTION
        assert sizes.max() <= LONGEST_EXACT


def test_texts_are_exact_up_to_a_length() -> None:
    short = edited(random_text(14, LONGEST_EXACT), 3000, 15)[:LONGEST_EXACT]
    assert in_common(short, BASE) == LCSseq.similarity(short, BASE)
    ends = random_text(16, 9000)
    a, b = (ends + text + ends for text in (short, random_text(17, 7000)))
    assert in_common(a, b) == LCSseq.similarity(a, b)


def score(verifier: Edit | Lcs, a: str, b: str, threshold: float) -> float:
    verifier.prepare(VerifierContext([a, b], CharNgrams(CharNgrams.Options()), 128, workers=1))
    return float(verifier.score_pairs(make_pairs([(0, 1)]), np.array([threshold]))[0])


@pytest.mark.parametrize("threshold", [0.0, 0.8])
@pytest.mark.parametrize("name", ["spread edits", "a long insertion", "cut at both ends"])
def test_edit_scores_long_near_texts_exactly(name: str, threshold: float) -> None:
    for distance, scorer in (("indel", Indel), ("levenshtein", Levenshtein)):
        exact = scorer.normalized_similarity(*NEAR[name])
        found = score(Edit(Edit.Options(distance=distance)), *NEAR[name], threshold)  # type: ignore[arg-type]
        assert found == pytest.approx(exact, abs=1e-12) if exact >= threshold else found < threshold


@pytest.mark.parametrize("name", ["shuffled words", "periodic", "halves swapped"])
def test_edit_never_scores_other_long_texts_too_high(name: str) -> None:
    """Of the ways to turn one into the other, one is counted that need not be the shortest."""
    for distance, scorer in (("indel", Indel), ("levenshtein", Levenshtein)):
        found = score(Edit(Edit.Options(distance=distance)), *FAR[name], 0.0)  # type: ignore[arg-type]
        assert found <= scorer.normalized_similarity(*FAR[name]) + 1e-12


@pytest.mark.parametrize("name", NEAR)
def test_lcs_finds_long_texts_that_are_contained(name: str) -> None:
    a, b = NEAR[name]
    exact = LCSseq.similarity(a, b) / min(len(a), len(b))
    assert score(Lcs(Lcs.Options(relative_to="shorter")), a, b, 0.5) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("name", ["one character", "spread edits", "a long insertion", "a paragraph moved"])
def test_long_near_posts_are_repeats(name: str) -> None:
    a, b = NEAR[name]
    assert hybriddup.dedupe([a, b]).kept == [0]
    assert hybriddup.explain(a, b).matches
    with hybriddup.Window.open() as window:
        assert [window.add(text).kept for text in (a, b)] == [True, False]


def test_equal_long_posts_alone_have_all_in_common() -> None:
    for at in (0, 1, 10_000, N - 1):
        for other in (BASE[:at] + "加" + BASE[at:], BASE[:at] + BASE[at + 1 :], BASE[:at] + "加" + BASE[at + 1 :]):
            assert in_common(BASE, other) < max(len(BASE), len(other))
    assert in_common(BASE, BASE) == N


def test_near_pairs_of_many_long_texts_are_batches_of_bounded_size() -> None:
    texts = [edited(BASE, 100 * place, place) for place in range(6)]
    verifier = Edit(Edit.Options())
    verifier.prepare(VerifierContext(texts, CharNgrams(CharNgrams.Options()), 128, workers=1))
    pairs = make_pairs(list(pairwise(range(6))))
    exact = [Indel.normalized_similarity(a, b) for a, b in pairwise(texts)]
    assert verifier.score_pairs(pairs, np.zeros(5)).tolist() == pytest.approx(exact, abs=1e-12)


PEAK = """
import resource, sys, numpy as np, hybriddup
text = "".join(map(chr, np.random.default_rng(1).integers(0x4E00, 0x9FA5, {n})))
hybriddup.dedupe([text[:9000], text[10:9000]])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert hybriddup.dedupe([text, text[: {n} // 2] + "X" + text[{n} // 2 :]]).kept == [0]
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> (20 if sys.platform == "darwin" else 10))
"""


@pytest.mark.slow
def test_memory_for_a_pair_grows_with_its_length() -> None:
    """A table of all places of all characters would take 1 GB for these."""
    command = [sys.executable, "-c", PEAK.format(n=400_000)]
    assert int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) < 500
