"""The texts of a window that a batch meets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.preparing import EarlierTexts


def test_a_text_is_read_and_made_ready_once() -> None:
    """However often it is asked for, beside whichever others, and in the order asked."""
    read: list[list[int]] = []
    made: list[list[str]] = []

    def normalized_at(positions: Int64s) -> list[str]:
        read.append(positions.tolist())
        return [f"text {position}" for position in positions.tolist()]

    def compared(texts: Sequence[str]) -> list[str]:
        made.append(list(texts))
        return [text.upper() for text in texts]

    texts = EarlierTexts(normalized_at, compared)
    assert texts.at(np.array([7, 3])) == (["text 7", "text 3"], ["TEXT 7", "TEXT 3"])
    assert texts.at(np.array([3, 5, 7])) == (["text 3", "text 5", "text 7"], ["TEXT 3", "TEXT 5", "TEXT 7"])
    assert texts.at(np.array([5, 7])) == (["text 5", "text 7"], ["TEXT 5", "TEXT 7"])
    assert texts.at(np.zeros(0, np.int64)) == ([], [])
    assert read == [[7, 3], [5]]
    assert made == [["text 7", "text 3"], ["text 5"]]
