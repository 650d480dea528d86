"""The fingerprints that wait to be decided: handed out once, so that what was decided does not stay in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from hybriddup.records import Fingerprints, Int64s, join_prints


class FingerprintQueue:
    """Fingerprints in the order of deciding, in parts, at least one. Taking some lets go of the parts that are used up.

    The strengths of the bits are most of what a fingerprint takes, and only texts still to be looked up need them.
    """

    def __init__(self, parts: Iterable[Fingerprints]) -> None:
        self._parts = deque(parts)

    def __len__(self) -> int:
        """Return the number of texts that wait."""
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Fingerprints]:
        """Yield the parts that wait, without taking them."""
        return iter(self._parts)

    def take_some(self, rows: Int64s) -> Fingerprints:
        """Return some of the texts that wait, by their place among them, rising, without forgetting any."""
        ends = np.cumsum([len(part) for part in self._parts])
        bounds = np.searchsorted(rows, [0, *ends])
        return join_prints(
            [
                part.take(rows[first:last] - (end - len(part)))
                for part, end, (first, last) in zip(self._parts, ends, pairwise(bounds), strict=True)
            ]
        )

    def take_first(self, n: int) -> Fingerprints:
        """Return the first ``n`` texts that wait, at least one and no more than there are, and forget them."""
        taken = []
        while n:
            part = self._parts.popleft()
            if len(part) > n:
                self._parts.appendleft(part.take(slice(n, None)))
                part = part.take(slice(0, n))
            taken.append(part)
            n -= len(part)
        return taken[0] if len(taken) == 1 else join_prints(taken)
