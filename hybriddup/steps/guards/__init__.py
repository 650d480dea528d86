"""Guards: rules that refuse a pair that the verifier accepted, because the posts differ in something important."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from hybriddup.data.records import Bools, Int64s


@runtime_checkable
class Guard(Protocol):
    """Refuses pairs of posts with an important difference; symmetric in the two posts, and deterministic.

    Equal posts are never refused. A guard gets whole normalized posts, even if the setting ``compare`` is ``body``.
    """

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: whether each pair is refused; ``earlier`` and ``later`` are indices into ``posts``."""
        ...

    def reason(self, a: str, b: str) -> str | None:
        """Return why two posts are refused, such as ``numbers 2 / 9``; None if they are not refused."""
        ...


class PairGuard(ABC):
    """Base class of guards that check one pair at a time; a subclass defines `reason`."""

    sign: np.uint8 | None = None
    """Flag of `hybriddup.kernels.posts.guard_kinds`, such as NUMBER: only pairs that differ in a character or word with
    this flag are checked. None = all pairs are checked."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: whether each pair is refused."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.reason(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    @abstractmethod
    def reason(self, a: str, b: str) -> str | None:
        """Return why two posts are refused, such as ``numbers 2 / 9``; None if they are not refused."""
