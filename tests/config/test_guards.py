"""`must_agree`: how guards are written, what a fault or a warning says, and the key before it."""

from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.config import load_settings
from hybriddup.errors import ConfigError

STRICT = {"use": "numbers", "strict": True}
BANDS = [{"up_to": 9, "verifier": {"use": "edit", "threshold": 0.8}}, {"verifier": {"use": "edit", "threshold": 0.9}}]


def guards(**written: Any) -> list[list[dict[str, Any]]]:
    return [[guard.to_dict() for guard in named] for named in load_settings(written).guards()]


def test_guards_are_written_as_names_or_with_options_or_as_words() -> None:
    written = ["negation", STRICT, {"words": ["买", "卖"]}]
    assert guards(must_agree=written)[0] == [{"use": "negation"}, STRICT, {"use": "words", "words": ["买", "卖"]}]


def test_the_list_of_a_band_replaces_the_one_at_the_top() -> None:
    bands = [{**BANDS[0], "must_agree": ["names"]}, BANDS[1]]
    assert guards(must_agree=["negation"], lengths=bands) == [[{"use": "names"}], [{"use": "negation"}]]
    assert guards(must_agree=["negation"], lengths=[{**BANDS[0], "must_agree": []}, BANDS[1]])[0] == []


@pytest.mark.parametrize(("value", "meaning"), [(True, [STRICT]), (False, [])])
def test_the_old_key_still_loads_and_a_warning_names_the_new_one(value: bool, meaning: list[Any]) -> None:
    settings = load_settings({"numbers_must_match": value})
    assert [guard.to_dict() for guard in settings.must_agree] == meaning
    assert ["must_agree" in warning for warning in settings.warnings()] == [True]
    assert load_settings(settings).warnings() == settings.warnings()
    assert load_settings(settings.to_dict()).warnings() == []
    bands = [{**BANDS[0], "numbers_must_match": value}, BANDS[1]]
    assert guards(numbers_must_match=not value, lengths=bands)[0] == meaning


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"must_agree": ["numbres"]}, "must_agree[0].use: guard 'numbres' is not known. Did you mean 'numbers'?"),
        ({"must_agree": [{"use": "numbers", "strict": 1}]}, "must_agree[0].strict must be true or false; got 1."),
        ({"must_agree": [{"words": []}]}, "must_agree[0].words must be a list of at least 1"),
        ({"must_agree": "numbers"}, "must_agree must be a list"),
        ({"must_agree": [], "numbers_must_match": True}, "numbers_must_match is the old name of must_agree"),
        (
            {"lengths": [{"up_to": 4, "exact_only": True, "must_agree": ["names"]}, BANDS[1]]},
            "lengths[0].must_agree must be left out where exact_only is true",
        ),
        (
            {"must_agree": ["emoji"], "normalizer": {"emoji": "drop"}},
            "must_agree[0]: the guard emoji has nothing to compare where normalizer.emoji is drop; set normalizer.",
        ),
        (
            {"lengths": [{**BANDS[0], "must_agree": ["links"]}, BANDS[1]], "normalizer": {"urls": "mask"}},
            "lengths[0].must_agree[0]: the guard links has nothing to compare where normalizer.urls is mask",
        ),
    ],
    ids=str,
)
def test_faults_say_where_and_what_to_do(written: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        load_settings(written)
    assert str(raised.value).startswith(message)


def test_a_guard_that_sees_little_is_warned_of() -> None:
    (warning,) = load_settings({"must_agree": ["links"], "normalizer": {"urls": "drop"}}).warnings()
    assert "normalizer.urls: keep" in warning
    assert load_settings({"must_agree": ["links"], "normalizer": {"urls": "keep"}}).warnings() == []


def test_masked_digits_leave_out_the_guard_that_nobody_asked_for() -> None:
    """So that posts can be reduced to their templates by one option."""
    assert "numbers" not in [guard.use for guard in load_settings({"normalizer": {"digits": "mask"}}).must_agree]


def test_fault_of_the_old_key_has_its_line(tmp_path: Path) -> None:
    """Though it is about the guard that the key stands for."""
    (tmp_path / "mine.yaml").write_text("normalizer: {digits: mask}\nnumbers_must_match: true\n")
    with pytest.raises(ConfigError, match=r"mine\.yaml:2: must_agree\[0\]"):
        load_settings(tmp_path / "mine.yaml")


def test_guards_are_no_part_of_a_recipe() -> None:
    """Fingerprints are the same, so that stores still open."""
    recipes = {hybriddup.learn(["one post"], config={"must_agree": some}).id for some in ([], ["numbers"], [STRICT])}
    assert len(recipes) == 1
