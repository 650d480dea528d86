"""One threshold for all length bands."""

import pytest

import hybriddup
from hybriddup.config import load_settings
from hybriddup.config.load import with_threshold
from hybriddup.config.read import shipped_names
from hybriddup.config.settings import CombinedVerifier
from hybriddup.errors import ConfigError

LEVENSHTEIN = {"use": "edit", "threshold": 0.9, "distance": "levenshtein"}
BANDS = {
    "lengths": [
        {"up_to": 4, "exact_only": True},
        {"up_to": 40, "max_hamming_distance": 44, "verifier": LEVENSHTEIN},
        {"max_hamming_distance": 40, "verifier": {"use": "post", "threshold": 0.5}},
    ]
}


def test_all_bands_with_a_verifier_have_the_threshold() -> None:
    settings, meaning = with_threshold(load_settings(BANDS), 0.85, "mine.yaml")
    expected = load_settings(BANDS).to_dict()["lengths"]
    expected[1]["verifier"]["threshold"] = expected[2]["verifier"]["threshold"] = 0.85
    assert settings.to_dict()["lengths"] == expected
    assert meaning == "up to 4 characters: only equal ones; up to 40 characters: edit 0.85; longer: post 0.85"


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_configuration_takes_a_threshold_or_says_why_not(name: str) -> None:
    settings = load_settings(name)
    if any(isinstance(band.verifier, CombinedVerifier) for band in settings.lengths):
        with pytest.raises(ConfigError, match=f"one threshold is not enough: {name} has several verifiers"):
            with_threshold(settings, 0.9, name)
    else:
        changed, _ = with_threshold(settings, 0.9, name)
        assert {band.verifier.threshold for band in changed.lengths if band.verifier} == {0.9}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("config", "threshold", "message"),
    [
        ({}, 85, "must be from 0.0 to 1.0 .*; got 85. 85 % is 0.85."),
        ({}, -0.1, "got -0.1.$"),
        ({}, float("nan"), "got nan.$"),
        ({"lengths": [{"exact_only": True}]}, 0.5, "a threshold has no effect: with a mapping, only equal texts"),
    ],
)
def test_a_threshold_that_cannot_be_is_refused(config: dict[str, object], threshold: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        hybriddup.dedupe(["a"], config=config, threshold=threshold)
