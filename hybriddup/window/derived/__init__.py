"""The kept posts of a window in memory, derived from the store."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, UInt64s
from hybriddup.steps.candidates import Batch
from hybriddup.window.derived.kept_posts import KeptColumns, KeptPosts
from hybriddup.window.derived.kept_records import RecordForm
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.hash_table import HashTable
from hybriddup.window.index import LiveIndex
from hybriddup.window.preparing import PreparedTexts, TextsAt, key_as_sent
from hybriddup.window.stores.store import WindowStore


@dataclass
class DerivedState:
    """The kept posts that new posts may still match: their fingerprints, the hashes of their texts, and their times."""

    index: LiveIndex
    horizon: float
    form: RecordForm | None = None
    """How kept posts are packed for the store; None = the store keeps no records."""
    kept: KeptPosts = field(default_factory=KeptPosts)
    exact: HashTable = field(default_factory=HashTable)
    """Maps the hash of each kept post's key for exact repeats to the post's running number among all kept posts, which
    `KeptPosts.positions_of` converts to a position."""

    @property
    def n_bytes(self) -> int:
        """Memory that the derived state takes, in bytes."""
        return self.index.n_bytes + self.kept.n_bytes + self.exact.n_bytes

    def still_match(self, earlier: Int64s, edges: Float64s) -> Bools:
        """Return bool[n]: for each pair, whether the kept post can still match when the later post is decided.

        ``earlier``, int64[n], has the positions of the kept posts, and ``edges``, float64[n], the cutoff times of the
        later posts. A kept post cannot match if it was deleted, or if its time is not after the cutoff.
        """
        stay = ~self.kept.are_deleted(earlier)
        # next to all are young enough for every post of the batch
        unsure = np.flatnonzero(earlier < self.kept.first_after(float(edges.max(initial=NEVER))))
        if len(unsure):
            stay[unsure] = self.kept.times_of(earlier[unsure]) > edges[unsure]
        return stay

    def equal_posts(
        self, prepared: PreparedTexts, times: PostTimes, normalized_at: TextsAt, store: WindowStore
    ) -> Int64s:
        """Return int64[n]: for each text, the position of the unexpired kept post with an equal text; -1 = none."""
        found = self.latest(prepared.hashes)
        matches = (found >= 0) & (self.kept.times_of(found) > times.edges(self.horizon))
        has_words = np.fromiter((one for one, _ in prepared.keys), np.bool_, len(found))
        compared, sent = np.flatnonzero(matches & has_words), np.flatnonzero(matches & ~has_words)
        as_sent = zip(normalized_at(found[sent]), store.posts(found[sent]), strict=True)
        texts = [*normalized_at(found[compared]), *(key_as_sent(text, post.text) for text, post in as_sent)]
        equal = np.full(len(found), -1, np.int64)
        for place, text in zip([*compared.tolist(), *sent.tolist()], texts, strict=True):
            if text == prepared.keys[place][1]:
                equal[place] = found[place]
        return equal

    def latest(self, hashes: UInt64s) -> Int64s:
        """Return int64[n]: the position of the latest kept post with each hash, -1 = none.

        Of several kept posts with the same text, only the latest can still match: it would not have been kept if an
        earlier one could still match.
        """
        found = self.kept.positions_of(self.exact.latest(hashes))
        for row in np.flatnonzero(self.kept.are_deleted(found)).tolist():
            others = self.kept.positions_of(self.exact.all(hashes[row]))
            found[row] = others[~self.kept.are_deleted(others)].max(initial=-1)
        return found

    def add(self, columns: KeptColumns, looked_up: Batch | None = None, is_kept: Bools | None = None) -> None:
        """Add kept posts to memory, and count the look-ups of keys with more than ``max_bucket_size`` texts.

        ``looked_up`` has the texts that were looked up; ``is_kept``, bool[n], marks those that were kept. Without
        these arguments, all texts in ``columns`` count as looked up and kept.
        """
        self.kept.add(columns.positions, columns.times, columns.watermarks)
        self.exact.add(columns.hashes)
        if looked_up is None or is_kept is None:
            looked_up, is_kept = columns.texts, np.ones(len(columns.texts), np.bool_)
        self.index.add(looked_up, is_kept)

    def delete(self, prepared: PreparedTexts) -> None:
        """Mark a kept post as deleted, so that no new post matches it; ``prepared`` contains its prepared text."""
        self.kept.delete(prepared.positions)
        self.index.remove(prepared.batch)

    def forget(self, watermark: float, first: int = 0) -> int:
        """Forget posts that new posts can no longer match, and posts before position ``first``; return how many."""
        n_forgotten = self.kept.forget_wrong_times(watermark, self.horizon) + self.kept.forget_before(first)
        n_forgotten += self.kept.forget_until(watermark - self.horizon)
        if n_forgotten:
            self.exact.forget_before(self.kept.first_number)
            self.index.forget_before(self.kept.first_position)
        return n_forgotten
