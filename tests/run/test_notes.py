"""What a run has to say besides its counts, such as when another configuration would suit the lengths of its texts."""

from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.config.load import load_settings
from hybriddup.run.summary import FEWEST_TEXTS, notes_on_kind, notes_on_lengths

TITLES = [f"City council approves plan {i} for the new harbour bridge" for i in range(FEWEST_TEXTS)]
MESSAGES = [f"您的验证码是{i:04}，五分钟内有效。" for i in range(FEWEST_TEXTS)]
POSTS = [f"Walked along the harbour for {i} minutes today, what a view!" for i in range(FEWEST_TEXTS)]
TAGGED = [f"Walked along the harbour with @anna{i} today #sunset" for i in range(FEWEST_TEXTS)]
CHATTER = [f"在吗在吗{i}" for i in range(FEWEST_TEXTS)]


@pytest.mark.parametrize(
    ("config", "length", "message"),
    [
        ("articles", 150, "half of the texts have at most 150 characters, and only equal texts of this length are"),
        ("articles", 2000, ""),
        ("weibo", 2000, "half of the texts have more than 2,000 characters; the verifier post judges short ones"),
        ("weibo", 140, ""),
        ("twitter", 3, ""),
        ("headlines", 30, ""),
        ({"lengths": [{"exact_only": True}]}, 30, ""),
    ],
)
def test_what_suits_is_told_by_the_lengths_of_most_texts(config: Any, length: int, message: str) -> None:
    lengths = [0] * 2 * FEWEST_TEXTS + [length] * FEWEST_TEXTS + [10, 5000]
    notes = list(notes_on_lengths(load_settings(config), np.array(lengths, np.int32)))
    assert notes == [] if not message else notes[0].startswith(message)


def test_of_few_texts_nothing_is_said() -> None:
    assert list(notes_on_lengths(load_settings("articles"), np.array([20] * (FEWEST_TEXTS - 1), np.int32))) == []


@pytest.mark.parametrize(
    ("texts", "suited"),
    [
        (TITLES, "headlines is made for"),
        (MESSAGES, "sms is made for"),
        (POSTS, ""),
        (TAGGED, ""),
        (CHATTER, ""),
        (TITLES[: FEWEST_TEXTS // 2] + POSTS, ""),
        (MESSAGES[: FEWEST_TEXTS // 5] + POSTS, "sms is made for"),
        (TITLES[1:], ""),
    ],
    ids=["titles", "messages", "sentences", "tags", "chatter", "half titles", "some messages", "few"],
)
def test_what_suits_is_told_by_what_most_texts_look_like(texts: list[str], suited: str) -> None:
    for config in ("posts", "weibo", "twitter"):
        notes = list(notes_on_kind(load_settings(config), texts))
        assert notes == [] if not suited else suited in notes[0]


@pytest.mark.parametrize("config", ["headlines", "sms", "articles", "benchmark"])
@pytest.mark.parametrize("texts", [TITLES, MESSAGES], ids=["titles", "messages"])
def test_a_configuration_that_was_chosen_for_them_is_not_questioned(config: str, texts: list[str]) -> None:
    assert list(notes_on_kind(load_settings(config), texts)) == []


def test_a_run_says_it_in_its_summary() -> None:
    posts = [f"今天是第{i}天，天气真好呀。" for i in range(FEWEST_TEXTS)]
    assert [note for note in hybriddup.dedupe(posts, config="articles").summary.notes if "made for short" in note]
    assert not [note for note in hybriddup.dedupe(posts, config="weibo").summary.notes if "made for" in note]
    assert [note for note in hybriddup.dedupe(TITLES).summary.notes if "headlines is made for" in note]


def test_limit_over_three_eighths_of_the_bits_is_a_note() -> None:
    posts = ["the rain in spain stays mainly in the plain", "a quick brown fox jumps over the lazy dog"]
    bands = [{"max_hamming_distance": 50, "verifier": {"use": "edit", "threshold": 0.8}}]
    (note,) = hybriddup.dedupe(posts, config={"lengths": bands}).summary.notes
    assert note.startswith("lengths[0].max_hamming_distance is 50 of 128 bits.")
    assert hybriddup.dedupe(posts).summary.notes == []
