"""The guards of the length bands at run time, which reject pairs that the verifier accepted."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hybriddup.config.settings import ComponentSettings
from hybriddup.data.records import Bools, Int32s, Int64s, UInt8s
from hybriddup.steps.guards import Guard
from hybriddup.steps.guards.signs import signs_of_pairs
from hybriddup.steps.parallel import map_slices

SMALLEST_SLICE = 256
"""Minimum number of pairs per thread when threads find the guards that must check each pair."""


@dataclass(frozen=True)
class GuardPlan:
    """The guards of a run, one instance per name and options."""

    uses: tuple[tuple[Guard, Bools], ...] = ()
    """Each guard with bool[n_bands]: the length bands that use it."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s, bands: Int32s, workers: int = 1) -> Bools:
        """Return bool[n_pairs]: whether each pair of posts is rejected by at least one guard of the pair's length band.

        ``earlier`` and ``later`` are indices into ``posts``. ``bands``: int32[n_pairs], the index of each pair's band.
        """
        refused = np.zeros(len(earlier), np.bool_)
        signs = self._signs(posts, earlier, later, workers) if self.uses and len(earlier) else None
        for guard, of_bands in self.uses:
            is_read = of_bands[bands] & ~refused
            if signs is not None and (sign := getattr(guard, "sign", None)) is not None:
                is_read &= (signs & sign) != 0
            chosen = np.flatnonzero(is_read)
            if len(chosen):
                refused[chosen] = guard.refuse(posts, earlier[chosen], later[chosen])
        return refused

    def _signs(self, posts: Sequence[str], earlier: Int64s, later: Int64s, workers: int) -> UInt8s | None:
        """Return uint8[n_pairs]: flags of the guards that must check each pair; None if all guards check all pairs."""
        if all(getattr(guard, "sign", None) is None for guard, _ in self.uses):
            return None

        def signs_of_slice(first: int, last: int) -> UInt8s:
            return signs_of_pairs(posts, earlier[first:last], later[first:last])

        return np.concatenate(map_slices(signs_of_slice, len(earlier), workers, SMALLEST_SLICE))

    def reasons(self, a: str, b: str, band: int) -> list[str]:
        """Return why guards of a length band reject the posts ``a`` and ``b``: one reason for each such guard."""
        posts, one, other = [a, b], np.array([0]), np.array([1])
        found: list[str] = []
        for guard, of_bands in self.uses:
            plan = GuardPlan(((guard, of_bands),))
            if plan.refuse(posts, one, other, np.array([band], np.int32))[0]:  # as in a run, which may skip the guard
                found.append(str(guard.reason(a, b)))
        return found

    def reasons_of(self, posts: Sequence[str], earlier: Int64s, later: Int64s, bands: Int32s) -> list[list[str]]:
        """Return, for each pair of posts, why guards of its length band reject it; an empty list if none does."""
        reasons: list[list[str]] = [[] for _ in range(len(earlier))]
        for place in np.flatnonzero(self.refuse(posts, earlier, later, bands)).tolist():
            reasons[place] = self.reasons(posts[earlier[place]], posts[later[place]], int(bands[place]))
        return reasons


def plan_guards(
    bands: Sequence[Sequence[ComponentSettings]], create: Callable[[ComponentSettings], Guard]
) -> GuardPlan:
    """Create the guards of all length bands, one instance per name and options, in order of first occurrence.

    ``create`` makes a guard from its settings.
    """
    guards: dict[tuple[str, str], tuple[Guard, Bools]] = {}
    for band, named in enumerate(bands):
        for one in named:
            key = (one.use, json.dumps(one.options, sort_keys=True, default=str))
            if key not in guards:
                guards[key] = (create(one), np.zeros(len(bands), np.bool_))
            guards[key][1][band] = True
    return GuardPlan(tuple(guards.values()))
