"""Where posts of a batch meet others: what stands in their buckets, which of it matches, and what follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hybriddup.data.records import (
    Bools,
    CandidatePairs,
    Fingerprints,
    Float64s,
    Int64s,
    NearPairs,
    UInt64s,
    VerifiedPairs,
)
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import Verdicts, decide_batch
from hybriddup.window.event_time import PostTimes
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.shared.candidates import (
    Buckets,
    MetIndex,
    MetPosts,
    buckets_of,
    depths_of,
    near_meetings,
    near_pairs,
    nearest,
)
from hybriddup.window.shared.store import UNDECIDED, Entries, Record, State


class Encounter:
    """Open posts of a batch, and the others that they met in the buckets of their probes, uint64[n, n_keys + 1].

    The last probe is that of equal texts.
    """

    def __init__(
        self, prepared: PreparedTexts, times: PostTimes, probes: UInt64s, found: Entries, steps: Steps, horizon: float
    ) -> None:
        self._prepared, self._times, self._steps, self._horizon = prepared, times, steps, horizon
        self._records: dict[int, Record] = {}
        met = buckets_of(probes, found, prepared.positions)
        self._find_near(met)
        self._equal = met.others_by(probes.shape[1] - 1)
        self.positions: Int64s = np.unique(np.concatenate([self._near.earlier, self._equal[1]]))
        """int64[n], rising: of the others that may match."""

    def _find_near(self, met: Buckets) -> None:
        """Note the near pairs: rows of the near texts with positions; and how deep these stand in their buckets."""
        components, live = self._steps.components, self._prepared.live
        most = components.block_index.max_bucket_size
        found = near_meetings(live, self._prepared.live_rows, met, components.bands, most)
        near, pair_of = near_pairs(found)
        depths = depths_of(found, pair_of, len(near.later), live.probes.shape[1])
        chosen = nearest(near, components.limits.most_pairs(live.prints.limits.lengths))
        self._near, self._depths = near.take(chosen), depths[chosen]

    def note(self, positions: Int64s, records: Sequence[Record | None]) -> None:
        """Take note of the records of some of the others, of whom some may be gone."""
        for position, record in zip(positions.tolist(), records, strict=True):
            if record is None:
                self._records.pop(position, None)
            else:
                self._records[position] = record

    def rivals(self) -> Mapping[int, State]:
        """Return those of the others that are undecided and match, by position."""
        undecided = sorted(position for position, one in self._records.items() if one.state in UNDECIDED)
        if not undecided:
            return {}
        both = self._numbered(undecided)
        matched = set(both.equal[both.equal >= 0].tolist())
        later = both.prepared.live.prints.positions[both.near.later]
        pairs = CandidatePairs(both.near.earlier, later, both.near.distances)
        if len(pairs):
            accepted, _ = self._steps.verify(pairs, both.prepared, self._steps.earlier_texts(both.texts))
            matched |= set(pairs.earlier[accepted].tolist())
        return {one.post.position: one.state for one in (both.records[number] for number in sorted(matched))}

    def verdicts(self, report: BlockReport) -> tuple[Verdicts, list[Record]]:
        """Return what is to become of the open posts, by those of the others that are kept, and by each other.

        Keepers are told by number: first come the records, which are returned too, then the open posts.
        """
        both = self._numbered(sorted(position for position, one in self._records.items() if one.state is State.KEPT))
        earlier = self._steps.earlier_texts(both.texts)

        def verify(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
            return self._steps.verify(pairs, both.prepared, earlier)

        index = MetIndex(both.prepared.live.prints.positions, both.near, both.depths)
        times = np.array([one.post.time for one in both.records], np.float64)
        kept = MetPosts(index, times, self._horizon)
        found = decide_batch(both.prepared, both.equal, self._times, kept, self._steps, verify, report)
        return found, both.records

    def _numbered(self, positions: Sequence[int]) -> Numbered:
        """Return the open posts and some of the others, numbered from 0, these before those."""
        others, records = np.array(positions, np.int64), [self._records[position] for position in positions]
        texts = self._steps.normalize([one.post.text for one in records])
        edges, keys = self._times.edges(self._horizon), self._prepared.keys
        equal = latest_equals(self._equal, self._records, dict(zip(positions, texts, strict=True)), keys, edges)
        chosen = np.isin(self._near.earlier, others)
        near = self._near.take(chosen)
        return Numbered(
            records,
            texts,
            numbered_from(self._prepared, len(positions)),
            near._replace(earlier=np.searchsorted(others, near.earlier)),
            self._depths[chosen],
            np.where(equal >= 0, np.searchsorted(others, equal), -1),
        )


def latest_equals(
    met: tuple[Int64s, Int64s],
    records: Mapping[int, Record],
    normalized: Mapping[int, str],
    keys: Sequence[tuple[bool, str]],
    edges: Float64s,
) -> Int64s:
    """Return int64[n]: the position of the latest post that each text meets, equals, and still matches, -1 = none.

    ``met`` are rows of texts, and positions of posts that each meets; ``normalized`` has the texts of those that count.
    """
    equal = np.full(len(keys), -1, np.int64)
    for row, position in sorted(zip(*(column.tolist() for column in met), strict=True)):
        if position in normalized and records[position].post.time > edges[row]:
            says, text = keys[row]
            if text == (normalized[position] if says else records[position].post.text):
                equal[row] = position
    return equal


@dataclass(frozen=True)
class Numbered:
    """Open posts and others that they met, numbered in one row: the others from 0, then the open ones."""

    records: list[Record]
    """Of the others, rising by position."""
    normalized: Sequence[str]
    """Their texts."""
    prepared: PreparedTexts
    """The open ones, by their numbers."""
    near: NearPairs
    """Rows of the near texts of the open ones with numbers of the others."""
    depths: Int64s
    equal: Int64s
    """int64[n_open]: the number of an equal one of the others, -1 = none."""

    def texts(self, numbers: Int64s) -> list[str]:
        """Return the normalized texts of some of the others."""
        return [self.normalized[number] for number in numbers.tolist()]


def numbered_from(prepared: PreparedTexts, first: int) -> PreparedTexts:
    """Return the texts at consecutive positions."""
    numbers = np.arange(first, first + len(prepared.positions), dtype=np.int64)
    prints = prepared.live.prints
    live = replace(prepared.live, prints=Fingerprints(numbers[prepared.places], prints.bits, prints.limits))
    return prepared._replace(positions=numbers, live=live)
