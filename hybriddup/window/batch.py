"""Deciding a batch: which of its posts repeat a kept one of the window, or an earlier one of the batch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hybriddup.records import Int64s, VerifiedPairs
from hybriddup.window.event_time import PostTimes
from hybriddup.window.steps import PreparedTexts


class NearMatch(NamedTuple):
    """A kept post that a later one matches, and the evidence."""

    position: int
    hamming_distance: int
    score: float
    threshold: float
    verifier: int
    length_band: int


@dataclass(frozen=True)
class Found:
    """What there is to know of a batch before it is decided."""

    prepared: PreparedTexts
    times: PostTimes
    horizon: float
    equal_in_window: Int64s
    """int64[n]: the position of a kept post of the window with an equal text that still matches, -1 = none."""
    near: VerifiedPairs
    """Verified pairs with kept posts of the window that still match and with earlier posts of the batch."""


@dataclass(frozen=True)
class Verdicts:
    """What was decided of a batch, by place in it."""

    exact: dict[int, int]
    """The position of the kept post that a duplicate is equal to."""
    near: dict[int, NearMatch]

    def is_kept(self, place: int) -> bool:
        """Return whether the post is kept."""
        return place not in self.exact and place not in self.near


def decide_batch(found: Found) -> Verdicts:
    """Return the verdicts, each post against what was kept before it: an equal one first, then the earliest match."""
    verdicts = Verdicts({}, {})
    matches = matches_by_place(found)
    kept_with: dict[tuple[bool, str], int] = {}
    first = int(found.prepared.positions[0]) if len(found.prepared.positions) else 0
    for place, (key, equal) in enumerate(zip(found.prepared.keys, found.equal_in_window.tolist(), strict=True)):
        in_batch = kept_with.get(key)
        if in_batch is not None and still_matches(found, in_batch, place):
            equal = first + in_batch
        if equal >= 0:
            verdicts.exact[place] = equal
            continue
        match = first_kept_match(matches[place], verdicts, first) if place in matches else None
        if match is None:
            kept_with[key] = place
        else:
            verdicts.near[place] = match
    return verdicts


def matches_by_place(found: Found) -> dict[int, list[NearMatch]]:
    """Return the matches of each post of the batch that are within the horizon, the earliest first."""
    near, first = found.near, int(found.prepared.positions[0]) if len(found.prepared.positions) else 0
    by_place: dict[int, list[NearMatch]] = defaultdict(list)
    columns = (near.earlier, near.hamming_distances, near.scores, near.thresholds, near.verifiers, near.length_bands)
    for place, *values in zip((near.later - first).tolist(), *(column.tolist() for column in columns), strict=True):
        match = NearMatch(*values)
        if match.position < first or still_matches(found, match.position - first, place):
            by_place[place].append(match)
    for matches in by_place.values():
        matches.sort()
    return by_place


def still_matches(found: Found, earlier: int, later: int) -> bool:
    """Return whether a post of the batch is within the horizon when a later one is decided."""
    return bool(found.times.times[earlier] > found.times.watermarks[later] - found.horizon)


def first_kept_match(matches: Sequence[NearMatch], verdicts: Verdicts, first: int) -> NearMatch | None:
    """Return the earliest match that was kept; those of the window all were."""
    kept = (match for match in matches if match.position < first or verdicts.is_kept(match.position - first))
    return next(kept, None)
