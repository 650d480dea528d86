"""An open window, which decides a batch of posts and writes it to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, compress, pairwise
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.errors import StoreError
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import Verdicts, WindowIndex, decide_batch
from hybriddup.window.derived.deriving import prepare_stored
from hybriddup.window.derived.kept_posts import KeptColumns, columns_of
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.maintenance import STALE, MaintainedState
from hybriddup.window.preparing import PreparedTexts
from hybriddup.window.records import Decision, Post, PostId, StoredPost, decision_of, id_at
from hybriddup.window.renewals import renewed_posts, renewing_copies
from hybriddup.window.stores import EDGES, WATERMARK, Derived, packed


class Part(NamedTuple):
    """Posts to be stored at consecutive positions, and the data derived from them for memory and store."""

    posts: Sequence[StoredPost]
    prepared: PreparedTexts
    columns: KeptColumns
    """The columns of the kept posts."""


class WindowState(MaintainedState):
    """An open window of one process."""

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Decide posts in order, and return the decisions once they are stored."""
        self.catch_up()
        if self.steps.components.settings.window.on_same_id == "answer":
            return self.decide_part(posts)
        edits, answers = self.find_edits(posts), list[Decision]()
        try:
            for begin, end in pairwise(sorted({0, *edits, len(posts)})):
                if begin in edits:
                    self.take_out(posts[begin])
                answers += self.decide_part(posts[begin:end])
        finally:
            if self.replaced:  # nothing was written, so the post is still in the store, and comes back into memory
                self.replaced = []
                with suppress(StoreError):  # of the two errors, the first is raised; the next call tries again
                    self.catch_up()
        return answers

    def find_edits(self, posts: Sequence[Post]) -> set[int]:
        """Return the indices of posts whose id had a different text in the store or earlier in the batch."""
        given = {place: post.id for place, post in enumerate(posts) if post.id is not None}
        texts = {(type(one.id), one.id): one.text for one in self.store.find_ids(list(given.values())) if one}
        edits = set()
        for place, post_id in given.items():
            key, text = (type(post_id), post_id), posts[place].text
            if texts.get(key, text) != text:
                edits.add(place)
            texts[key] = text
        return edits

    def take_out(self, post: Post) -> None:
        """Remove the stored post with the id of ``post`` from memory; the next batch removes it from the store."""
        stored = None if post.id is None else self.post_with(post.id)
        if stored is None:  # forgotten since
            return
        self.replaced = self.all_positions(stored)
        self.n_remembered = STALE  # until the post is replaced in the store, too
        for one in self.replaced:
            self.forget_post(one)

    def decide_part(self, posts: Sequence[Post]) -> list[Decision]:
        """Return the decisions on posts. A post with a known id gets the earlier answer."""
        known = self.known_ids(posts)
        new = [post for place, post in enumerate(posts) if place not in known]
        decided = chain.from_iterable(map(self.decide_new, self.cut(new)))
        answers: list[Decision] = []
        for place in range(len(posts)):
            before = known.get(place)
            if before is None:
                answers.append(decision_of(next(decided)))
            else:
                same = answers[before] if isinstance(before, int) else decision_of(before)
                answers.append(replace(same, repeated=True))
        self.counts.posts["repeated_id"] += len(known)
        return answers

    def known_ids(self, posts: Sequence[Post]) -> dict[int, StoredPost | int]:
        """Map the index of each post with a known id to the earlier post: a stored post, or an index in this batch."""
        places = [place for place, post in enumerate(posts) if post.id is not None]
        ids: list[PostId] = [posts[place].id for place in places]  # type: ignore[misc]  # None was left out
        with self.counts.timed("store"):
            stored = self.store.find_ids(ids) if ids else []
        if self.replaced:
            stored = [None if one in self.replaced else one for one in stored]
        first_with: dict[tuple[type, PostId], int] = {}
        known: dict[int, StoredPost | int] = {}
        for place, post_id, found in zip(places, ids, stored, strict=True):
            before = first_with.setdefault((type(post_id), post_id), place)
            if found is not None:
                known[place] = found
            elif before != place:
                known[place] = before
        return known

    def decide_new(self, posts: Sequence[Post]) -> list[StoredPost]:
        """Decide posts with new ids, write them, and add the kept posts to the index."""
        now = self.timing.now()
        times = self.timing.of_posts(posts, now, self.watermark)
        prepared = self.prepare([post.text for post in posts])
        verdicts = self.decide_batch(prepared, times)
        repeated = verdicts.exact | verdicts.near
        renewing, end = self.renewing(repeated, times)
        if end < len(posts):  # by event time, a batch may be longer than a horizon
            return [*self.decide_new(posts[:end]), *self.decide_new(posts[end:])]
        keepers = self.earlier_keepers(repeated)
        stored = self.describe(posts, prepared, times, verdicts, keepers)
        kept = np.array([post.kept for post in stored], np.bool_)
        columns = columns_of(prepared, times, kept)
        again = renewed_posts(renewing, stored, keepers, repeated if self.store.counts else {})
        parts = [Part(stored, prepared, columns), *self.renew(again, times)]
        pairs = [(post.position, of) for post, of in zip(again, sorted(renewing), strict=True)]
        with self.counts.timed("store"):
            meta = self.meta_after(times) | (self.meta_without(self.replaced) if self.replaced else {})
            moved: dict[int | None, int] = {before: position for position, before in pairs}
            gone = [(one, moved.get(of := self.repeated_by(one), of)) for one in self.replaced]
            self.store.append([*stored, *again], meta, self.pack(parts), keepers, pairs, gone)
        self.unsaved, self.replaced = {}, []
        self.audit(prepared, times, verdicts)
        # the memory changes only now, so that a batch that could not be written leaves no trace
        with self.counts.timed("index"):
            self.change_or_derive(partial(self.remember, parts, times, verdicts, pairs))
        self.count(stored, prepared, times)
        self.warn_if_ahead(now)
        self.learn_if_due()
        return stored

    def audit(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts) -> None:
        """Continue the audit, if enabled: compare a sample of the decided posts with the posts kept before them."""
        if self.steps.components.settings.audit.sample and not self.is_learning:
            with self.counts.timed("audit"):
                self.live_audit.follow(prepared, times, verdicts, self)

    def meta_after(self, times: PostTimes) -> dict[str, bytes]:
        """Return the values to store with a batch: the watermark and, if they changed, learned data and `Edges`."""
        meta = {WATERMARK: packed(float(times.watermarks[-1])), **self.unsaved}
        if self.watermark > NEVER and self.edges.note(self.store.next_position, self.watermark):
            meta[EDGES] = self.edges.pack()
        return meta

    def renewing(self, repeated: Mapping[int, int], times: PostTimes) -> tuple[dict[int, int], int]:
        """Find the copies in a batch that renew a kept post; parameters and result are as in `renewing_copies`."""
        if not (repeated and self.steps.components.settings.window.renew):
            return {}, len(times.times)
        first, horizon = self.store.next_position, self.timing.horizon
        positions = np.unique(list(repeated.values())).astype(np.int64)
        of_batch = np.maximum(positions - first, 0)
        kept_at = np.where(positions < first, self.derived.kept.times_of(positions), times.times[of_batch])
        by_position = dict(zip(positions.tolist(), kept_at.tolist(), strict=True))
        return renewing_copies(repeated, by_position, times.times, times.edges(horizon), horizon)

    def renew(self, again: Sequence[StoredPost], times: PostTimes) -> list[Part]:
        """Prepare the renewed posts ``again``, to be stored after a batch; ``times`` are the times of this batch.

        Return a list with a single `Part` that contains them; an empty list if ``again`` is empty.
        """
        if not again:
            return []
        own = np.array([post.time for post in again])
        own_times = PostTimes(own, np.full(len(own), times.watermarks[-1]))
        prepared = prepare_stored(self.steps, again)
        return [Part(again, prepared, columns_of(prepared, own_times, np.ones(len(own), np.bool_)))]

    def pack(self, parts: Sequence[Part]) -> Derived | None:
        """Return the derived data of consecutive parts, for the store; None if the store keeps no derived data."""
        form = self.derived.form
        if form is None:
            return None
        packed = []
        for posts, prepared, columns in parts:
            normalized = [text if post.kept else None for post, text in zip(posts, prepared.normalized, strict=True)]
            packed.append(form.derived(columns, posts[0].position, posts[-1].position + 1, normalized))
        texts = [text for one in packed for text in one.normalized]
        return Derived(form.made_with, [records for one in packed for records in one.parts], texts)

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Prepare texts for a look-up; they get the positions after all posts of the store."""
        with self.counts.timed("normalize"):
            normalized = self.steps.normalize(texts)
        with self.counts.timed("fingerprint"):
            first = self.store.next_position
            return self.steps.prepare(texts, normalized, np.arange(first, first + len(texts)))

    def decide_batch(self, prepared: PreparedTexts, times: PostTimes) -> Verdicts:
        """Decide the posts against the window and each other."""
        seconds = self.counts.seconds["verify"]
        report = BlockReport()
        with self.counts.timed("look up"):
            equal, edges = self.equal_posts(prepared, times), times.edges(self.timing.horizon)
            index = WindowIndex(self.derived.index, self.derived.still_match, prepared, times.times, edges)
            verdicts = decide_batch(index, equal, self.steps, partial(self.verify, prepared), report)
        self.counts.seconds["look up"] -= self.counts.seconds["verify"] - seconds
        self.counts.limits_hit.update(report.limits_hit)
        newest = self.renewals.newest
        exact, near = ({place: newest(of) for place, of in found.items()} for found in (verdicts.exact, verdicts.near))
        return replace(verdicts, exact=exact, near=near)

    def verify(self, prepared: PreparedTexts, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs]: whether the verifiers accept each pair; and the accepted pairs."""
        with self.counts.timed("verify"):
            return self.steps.verify(pairs, prepared, self.earlier)

    def earlier_keepers(self, repeated: Mapping[int, int]) -> list[StoredPost]:
        """Return the kept posts that a batch repeats and that were stored before the batch.

        ``repeated`` maps indices in the batch to the positions of kept posts; some of these may be in the batch itself.
        """
        positions = np.unique(list(repeated.values())).astype(np.int64)
        return self.store.posts(positions[positions < self.store.next_position])

    def describe(
        self,
        posts: Sequence[Post],
        prepared: PreparedTexts,
        times: PostTimes,
        verdicts: Verdicts,
        keepers: Sequence[StoredPost],
    ) -> list[StoredPost]:
        """Return the posts of a batch as they are stored, with the evidence for each duplicate.

        ``keepers`` are the stored posts that the batch repeats.
        """
        positions = prepared.positions.tolist()
        texts, _, _, authors = zip(*posts, strict=True)
        ids = list(map(id_at, positions, posts))
        names = dict(zip(positions, zip(ids, positions, strict=True), strict=True))
        names |= {post.position: (post.id, post.position) for post in keepers}
        evidence = verdicts.evidence(names, self.steps.components.bands, prepared.lengths)
        reasons = map(evidence.get, range(len(posts)))
        return list(map(StoredPost, positions, ids, times.times.tolist(), texts, reasons, authors))

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: for each text, the position of the unexpired kept post with an equal text; -1 = none."""
        return self.derived.equal_posts(prepared, times, self.texts, self.store)

    def remember(
        self, parts: Sequence[Part], times: PostTimes, verdicts: Verdicts, renewals: Sequence[tuple[int, int]]
    ) -> None:
        """Add the kept and renewed posts of a written batch to memory, and forget posts that are too old.

        ``renewals`` has the new and the previous position of each renewed post.
        """
        (_, prepared, columns), *again = parts
        chosen = np.isin(prepared.positions, columns.positions).tolist()
        normalized, compared = (list(compress(texts, chosen)) for texts in (prepared.normalized, prepared.compared))
        self.earlier.hold(columns.positions.tolist(), normalized, compared)
        self.derived.add(columns, verdicts.looked_up, verdicts.is_kept)
        for part in again:
            self.derived.add(part.columns)
        self.renewals.add(renewals)
        self.watermark, self.last_time = float(times.watermarks[-1]), float(times.times[-1])
        self.n_remembered = self.store.next_position
        self.forget()

    def count(self, stored: Sequence[StoredPost], prepared: PreparedTexts, times: PostTimes) -> None:
        """Count decided posts by outcome and length band, and count late posts."""
        self.counts.posts["late"] += int((times.times <= times.watermarks - self.timing.horizon).sum())
        own_bands = self.steps.components.bands.names_of(prepared.lengths)
        self.counts.decided(
            ("kept", band) if post.evidence is None else (post.evidence.reason, post.evidence.length_band)
            for post, band in zip(stored, own_bands, strict=True)
        )
