"""What a run has to say besides its counts, such as when another configuration would suit the lengths of its texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.config.load import load_settings
from hybriddup.run.summary import FEWEST_TEXTS, notes_on_lengths


@pytest.mark.parametrize(
    ("config", "length", "message"),
    [
        (
            "articles",
            150,
            "half of the texts have at most 150 characters, and of these only equal ones are",
        ),
        ("articles", 2000, ""),
        ("weibo", 2000, "half of the texts have more than 2,000 characters; the verifier post judges short ones"),
        ("weibo", 140, ""),
        ("twitter", 3, ""),
        ("headlines", 30, ""),
        ({"lengths": [{"exact_only": True}]}, 30, ""),
    ],
)
def test_what_suits_is_told_by_the_lengths_of_most_texts(config: Any, length: int, message: str) -> None:
    """Few texts of another length, and texts of which nothing is left, change nothing."""
    lengths = [0] * 2 * FEWEST_TEXTS + [length] * FEWEST_TEXTS + [10, 5000]
    notes = list(notes_on_lengths(load_settings(config), np.array(lengths, np.int32)))
    assert notes == [] if not message else notes[0].startswith(message)


def test_of_few_texts_nothing_is_said() -> None:
    """A handful tells nothing about those to come."""
    assert list(notes_on_lengths(load_settings("articles"), np.array([20] * (FEWEST_TEXTS - 1), np.int32))) == []


def test_a_run_says_it_in_its_summary() -> None:
    """Beside the other remarks."""
    posts = [f"今天是第{i}天，天气真好呀" for i in range(FEWEST_TEXTS)]
    assert [note for note in hybriddup.dedupe(posts, config="articles").summary.notes if "made for short" in note]
    assert not [note for note in hybriddup.dedupe(posts, config="weibo").summary.notes if "made for" in note]


def test_limit_over_three_eighths_of_the_bits_is_a_note() -> None:
    """The run goes on; by default there is nothing to note."""
    posts = ["the rain in spain stays mainly in the plain", "a quick brown fox jumps over the lazy dog"]
    bands = [{"max_hamming_distance": 50, "verifier": {"use": "edit", "threshold": 0.8}}]

    (note,) = hybriddup.dedupe(posts, config={"lengths": bands}).summary.notes

    assert note.startswith("lengths[0].max_hamming_distance is 50 of 128 bits.")
    assert hybriddup.dedupe(posts).summary.notes == []
