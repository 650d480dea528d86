"""Guards: what must agree in two posts, whatever the verifier's score. They see only pairs that it accepted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from hybriddup.data.records import Bools, Int64s


@runtime_checkable
class Guard(Protocol):
    """Keeps two posts apart that differ in something that counts; symmetric in the two, and the same each time.

    Two equal posts are never kept apart. Posts are normalized, with all their parts.
    """

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: which pairs of posts, int64[n_pairs] places of each side, are kept apart."""
        ...

    def reason(self, a: str, b: str) -> str | None:
        """Return what differs in two posts, such as ``numbers 2 / 9``; None where nothing keeps them apart."""
        ...


class PairGuard(ABC):
    """A guard that reads one pair after another; a subclass has `reason`."""

    sign: np.uint8 | None = None
    """What it must find in a pair to read it, one of `kernels.posts.guard_kinds`; None = it reads every pair."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: which pairs are kept apart."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.reason(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    @abstractmethod
    def reason(self, a: str, b: str) -> str | None:
        """Return what differs in two posts; None where nothing keeps them apart."""
