"""Decides a batch: finds the posts that repeat a kept post of the window or an earlier kept post of the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int32s, Int64s, NearPairs, VerifiedPairs
from hybriddup.data.removed import EQUAL
from hybriddup.kernels.search.decide import NONE
from hybriddup.run.bands import Bands
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.steps.deciding.contest import Verify
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.deciding.pairs import no_verified_pairs
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Evidence, PostId
from hybriddup.window.states import KeptIndex

FIRST_OF_POST, MOST_OF_POST = 16, 128
"""Maximum number of pairs of a post that are verified in the first round, and in each later round. With larger rounds
than in a run over a file, slightly more pairs are verified, but in fewer rounds; each round takes at least a
millisecond."""


@dataclass(frozen=True)
class Verdicts:
    """The decisions of a batch, by index of the post in the batch."""

    exact: dict[int, int]
    """Maps the index of each exact repeat in the batch to the position of the kept post with an equal text."""
    near: dict[int, int]
    """Maps the index of each near repeat in the batch to the position of the kept post that it matches."""
    pairs: VerifiedPairs
    """For each near repeat, in the order of ``near``, the pair of this post and the kept post that it matches."""
    looked_up: Batch
    """The texts that were looked up in the index."""
    is_kept: Bools
    """bool[n_looked_up]: whether each text of ``looked_up`` was kept."""

    def keeps(self, place: int) -> bool:
        """Return whether the post at index ``place`` of the batch is kept."""
        return place not in self.exact and place not in self.near

    def evidence(self, keepers: Mapping[int, tuple[PostId, int]], bands: Bands, lengths: Int32s) -> dict[int, Evidence]:
        """Map the index of each duplicate in the batch to its evidence; kept posts are left out.

        ``keepers`` maps each value of ``exact`` and ``near`` to the id and the position of the kept post.
        ``lengths`` is int32[n]: the length of each post of the batch.
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
    """The index of a window, as a `Decider` uses it. It finds only kept posts within the horizon of the post looked up.

    The kept posts of the batch itself are added to the index later, when they are on disk.
    """

    index: KeptIndex
    still_match: Callable[[Int64s, Float64s], Bools]
    """Function that returns, for pairs of a kept post and a cutoff time, bool[n]: whether the kept post is not deleted,
    and its time is after the cutoff. Kept posts are given as ``index`` returns them."""
    prepared: PreparedTexts
    times: Float64s
    """float64[n]: the time of each post of the batch, in seconds since 1970."""
    edges: Float64s
    """float64[n]: the cutoff time of each post; only kept posts with later times can match it."""
    looked_up: Batch = field(init=False)
    """The texts that were looked up; see `Verdicts`."""
    is_kept: Bools = field(init=False)

    def __post_init__(self) -> None:
        self.looked_up, self.is_kept = self.prepared.batch.take(slice(0, 0)), np.zeros(0, np.bool_)

    def look_up(self, batch: Batch) -> NearPairs:
        """Return all pairs of a text in ``batch`` and a kept post that is within the text's horizon."""
        rows = self.searchable(batch)
        near = self.index.look_up(batch.take(rows))
        near = near._replace(later=rows[near.later])
        places = batch.positions[near.later] - self.prepared.positions[0]
        return near.take(self.still_match(near.earlier, self.edges[places]))

    def depths(self, batch: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: for each pair and key, the rank of the earlier post among the posts with this key.

        The newest post has rank 1. The keys are the later post's keys. ``rows``, int64[n], has the later post's row in
        ``batch``, and ``earlier``, int64[n], the earlier post as `look_up` returned it.
        """
        return self.index.depths(batch, rows, earlier)

    def add(self, batch: Batch, is_kept: Bools) -> None:
        """Store the searchable posts of ``batch`` and whether each is kept, for the result of `decide_batch`.

        ``is_kept``: bool[n], for all posts of the batch.
        """
        rows = self.searchable(batch)
        self.looked_up, self.is_kept = batch.take(rows), is_kept[rows]

    def searchable(self, batch: Batch) -> Int64s:
        """Return int64[n]: the rows of a batch that could be near repeats."""
        return np.flatnonzero(self.prepared.searchable[batch.positions - self.prepared.positions[0]])


def decide_batch(index: WindowIndex, equal: Int64s, steps: Steps, verify: Verify, report: BlockReport) -> Verdicts:
    """Decide for each post of ``index.prepared`` whether it is kept, or which earlier kept post it repeats.

    A post repeats a kept post with an equal text or, if there is none, the earliest kept post that matches. ``equal``:
    int64[n], for each post the position of an equal kept post in the window that is within the horizon; -1 = none.
    """
    prepared = index.prepared
    places = np.flatnonzero(equal < 0)
    exact = {place: int(equal[place]) for place in np.flatnonzero(equal >= 0).tolist()}
    if not len(places):
        return Verdicts(exact, {}, no_verified_pairs(), index.looked_up, index.is_kept)
    limits = replace(steps.components.limits, first_in_turn=FIRST_OF_POST, most_in_turn=MOST_OF_POST)
    decider = Decider(index, verify, limits, report, steps.workers)
    batch = replace(prepared.batch.take(places), times=index.times[places], oldest=index.edges[places])
    decisions = decider.decide(batch)
    copies = np.flatnonzero(decisions.exact != NONE)
    exact |= later_equals(exact, index, places[decisions.kept])
    exact |= dict(zip(places[copies].tolist(), decisions.exact[copies].tolist(), strict=True))
    pairs = decisions.deciding
    near = dict(zip((pairs.later - prepared.positions[0]).tolist(), pairs.earlier.tolist(), strict=True))
    return Verdicts(exact, near, pairs, index.looked_up, index.is_kept)


def later_equals(exact: dict[int, int], index: WindowIndex, kept: Int64s) -> dict[int, int]:
    """Find exact repeats of a window post that also repeat an equal post that was kept in the same batch.

    This can happen with event times: a batch keeps a post, because the equal post in the window is too old for it; a
    later post of the batch has an earlier time, for which neither equal post is too old.

    ``exact`` maps the index of each exact repeat in the batch to the position of the equal post in the window.
    ``kept``, int64[n], has the indices of the posts that the batch kept. The result contains only the repeats that
    follow an equal kept post of the batch within the horizon; it maps their indices to the position of the last such
    post.
    """
    later: dict[int, int] = {}
    if not exact:
        return later
    numbers, first = index.prepared.batch.text_numbers, int(index.prepared.positions[0])
    places = np.fromiter(exact, np.int64, len(exact))
    for place in places[np.isin(numbers[places], numbers[kept])].tolist():
        equal = kept[(numbers[kept] == numbers[place]) & (kept < place) & (index.times[kept] > index.edges[place])]
        if len(equal):
            later[place] = first + int(equal[-1])
    return later
