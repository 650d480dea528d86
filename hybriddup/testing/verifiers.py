"""Contract check for verifiers: range and symmetry of scores, thresholds, bounds, and loading of learned data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from hybriddup.data.records import CandidatePairs, Float64s, Tokens, text_lengths, tokens_from_lists
from hybriddup.kernels.search.pair_limits import least_common
from hybriddup.run.recipe import pack_arrays, unpack_arrays
from hybriddup.steps.verifiers import KEEPING, VerifierContext, keeps_learning
from hybriddup.testing.contract import Subject
from hybriddup.testing.texts import ALL_TEXTS

WIDTH = 128
TOLERANCE = 1e-12
"""Largest allowed difference of two scores that should be equal: a verifier may add numbers in different orders, and
round the sums to 12 decimals."""
MARGIN = 1e-9
"""Difference between a score and the slightly higher threshold at which the pair must be rejected."""
ALONE_EVERY = 5
"""One of this many pairs is also scored alone, because its score must not depend on the rest of the batch."""
THRESHOLDS = (0.0, 0.3, 0.5, 0.75, 0.8, 0.85, 0.9, 1.0)


class _Characters:
    """Tokenizer of the check: one token per character."""

    holds_interpreter = False

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([list(text) for text in texts])


def check_verifier(component: Any, **options: Any) -> None:
    """Check that a verifier keeps its contract; see `hybriddup.testing`."""
    subject = Subject("verifier", component, options)
    texts = _texts()
    pairs = _pairs(texts)
    verifier = _prepared(subject, texts)
    with subject.clause("pairs of any texts are scored, including nasty ones"):
        scores = verifier.score_pairs(pairs, np.zeros(len(pairs)))
    _check_scores(subject, texts, pairs, scores)
    _check_batches(subject, texts, pairs, scores)
    _check_thresholds(subject, verifier, texts, pairs, scores)
    _check_lengths(subject, verifier, texts, pairs, scores)
    _check_characters(subject, verifier, texts, pairs, scores)
    _check_learning(subject, verifier, texts, pairs, scores)
    subject.check_recipe(verifier)


def _texts() -> list[str]:
    """Return sample texts that are not blank, then edited copies of some of them, then the sample texts again."""
    rng = np.random.default_rng(7)
    originals = [text[:400] for text in ALL_TEXTS if text.strip()]
    edited = []
    for text in originals[:8] * 3:
        n_left = int(rng.integers(1, len(text) + 1))
        edited.append("".join(text[place] for place in sorted(rng.choice(len(text), n_left, replace=False).tolist())))
    return [*originals, *edited, *originals]


def _pairs(texts: Sequence[str]) -> CandidatePairs:
    """Return all pairs of sample texts and edited copies from `_texts`, and each sample text with its repeat.

    The pairs are sorted by later text, then by earlier text, like the candidate pairs of a run.
    """
    n_originals = sum(1 for text in ALL_TEXTS if text.strip())
    repeats = [(place, len(texts) - n_originals + place) for place in range(n_originals)]
    chosen = sorted({*combinations(range(n_originals + 24), 2), *repeats}, key=lambda pair: (pair[1], pair[0]))
    earlier, later = (np.array(side, np.int64) for side in zip(*chosen, strict=True))
    distances = [0 if texts[a] == texts[b] else 1 + (len(texts[a]) + len(texts[b])) % 60 for a, b in chosen]
    return CandidatePairs(earlier, later, np.array(distances, np.int32))


def _prepared(subject: Subject, texts: Sequence[str], workers: int = 1) -> Any:
    verifier = subject.make()
    with subject.clause("prepare takes the texts of the run"):
        verifier.prepare(VerifierContext(texts, _Characters(), WIDTH, workers))
    return verifier


def _show(texts: Sequence[str], pairs: CandidatePairs, row: int) -> str:
    return f"{ascii(texts[pairs.earlier[row]])[:60]} and {ascii(texts[pairs.later[row]])[:60]}"


def _check_scores(subject: Subject, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s) -> None:
    for row in np.flatnonzero(~((scores >= 0.0) & (scores <= 1.0)))[:1]:
        subject.fail("a score is from 0.0 to 1.0", f"{_show(texts, pairs, row)} score {scores[row]}")
    for row, (a, b) in enumerate(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)):
        if texts[a] == texts[b] and scores[row] != 1.0:
            subject.fail("identical texts score 1.0", f"{ascii(texts[a])[:60]} and itself score {scores[row]}")
    turned = _prepared(subject, texts[::-1])
    last = len(texts) - 1
    order = np.lexsort((last - pairs.later, last - pairs.earlier))
    swapped = CandidatePairs(last - pairs.later[order], last - pairs.earlier[order], pairs.hamming_distances[order])
    back = np.empty(len(pairs))
    back[order] = turned.score_pairs(swapped, np.zeros(len(pairs)))
    for row in np.flatnonzero(np.abs(back - scores) > TOLERANCE)[:1]:
        evidence = f"{_show(texts, pairs, row)} score {scores[row]}, the other way round {back[row]}"
        subject.fail("a score is symmetric in the two texts", evidence)


def _check_batches(subject: Subject, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s) -> None:
    none = pairs.take(np.empty(0, np.int64))
    verifier = _prepared(subject, texts)
    with subject.clause("no pairs give no scores"):
        subject.require(len(verifier.score_pairs(none, np.empty(0))) == 0, "no pairs give no scores", "it gives some")
    rows = np.arange(0, len(pairs), ALONE_EVERY)
    alone = np.array([verifier.score_pairs(pairs.take(rows[[at]]), np.zeros(1))[0] for at in range(len(rows))])
    for at in np.flatnonzero(alone != scores[rows])[:1]:
        evidence = f"{_show(texts, pairs, rows[at])} score {alone[at]} alone and {scores[rows[at]]} among others"
        subject.fail("a pair's score does not depend on the batch", evidence)
    again = _prepared(subject, texts, workers=2).score_pairs(pairs, np.zeros(len(pairs)))
    subject.require(np.array_equal(again, scores), "the same pairs score the same with any number of workers", "not so")


def _check_thresholds(
    subject: Subject, verifier: Any, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s
) -> None:
    """Check scores at several thresholds: an exact score that reaches the threshold must be returned.

    For a lower exact score, the verifier may return any number below the threshold.

    ``scores`` are the exact scores. The thresholds are these scores, slightly higher ones, and `THRESHOLDS`.
    """
    above = np.where(scores < 1.0 - MARGIN, scores + MARGIN, scores)
    for threshold in (scores, above, *(np.full(len(pairs), usual) for usual in THRESHOLDS)):
        given = verifier.score_pairs(pairs, threshold)
        reaches = scores >= threshold
        wrong = np.where(reaches, (given < threshold) | (np.abs(given - scores) > TOLERANCE), given >= threshold)
        for row in np.flatnonzero(wrong)[:1]:
            clause = "a score at or above its threshold is exact, any other is below it"
            pair, limit = _show(texts, pairs, row), threshold[row]
            subject.fail(clause, f"{pair} score {scores[row]} at threshold 0.0, and {given[row]} at {limit}")


def _check_lengths(
    subject: Subject, verifier: Any, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s
) -> None:
    """Check the length bounds: if a pair reaches a threshold, the longer text is within the bound of the shorter."""
    sizes = text_lengths(texts)
    shorter = np.minimum(sizes[pairs.earlier], sizes[pairs.later])
    longer = np.maximum(sizes[pairs.earlier], sizes[pairs.later])
    for threshold in sorted({*THRESHOLDS, *scores.tolist()}):
        bounds = verifier.max_partner_lengths(shorter, threshold)
        for row in np.flatnonzero((scores >= threshold) & (longer > bounds))[:1]:
            evidence = (
                f"{_show(texts, pairs, row)} score {scores[row]}, but for {shorter[row]} characters and threshold "
                f"{threshold} the bound is {bounds[row]}"
            )
            subject.fail("max_partner_lengths is never below the length of a text that reaches the threshold", evidence)


def _check_characters(
    subject: Subject, verifier: Any, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s
) -> None:
    """Check that pairs with fewer common characters than ``least_in_common`` requires do not reach the threshold.

    The search for candidates drops such pairs unscored. The thresholds are the score of each pair, and the
    `THRESHOLDS` below this score.
    """
    shares = getattr(verifier, "least_in_common", None)
    if shares is None:
        return
    earlier, later = pairs.earlier.tolist(), pairs.later.tolist()
    for row, score in enumerate(scores.tolist()):
        short, long = sorted((earlier[row], later[row]), key=lambda text: len(texts[text]))
        shorter, longer = len(texts[short]), len(texts[long])
        in_common = (Counter(texts[short]) & Counter(texts[long])).total()
        for threshold in (*(usual for usual in THRESHOLDS if usual <= score), score):
            with subject.clause("least_in_common returns two shares for any threshold"):
                of_shorter, of_longer = map(float, shares(threshold))
            if in_common < least_common(shorter, longer, np.float32(of_shorter), np.float32(of_longer)):
                evidence = (
                    f"{_show(texts, pairs, row)} score {score} with at most {in_common} characters in common, but for "
                    f"threshold {threshold} it requires {of_shorter} of {shorter} and {of_longer} of {longer}"
                )
                subject.fail("least_in_common rules out no pair that reaches the threshold", evidence)


def _check_learning(
    subject: Subject, verifier: Any, texts: Sequence[str], pairs: CandidatePairs, scores: Float64s
) -> None:
    """Check that scores stay the same after ``renew`` with other texts, and after saving and loading the learned data.

    The other texts are the same texts, preceded by one more text, so that all positions change.
    """
    methods = [method for method in KEEPING if callable(getattr(verifier, method, None))]
    if not methods:
        return
    clause = "renew alone is allowed; learned and use_learned need each other and renew"
    subject.require(methods == ["renew"] or keeps_learning(verifier), clause, f"it has {', '.join(methods)} only")
    others = VerifierContext(["one more text", *texts], _Characters(), WIDTH, workers=1)
    moved = CandidatePairs(pairs.earlier + 1, pairs.later + 1, pairs.hamming_distances)

    def require_same(renewed: Any, clause: str) -> None:
        with subject.clause(clause):
            renewed.renew(others)
            again = renewed.score_pairs(moved, np.zeros(len(pairs)))
        for row in np.flatnonzero(again != scores)[:1]:
            subject.fail(clause, f"{_show(texts, pairs, row)} score {scores[row]} before and {again[row]} after it")

    require_same(_prepared(subject, texts), "renew takes other texts and keeps the learned data")
    if keeps_learning(verifier):
        require_same(_restored(subject, verifier), "use_learned makes another instance score like the one that learned")
        with subject.clause("learned data of an empty batch can be saved too"):
            _restored(subject, _prepared(subject, [])).renew(others)


def _restored(subject: Subject, verifier: Any) -> Any:
    """Return a new instance with the learned data of ``verifier``, packed and unpacked as in a file."""
    restored = subject.make()
    with subject.clause("learned returns arrays of numbers or strings by name, which use_learned takes"):
        restored.use_learned(unpack_arrays(pack_arrays(verifier.learned())))
    return restored
