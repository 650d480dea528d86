"""The texts of a window that a batch meets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from hybriddup.data.records import Int64s
from hybriddup.window import preparing
from hybriddup.window.preparing import EarlierTexts


class Reader:
    """Reads texts by position, and notes which were read and made ready."""

    def __init__(self) -> None:
        self.read: list[list[int]] = []
        self.made: list[list[str]] = []

    def normalized_at(self, positions: Int64s) -> list[str]:
        self.read.append(positions.tolist())
        return [f"text {position}" for position in positions.tolist()]

    def compared(self, texts: Sequence[str]) -> list[str]:
        self.made.append(list(texts))
        return [text.upper() for text in texts]


def test_a_text_is_read_and_made_ready_once() -> None:
    """However often it is asked for, beside whichever others, and in the order asked."""
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    assert texts.at(np.array([7, 3])) == (["text 7", "text 3"], ["TEXT 7", "TEXT 3"])
    assert texts.at(np.array([3, 5, 7])) == (["text 3", "text 5", "text 7"], ["TEXT 3", "TEXT 5", "TEXT 7"])
    assert texts.at(np.array([5, 7])) == (["text 5", "text 7"], ["TEXT 5", "TEXT 7"])
    assert texts.at(np.zeros(0, np.int64)) == ([], [])
    assert reader.read == [[7, 3], [5]]
    assert reader.made == [["text 7", "text 3"], ["text 5"]]


def test_texts_that_are_at_hand_are_not_read_until_they_are_deleted() -> None:
    """Posts that were just kept are held as they were made ready; forgetting one that was never held does nothing."""
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    texts.hold([4, 5], ["four", "five"], ["FOUR", "FIVE"])
    assert texts.at(np.array([5, 4])) == (["five", "four"], ["FIVE", "FOUR"])
    assert reader.read == []
    texts.forget(4)
    texts.forget(9)
    assert texts.at(np.array([4])) == (["text 4"], ["TEXT 4"])


def test_no_more_than_so_many_characters_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a batch all texts are returned, however long; the next one reads those anew that it needs."""
    reader = Reader()
    texts = EarlierTexts(reader.normalized_at, reader.compared)
    monkeypatch.setattr(preparing, "MOST_CHARACTERS", 30)
    assert texts.at(np.array([1, 2, 3])) == (["text 1", "text 2", "text 3"], ["TEXT 1", "TEXT 2", "TEXT 3"])
    assert texts.at(np.array([3])) == (["text 3"], ["TEXT 3"])
    assert texts.at(np.array([3])) == (["text 3"], ["TEXT 3"])
    assert reader.read == [[1, 2, 3], [3]]
