"""What makes a score, in words."""

import numpy as np
import pytest

import hybriddup
from hybriddup.kernels.posts.features import FEATURES
from hybriddup.steps.verifiers.phrases import MOST_DIFFERENCES, describe_contributions, describe_feature


@pytest.mark.parametrize("name", FEATURES)
def test_every_feature_has_words(name: str) -> None:
    nothing, some = describe_feature(name, 0.0), describe_feature(name, 1.0)
    assert nothing != some
    assert "_" not in nothing + some


def test_amounts_are_told_apart() -> None:
    said = [describe_feature("largest_replaced", float(np.log1p(weight))) for weight in (0, 1, 6, 30)]
    assert said == [f"{amount} replaced in one place" for amount in ("nothing", "a word", "a few words", "many words")]


def test_few_contributions_are_named_and_the_stronger_direction_first() -> None:
    """The four strongest, on one line for each direction; those that add nothing are left out."""
    names, values = ("letters_shared", "largest_replaced", "adding", "length", "moved"), np.zeros(5)
    lines = describe_contributions(names, values, np.array([0.5, -2.0, 0.25, -0.75, 0.1]))
    assert lines == [
        "lowers the score: nothing replaced in one place (-2.00), nothing in the shorter post (-0.75)",
        "raises the score: 0 % of all letters in common (+0.50), nothing only in the longer post (+0.25)",
    ]
    assert describe_contributions(names, values, np.zeros(5)) == []


def test_many_differences_are_counted() -> None:
    """The first ones are listed, so that what decides can be seen."""
    words = [f"{first}o{second}a" for first in "bdfgk" for second in "lmnprstz"]
    changed = [word.upper() + "xy" if place % 5 == 2 else word for place, word in enumerate(words)]
    reasons = hybriddup.explain(" ".join(words), " ".join(changed)).reasons
    assert [line.startswith("replaced: ") for line in reasons[: MOST_DIFFERENCES + 1]] == [True] * 6 + [False]
    assert reasons[MOST_DIFFERENCES] == "and 2 more differences"
