"""Compares the undecided posts of a batch with the candidates in their buckets, and decides these posts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int64s, NearPairs, VerifiedPairs
from hybriddup.kernels.search.decide import may_be_verified
from hybriddup.shared_windows.candidates import may_be_undecided, near_meetings, near_pairs
from hybriddup.shared_windows.store import UNDECIDED, Block, Entries, PostRecord, State
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates import Batch
from hybriddup.window.deciding import Verdicts, WindowIndex, decide_batch
from hybriddup.window.preparing import PreparedTexts, Steps


class Encounter:
    """The leading posts of a batch, which are being decided, and the candidates in the buckets that they look up.

    Parameters
    ----------
    prepared
        The leading posts.
    times, edges
        float64[n]: the time of each leading post, and its cutoff time: only posts with later times can match it.
    found
        The contents of the buckets that these posts look up, in ascending order of the distinct keys.
    unfinished
        The ranges of positions that may have undecided posts; see
        `hybriddup.shared_windows.candidates.may_be_undecided`.
    steps
        Steps of the window.
    """

    def __init__(
        self,
        prepared: PreparedTexts,
        times: Float64s,
        edges: Float64s,
        found: Entries,
        unfinished: Sequence[Block],
        steps: Steps,
    ) -> None:
        self._prepared, self._times, self._edges, self._steps = prepared, times, edges, steps
        self._records: dict[int, PostRecord] = {}
        self._matches: dict[int, bool] = {}
        """For each candidate that was undecided when it was read, by position: whether it matches a leading post."""
        self._near, self._depths = self._find_near(found, unfinished)
        self.positions: Int64s = np.unique(self._near.earlier)
        """int64[n]: positions of the candidates, ascending."""

    def _find_near(self, found: Entries, unfinished: Sequence[Block]) -> tuple[NearPairs, Int64s]:
        """Return the near pairs of leading posts (which are being decided) and candidates, and the candidates' ranks.

        In the pairs, ``later`` is the row of the leading post, and ``earlier`` the position of the candidate. The ranks
        are int64[n, n_keys]: for each pair, the rank of the candidate in the bucket of each key of the leading post,
        1 = the newest, 0 = not in the bucket.
        """
        components, batch = self._steps.components, self._prepared.batch
        met = near_meetings(batch, found, components.bands, components.block_index.max_bucket_size, unfinished)
        near, pair_of = near_pairs(met)
        depths = np.zeros((len(near.later), batch.probes.shape[1]), np.int64)
        depths[pair_of, met.key] = met.numbers
        bucket, most = components.limits.max_bucket_size, components.limits.most_pairs(batch.columns.lengths)
        # worst case: all leading posts before this one are kept, and push the candidate out of its buckets
        is_sure = (near.depths + near.later <= bucket) | (bucket == 0)
        is_sure &= ~may_be_undecided(near.earlier, unfinished)
        chosen = may_be_verified(near.later, near.distances, is_sure, most)
        return near.take(chosen), depths[chosen]

    def note(self, positions: Int64s, records: Sequence[PostRecord | None]) -> None:
        """Keep the current records of the candidates at ``positions`` for `verdicts`; None = drop the candidate."""
        found = self._records | dict(zip(positions.tolist(), records, strict=True))
        self._records = {position: record for position, record in found.items() if record is not None}

    def rivals(self) -> Mapping[int, State]:
        """Return the state of each undecided candidate that matches a leading post, by the candidate's position."""
        undecided = {position: one.state for position, one in sorted(self._records.items()) if one.state in UNDECIDED}
        if new := [position for position in undecided if position not in self._matches]:
            self._matches |= dict.fromkeys(new, False) | dict.fromkeys(self._matching(new), True)
        return {position: state for position, state in undecided.items() if self._matches[position]}

    def _matching(self, positions: Sequence[int]) -> list[int]:
        """Return the positions of the candidates, out of ``positions``, that match a leading post."""
        both = self._numbered(positions)
        pairs = both.pairs()
        if not len(pairs):
            return []
        return [positions[number] for number in np.unique(pairs.earlier[both.verify(pairs)[0]]).tolist()]

    def verdicts(self, report: BlockReport) -> tuple[Verdicts, list[PostRecord]]:
        """Decide the leading posts, the batch's holders of their texts, against kept candidates and each other.

        Return the verdicts, and the records of the kept candidates. A verdict gives a matched post by number: number
        ``i`` is record ``i``, and the numbers after the last record are the leading posts, in order.
        """
        both = self._numbered(sorted(position for position, one in self._records.items() if one.state is State.KEPT))
        nothing_equal = np.full(len(both.prepared.positions), -1, np.int64)  # no leading post equals a kept one
        index = WindowIndex(both, both.still_match, both.prepared, self._times, self._edges)
        return decide_batch(index, nothing_equal, self._steps, both.verify, report), both.records

    def _numbered(self, positions: Sequence[int]) -> Numbered:
        """Return the candidates at ``positions`` and the leading posts, numbered in one sequence, candidates first.

        Leading posts are the posts that are being decided. Near pairs with other candidates are left out.
        """
        others, records = np.array(positions, np.int64), [self._records[position] for position in positions]
        chosen = np.isin(self._near.earlier, others)
        near = self._near.take(chosen)
        near = near._replace(earlier=np.searchsorted(others, near.earlier))
        return Numbered(records, self._prepared, near, self._depths[chosen], self._steps)


