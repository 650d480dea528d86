"""Guards: rules that refuse pairs which the verifier accepted, because the posts differ in something important."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from hybriddup.data.records import Bools, Int64s


@runtime_checkable
class Guard(Protocol):
    """Refuses pairs of posts with an important difference; symmetric in the two posts, and deterministic.

    Equal posts are never refused. Posts are normalized, with all their parts.
    """

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: the refused pairs; ``earlier`` and ``later`` int64[n_pairs] are places in ``posts``."""
        ...

    def reason(self, a: str, b: str) -> str | None:
        """Return the difference for which two posts are refused, such as ``numbers 2 / 9``; None if they are not."""
        ...


class PairGuard(ABC):
    """Base class of guards that read one pair after another; a subclass defines `reason`."""

    sign: np.uint8 | None = None
    """Kind of sign that a pair must have to be read, one of `kernels.posts.guard_kinds`; None = every pair is read."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: the refused pairs."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.reason(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    @abstractmethod
    def reason(self, a: str, b: str) -> str | None:
        """Return the difference for which two posts are refused; None if they are not."""
