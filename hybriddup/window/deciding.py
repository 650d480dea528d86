"""Deciding a batch: which of its posts repeat a kept one of the window, or an earlier one of the batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, NearPairs, VerifiedPairs
from hybriddup.data.removed import EQUAL
from hybriddup.kernels.search.decide import NONE
from hybriddup.run.bands import Bands
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.steps.deciding.contest import Verify
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.deciding.pairs import no_verified_pairs
from hybriddup.window.event_time import PostTimes
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Evidence, PostId
from hybriddup.window.states import KeptPostsOfBatch

FIRST_OF_POST, MOST_OF_POST = 16, 128
"""Pairs of a post that are verified first, and at a time after that: hardly more in all than if they were fewer, as in
a run, and in fewer turns. Each turn takes a millisecond, however few its pairs are."""


@dataclass(frozen=True)
class Verdicts:
    """The decisions of a batch, by place in it."""

    exact: dict[int, int]
    """The position of the kept post that a duplicate is equal to."""
    near: dict[int, int]
    """That of the kept post that a near repeat matches, and"""
    pairs: VerifiedPairs
    """the pairs of these, in the same order."""
    looked_up: Batch
    """The texts that were compared with others, and"""
    is_kept: Bools
    """bool[n_looked_up]: which of these were kept."""

    def keeps(self, place: int) -> bool:
        """Return whether the post is kept."""
        return place not in self.exact and place not in self.near

    def evidence(self, keepers: Mapping[int, tuple[PostId, int]], bands: Bands, lengths: Int32s) -> dict[int, Evidence]:
        """Return why posts, with lengths int32[n], are duplicates, by place; nothing of those that are kept.

        ``keepers`` has the id and the position of each keeper, by the position that the verdicts know it by.
        """
        own, verifiers, names = bands.names_of(lengths), bands.plan.names, bands.names
        evidence = {
            place: Evidence(*keepers[of], "exact", 0, EQUAL, 1.0, 1.0, own[place]) for place, of in self.exact.items()
        }
        pairs = self.pairs
        columns = (pairs.hamming_distances, pairs.verifiers, pairs.scores, pairs.thresholds, pairs.length_bands)
        rows = zip(self.near.items(), *(column.tolist() for column in columns), strict=True)
        for (place, of), distance, verifier, score, threshold, band in rows:
            evidence[place] = Evidence(
                *keepers[of], "near", distance, verifiers[verifier], score, threshold, names[band]
            )
        return evidence


@dataclass
class WindowIndex:
    """The kept posts of a window as the rule sees them: those that still match when a post of the batch is decided.

    The kept posts of the batch are added to memory later, when they are on disk.
    """

    held: KeptPostsOfBatch
    prepared: PreparedTexts
    times: PostTimes
    looked_up: Batch
    is_kept: Bools

    def look_up(self, batch: Batch) -> NearPairs:
        """Return the pairs with kept posts that are within the horizon."""
        rows = self.searchable(batch)
        near = self.held.index.look_up(batch.take(rows))
        near = near._replace(later=rows[near.later])
        places = batch.positions[near.later] - self.prepared.positions[0]
        return near.take(self.held.still_match(near.earlier, places, self.times))

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return the rank from the newest of an earlier post in each key of a later one, 0 = none."""
        return self.held.index.depths(batch, rows, earlier)

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Remember which posts were looked up, and which of them were kept."""
        rows = self.searchable(batch)
        self.looked_up, self.is_kept = batch.take(rows), is_kept[rows]

    def searchable(self, batch: Batch) -> Int64s:
        """Return int64[n]: the rows of a batch that could be near repeats."""
        return np.flatnonzero(self.prepared.searchable[batch.positions - self.prepared.positions[0]])


def decide_batch(
    prepared: PreparedTexts,
    equal: Int64s,
    times: PostTimes,
    held: KeptPostsOfBatch,
    steps: Steps,
    verify: Verify,
    report: BlockReport,
) -> Verdicts:
    """Return the verdicts, each post against the posts kept before it: an equal one first, then the earliest match.

    ``equal`` int64[n] is the position of a kept post of the window with an equal text that still matches, -1 = none.
    """
    index = WindowIndex(held, prepared, times, prepared.batch.take(slice(0, 0)), np.zeros(0, np.bool_))
    places = np.flatnonzero(equal < 0)
    exact = {place: int(equal[place]) for place in np.flatnonzero(equal >= 0).tolist()}
    if not len(places):
        return Verdicts(exact, {}, no_verified_pairs(), index.looked_up, index.is_kept)
    limits = replace(steps.components.limits, first_in_turn=FIRST_OF_POST, most_in_turn=MOST_OF_POST)
    decider = Decider(index, verify, limits, report, steps.workers)
    batch = replace(prepared.batch.take(places), times=times.times[places], oldest=times.edges(held.horizon)[places])
    decisions = decider.decide(batch)
    copies = np.flatnonzero(decisions.exact != NONE)
    exact |= later_equals(exact, prepared, places[decisions.kept], times, held.horizon)
    exact |= dict(zip(places[copies].tolist(), decisions.exact[copies].tolist(), strict=True))
    pairs = decisions.deciding
    near = dict(zip((pairs.later - prepared.positions[0]).tolist(), pairs.earlier.tolist(), strict=True))
    return Verdicts(exact, near, pairs, index.looked_up, index.is_kept)


def later_equals(
    exact: dict[int, int], prepared: PreparedTexts, kept: Int64s, times: PostTimes, horizon: float
) -> dict[int, int]:
    """Return the positions of the last equal posts, of posts that equal one of the window and a kept one of the batch.

    That is so where the kept one came too late for the one of the window, and a post that was made before it comes
    after it. ``kept`` int64[n] are the places of the kept posts.
    """
    later: dict[int, int] = {}
    if not exact:
        return later
    numbers, edges, first = prepared.batch.text_numbers, times.edges(horizon), int(prepared.positions[0])
    places = np.fromiter(exact, np.int64, len(exact))
    for place in places[np.isin(numbers[places], numbers[kept])].tolist():
        equal = kept[(numbers[kept] == numbers[place]) & (kept < place) & (times.times[kept] > edges[place])]
        if len(equal):
            later[place] = first + int(equal[-1])
    return later