class Numbered:
    """Candidates and leading posts of a batch, numbered in one sequence: candidates from 0, then leading posts.

    `decide_batch` uses this object as a `KeptIndex`; all candidates must then be kept posts. In the near pairs,
    ``later`` is the row of a leading post, and ``earlier`` the number of a candidate.
    """

    def __init__(
        self, records: list[PostRecord], prepared: PreparedTexts, near: NearPairs, depths: Int64s, steps: Steps
    ) -> None:
        self.records = records
        """The records of the candidates, in order of position."""
        numbers = np.arange(len(records), len(records) + len(prepared.positions), dtype=np.int64)
        self.prepared = prepared._replace(batch=replace(prepared.batch, positions=numbers))
        """The leading posts, the ones to be decided, with their numbers in this sequence in place of positions."""
        self._near, self._depths, self._steps = near, depths, steps
        self._normalized = steps.normalize([one.post.text for one in records])
        self._times = np.array([one.post.time for one in records], np.float64)
        self._earlier = steps.earlier_texts(lambda wanted: [self._normalized[number] for number in wanted.tolist()])

    def pairs(self) -> CandidatePairs:
        """Return the near pairs; candidates and leading posts are given by their numbers."""
        return CandidatePairs(self._near.earlier, self.prepared.positions[self._near.later], self._near.distances)

    def verify(self, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs]: whether the verifiers accept each pair; and the accepted pairs."""
        return self._steps.verify(pairs, self.prepared, self._earlier)

    def look_up(self, texts: Batch) -> NearPairs:
        """Return all pairs of a text in ``texts`` and a candidate; ``later`` is an index in ``texts``."""
        row_of = np.full(len(self.prepared.positions), -1, np.int64)
        row_of[texts.positions - len(self.records)] = np.arange(len(texts))
        near = self._near.take(row_of[self._near.later] >= 0)
        return near._replace(later=row_of[near.later])

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_keys]: for each pair, the rank of the candidate in the bucket of each key of the text.

        1 = the newest, 0 = not in the bucket. ``rows`` has the indices of the texts in ``texts``, and ``earlier`` the
        numbers of the candidates.
        """
        n = len(self.records)
        later = texts.positions[rows] - n
        return self._depths[np.searchsorted(self._near.later * n + self._near.earlier, later * n + earlier)]

    def still_match(self, earlier: Int64s, edges: Float64s) -> Bools:
        """Return bool[n]: for each pair, whether the candidate's time is after the cutoff time of the later text.

        ``earlier`` has the numbers of the candidates, and ``edges``, float64[n], the cutoff times.
        """
        return np.asarray(self._times[earlier] > edges)
