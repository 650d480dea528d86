"""Configurations that are fitted to labeled pairs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Indel

import hybriddup
from hybriddup.errors import InputError
from hybriddup.study.tune import AS_IT_IS, Tuned

WORDS = ("river", "bridge", "morning", "council", "market", "storm", "garden", "school", "winter", "doctor", "kitchen")
BY_EDITS = {
    "normalizer": {"use": "none"},
    "compare": "all",
    "weighter": {"use": "tf"},
    "blocks": {"use": "scan"},
    "must_agree": [],  # the words of these sentences are in the place of each other as names are
}
Pair = tuple[str, str, bool]


def by_edits(threshold: float, *bands: int) -> dict[str, Any]:
    verifier = {"use": "edit", "threshold": threshold}
    lengths = [{"up_to": up_to, "max_hamming_distance": 127, "verifier": verifier} for up_to in bands]
    return BY_EDITS | {"lengths": [*lengths, {"max_hamming_distance": 127, "verifier": verifier}]}


def made_pairs(n: int, label: Callable[[str, str], bool], n_words: int = 8) -> list[Pair]:
    """Pairs of sentences that differ in up to all of their words."""
    rng = np.random.default_rng(3)
    pairs = []
    for _ in range(n):
        a = rng.choice(WORDS, n_words).tolist()
        changed = rng.random(n_words) < rng.random()
        b = [str(rng.choice(WORDS)) if change else word for word, change in zip(a, changed, strict=True)]
        pairs.append((" ".join(a), " ".join(b), label(" ".join(a), " ".join(b))))
    return pairs


def similar(threshold: float) -> Callable[[str, str], bool]:
    """Somebody who calls a pair duplicates from a similarity on."""
    return lambda a, b: Indel.normalized_similarity(a, b) >= threshold


def thresholds(tuned: Tuned) -> list[float]:
    return [band.verifier.threshold for band in tuned.settings.lengths]  # type: ignore[union-attr]


def test_a_threshold_is_found_again() -> None:
    pairs = made_pairs(300, similar(0.7))
    tuned = hybriddup.tune(pairs, config=by_edits(0.95), workers=1)
    assert thresholds(tuned) == pytest.approx([0.7], abs=0.02)
    assert tuned.way == "threshold"
    assert tuned.before.measures.f1 < 0.8 < 0.97 < tuned.after.measures.f1  # type: ignore[operator]
    assert hybriddup.evaluate(pairs, config=tuned.settings).total.decision.f1 == 1.0
    assert not len(tuned.wrong)


def test_length_bands_have_thresholds_of_their_own() -> None:
    pairs = made_pairs(300, similar(0.6), n_words=5) + made_pairs(300, similar(0.8), n_words=16)
    tuned = hybriddup.tune(pairs, config=by_edits(0.95, 60), workers=1)
    assert thresholds(tuned) == pytest.approx([0.6, 0.8], abs=0.03)
    assert [band.n_pairs for band in tuned.bands] == [300, 300]


def test_what_cannot_be_better_stays_as_it_is() -> None:
    tuned = hybriddup.tune(made_pairs(120, similar(0.8)), config=by_edits(0.8), workers=1)
    assert (tuned.way, thresholds(tuned)) == (AS_IT_IS, [0.8])
    assert tuned.before.measures == tuned.after.measures


def test_a_precision_that_is_asked_for_is_kept() -> None:
    rng = np.random.default_rng(4)
    noisy = [(a, b, label if rng.random() < 0.85 else not label) for a, b, label in made_pairs(400, similar(0.6))]
    free, strict = (hybriddup.tune(noisy, config=by_edits(0.5), precision=asked, workers=1) for asked in (None, 0.9))
    assert strict.after.measures.precision > free.after.measures.precision  # type: ignore[operator]
    assert strict.after.measures.recall < free.after.measures.recall  # type: ignore[operator]
    assert thresholds(strict) > thresholds(free)
    assert free.warnings == ()
    too_much = hybriddup.tune(noisy, config=by_edits(0.5), precision=0.999, workers=1)
    assert "0.999, is not reached" in too_much.warnings[0]


def test_intervals_hold_the_measures() -> None:
    rng = np.random.default_rng(5)
    noisy = [(a, b, label ^ (rng.random() < 0.1)) for a, b, label in made_pairs(400, similar(0.6))]
    widths = []
    for pairs in (noisy[:80], noisy):
        after = hybriddup.tune(pairs, config=by_edits(0.5), workers=1).after
        for name in ("precision", "recall", "f1"):
            low, high = getattr(after, name)
            assert low <= getattr(after.measures, name) <= high
        widths.append(after.f1[1] - after.f1[0])  # type: ignore[index]
    assert widths[1] < widths[0]


def test_post_gets_a_new_model_where_no_other_one_fits() -> None:
    def at_most_two_differ(a: str, b: str) -> bool:
        return sum(one != other for one, other in zip(a.split(), b.split(), strict=True)) <= 2

    pairs = made_pairs(400, at_most_two_differ, n_words=6)
    band = {"max_hamming_distance": 127, "verifier": {"use": "post", "threshold": 0.5}}
    config = {"blocks": {"use": "scan"}, "lengths": [band]}
    tuned = hybriddup.tune(pairs, config=config, workers=1)
    assert tuned.way == "new model"
    assert tuned.after.measures.f1 > tuned.before.measures.f1 + 0.03  # type: ignore[operator]
    model = tuned.settings.lengths[0].verifier.options["model"]  # type: ignore[union-attr]
    assert set(model) > {"intercept", "letters_contained"}
    again = hybriddup.evaluate(pairs, config=tuned.settings.to_dict(), workers=1)
    assert len(again.missed) + len(again.mistaken) == len(tuned.wrong)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "there are no pairs"),
        ([("a", "b")], "pair 0 must be two texts and a label"),
        ([("a", "b", True), {"a": "x", "b": None, "label": 1}], "pair 1 must be two texts and a label"),
        ([("a", "b", "yes")], 'got \\["a", "b", "yes"\\]'),
        (
            made_pairs(30, lambda *_: True),
            "at least 10 pairs that are duplicates and as many that are not; got 30 and 0",
        ),
    ],
)
def test_pairs_that_nothing_can_be_learned_from_are_refused(pairs: list[Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        hybriddup.tune(pairs)


def test_verifiers_that_decide_together_are_left_alone() -> None:
    both = {"all": [{"use": "edit", "threshold": 0.8}, {"use": "lcs", "threshold": 0.8}]}
    config = by_edits(0.8) | {"lengths": [{"max_hamming_distance": 60, "verifier": both}]}
    with pytest.raises(InputError, match="no length band of the configuration has a verifier by itself"):
        hybriddup.tune(made_pairs(60, similar(0.7)), config=config)


def test_bands_without_a_single_verifier_are_told_of() -> None:
    config = by_edits(0.9, 30)
    config["lengths"][0] = {"up_to": 30, "exact_only": True}
    pairs = made_pairs(40, similar(0.7), n_words=3) + made_pairs(50, similar(0.7))
    warnings = hybriddup.tune(pairs, config=config, workers=1).warnings
    assert "90 pairs are few" in warnings[0]
    assert "length bands 0-30 have no single verifier and stay as they are" in warnings[1]
