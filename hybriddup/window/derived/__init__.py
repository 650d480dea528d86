"""What the window holds in memory of its kept posts, all of it derived from the store."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybriddup.data.records import Bools, Int64s, UInt64s
from hybriddup.kernels.text.token_table import find_hashes, insert_hashes
from hybriddup.window.derived.kept_posts import KeptColumns, KeptPosts
from hybriddup.window.derived.kept_records import RecordForm
from hybriddup.window.event_time import PostTimes
from hybriddup.window.index import LiveIndex, LiveTexts
from hybriddup.window.preparing import PreparedTexts, TextsAt, key_as_sent
from hybriddup.window.stores import WindowStore

SMALLEST = 1024
FULLEST = 2 / 3
"""Share of the slots that may be taken."""


class ExactTexts:
    """Kept posts by the hash of what they must be equal in. Equal hashes are looked at, and unequal texts told apart.

    Of posts with one text only the latest can still match: while an earlier one did, the latest was not kept. Where the
    latest is removed, the one before takes its place.
    """

    def __init__(self) -> None:
        self._before: dict[int, int] = {}
        """The kept post before, by the position of one with the same text."""
        self._hold(SMALLEST)

    def _hold(self, n_slots: int) -> None:
        self._hashes: UInt64s = np.zeros(n_slots, np.uint64)
        self._positions: Int64s = np.zeros(n_slots, np.int64)
        self._n = 0

    @property
    def n_bytes(self) -> int:
        """Memory of the table."""
        return self._hashes.nbytes + self._positions.nbytes

    def find(self, hashes: UInt64s) -> Int64s:
        """Return int64[n]: the position of the latest kept post with each hash, -1 where there is none."""
        found: Int64s = find_hashes(self._hashes, self._positions, hashes)
        return found

    def add(self, hashes: UInt64s, positions: Int64s, first_remembered: int) -> None:
        """Make kept posts findable; those before ``first_remembered`` are dropped when room is needed."""
        if self._n + len(hashes) > FULLEST * len(self._hashes):
            self._make_room(len(hashes), first_remembered)
        n_new, before = insert_hashes(self._hashes, self._positions, hashes, positions)
        self._n += int(n_new)
        same = np.flatnonzero(before >= first_remembered)
        self._before.update(zip(positions[same].tolist(), before[same].tolist(), strict=True))

    def remove(self, hash_of_text: UInt64s, position: int) -> None:
        """Find a kept post no more; ``hash_of_text`` uint64[1] is that of its text."""
        before = self._before.pop(position, -1)
        if self.find(hash_of_text)[0] == position:
            insert_hashes(self._hashes, self._positions, hash_of_text, np.array([before]))
        for later, one in self._before.items():
            if one == position:
                self._before[later] = before

    def entries(self, first_remembered: int) -> tuple[UInt64s, Int64s]:
        """Return the hashes and positions from a position on."""
        stay = (self._hashes != 0) & (self._positions >= first_remembered)
        return self._hashes[stay], self._positions[stay]

    def _make_room(self, n_more: int, first_remembered: int) -> None:
        hashes, positions = self.entries(first_remembered)
        self._before = {later: one for later, one in self._before.items() if one >= first_remembered}
        n_slots = SMALLEST
        while FULLEST * n_slots < 1.5 * len(hashes) + n_more:
            n_slots *= 2
        self._hold(n_slots)
        self._n = int(insert_hashes(self._hashes, self._positions, hashes, positions)[0])


@dataclass
class DerivedState:
    """The kept posts that may still match: their fingerprints, the hashes of their texts, and their times."""

    index: LiveIndex
    horizon: float
    form: RecordForm | None = None
    """How kept posts are packed for the store; None = the store keeps no records."""
    kept: KeptPosts = field(default_factory=KeptPosts)
    exact: ExactTexts = field(default_factory=ExactTexts)

    @property
    def n_bytes(self) -> int:
        """Memory of all of it."""
        return self.index.n_bytes + self.kept.n_bytes + self.exact.n_bytes

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon when posts of a batch are decided.

        ``earlier`` int64[n] are positions, ``places`` int64[n] those of the later posts in the batch.
        """
        stay = ~self.kept.are_deleted(earlier)
        # next to all are young enough for every post of the batch
        edges = times.edges(self.horizon)
        unsure = np.flatnonzero(earlier < self.kept.first_after(float(edges.max())))
        if len(unsure):
            stay[unsure] = self.kept.times_of(earlier[unsure]) > edges[places[unsure]]
        return stay

    def equal_posts(
        self, prepared: PreparedTexts, times: PostTimes, normalized_at: TextsAt, store: WindowStore
    ) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        found = self.exact.find(prepared.hashes)
        matches = (found >= 0) & (self.kept.times_of(found) > times.edges(self.horizon))
        says = np.fromiter((says_something for says_something, _ in prepared.keys), np.bool_, len(found))
        compared, sent = np.flatnonzero(matches & says), np.flatnonzero(matches & ~says)
        as_sent = zip(normalized_at(found[sent]), store.posts(found[sent]), strict=True)
        texts = [*normalized_at(found[compared]), *(key_as_sent(text, post.text) for text, post in as_sent)]
        equal = np.full(len(found), -1, np.int64)
        for place, text in zip([*compared.tolist(), *sent.tolist()], texts, strict=True):
            if text == prepared.keys[place][1]:
                equal[place] = found[place]
        return equal

    def add(self, columns: KeptColumns, looked_up: LiveTexts | None = None, is_kept: Bools | None = None) -> None:
        """Make kept posts findable, and count look-ups of crowded keys by the texts that were looked up, if any were.

        ``is_kept`` tells which of these are the kept posts.
        """
        self.kept.add(columns.positions, columns.times, columns.watermarks)
        self.exact.add(columns.hashes, columns.positions, self.kept.first_position)
        if looked_up is None or is_kept is None:
            looked_up, is_kept = columns.texts, np.ones(len(columns.texts.prints), np.bool_)
        self.index.add(looked_up, is_kept)

    def delete(self, prepared: PreparedTexts) -> None:
        """Find a kept post no more, of which this is the text."""
        self.kept.delete(prepared.positions)
        self.exact.remove(prepared.hashes, int(prepared.positions[0]))
        self.index.remove(prepared.live)

    def forget(self, watermark: float, first: int = 0) -> int:
        """Forget kept posts that match no more, and those before the position ``first``; return how many."""
        n_forgotten = self.kept.forget_wrong_times(watermark, self.horizon) + self.kept.forget_before(first)
        n_forgotten += self.kept.forget_until(watermark - self.horizon)
        if n_forgotten:
            self.index.forget_before(self.kept.first_position)
        return n_forgotten
