"""What a window did since it was opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter


@dataclass
class Counts:
    """What a window did since it was opened."""

    posts: Counter[str] = field(default_factory=Counter)
    """Posts by what became of them: kept, exact, near, repeated_id, late, expired, deleted."""
    by_band: dict[str, Counter[str]] = field(default_factory=dict)
    """The same for kept, exact and near, by length band."""
    limits_hit: Counter[str] = field(default_factory=Counter)
    """How often a limit cut something short, besides what the live index counts since it was made."""
    seconds: Counter[str] = field(default_factory=Counter)
    """Time by step."""

    def decided(self, outcomes: Iterable[tuple[str, str]]) -> None:
        """Count posts by what became of them: kept, exact or near, and their length band."""
        for (outcome, band), n in Counter(outcomes).items():
            self.posts[outcome] += n
            self.by_band.setdefault(band, Counter())[outcome] += n

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time of a block to a step."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[step] += perf_counter() - began  # type: ignore[assignment]
