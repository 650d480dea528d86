"""Up to which position posts are older than a time, to a thousandth of the horizon; for letting the store forget."""

from __future__ import annotations

from collections import deque

import numpy as np

STEPS = 1024
"""Positions remembered in a horizon."""


class Edges:
    """Positions and the watermark that had been reached when they were next to be used."""

    def __init__(self, horizon: float, packed: bytes | None = None) -> None:
        self._step = horizon / STEPS
        stored = np.frombuffer(packed or b"", "<f8").reshape(-1, 2)
        self._edges = deque((float(watermark), int(position)) for watermark, position in stored)

    def note(self, next_position: int, watermark: float) -> bool:
        """Note that all posts before a position were decided up to a watermark; return whether that is news."""
        is_news = not self._edges or watermark >= self._edges[-1][0] + self._step
        if is_news:
            self._edges.append((watermark, next_position))
        return is_news

    def first_after(self, time: float) -> int:
        """Return a position before which all posts were decided up to this time, and forget what is before it."""
        position = 0
        while self._edges and self._edges[0][0] <= time:
            position = self._edges.popleft()[1]
        return position

    def forget_after(self, time: float) -> None:
        """Forget the positions up to which posts were decided after this time, which was put back."""
        while self._edges and self._edges[-1][0] > time:
            self._edges.pop()

    def pack(self) -> bytes:
        """Return what another instance can begin with; positions below 2**53 are exact."""
        return np.array(self._edges, "<f8").tobytes()
