"""An open window: decide a batch and write it. One call at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int64s, VerifiedPairs
from hybriddup.steps.blocks import BlockReport
from hybriddup.window.deciding import Verdicts, decide_batch
from hybriddup.window.derived.kept_posts import KeptColumns, columns_of
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.maintenance import MaintainedState
from hybriddup.window.preparing import PreparedTexts
from hybriddup.window.records import Decision, Post, PostId, StoredPost, decision_of, made_id
from hybriddup.window.stores import EDGES, WATERMARK, Derived, packed


class WindowState(MaintainedState):
    """An open window of one process."""

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Return the decisions on posts, after they are stored."""
        self.catch_up()
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
        """Return the earlier posts with the same ids, by place: a stored post, or the place of one in this batch."""
        places = [place for place, post in enumerate(posts) if post.id is not None]
        ids: list[PostId] = [posts[place].id for place in places]  # type: ignore[misc]  # None was left out
        with self.counts.timed("store"):
            stored = self.store.find_ids(ids) if ids else []
        first_with: dict[tuple[type, PostId], int] = {}
        known: dict[int, StoredPost | int] = {}
        for place, post_id, found in zip(places, ids, stored, strict=True):
            before = first_with.setdefault((type(post_id), post_id), place)
            if found is not None:
                known[place] = found
            elif before != place:
                known[place] = before
        return known

    def cut(self, posts: Sequence[Post]) -> list[Sequence[Post]]:
        """Split posts at the point where the window learns, so that decisions do not depend on the batches."""
        if not posts:
            return []
        n_first = self.n_until_learning(len(posts))
        return [part for part in (posts[:n_first], posts[n_first:]) if part]

    def decide_new(self, posts: Sequence[Post]) -> list[StoredPost]:
        """Decide posts with new ids, write them, and make the kept ones findable."""
        now = self.timing.now()
        times = self.timing.of_posts(posts, now, self.watermark)
        prepared = self.prepare([post.text for post in posts])
        verdicts = self.decide_batch(prepared, times)
        keepers = self.earlier_keepers(verdicts)
        stored = self.describe(posts, prepared, times, verdicts, keepers)
        kept = np.array([post.kept for post in stored], np.bool_)
        columns = columns_of(prepared, times, kept)
        with self.counts.timed("store"):
            self.store.append(stored, self.meta_after(times), self.pack(stored, prepared, columns), keepers)
        self.unsaved = {}
        self.audit(prepared, times, verdicts)
        # the memory changes only now, so that a batch that could not be written leaves no trace
        with self.counts.timed("index"):
            self.change_or_derive(partial(self.remember, prepared, times, verdicts, columns))
        self.count(stored, prepared, times)
        self.warn_if_ahead(now)
        self.learn_if_due()
        return stored

    def audit(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts) -> None:
        """Audit: sample decided posts, and compare them with the window as it was when they were decided."""
        if self.steps.components.settings.audit.sample and not self.is_learning:
            with self.counts.timed("audit"):
                self.live_audit.follow(prepared, times, verdicts, self)

    def meta_after(self, times: PostTimes) -> dict[str, bytes]:
        """Return the values to store with a batch: the watermark, and learned data and edges if they are due."""
        meta = {WATERMARK: packed(float(times.watermarks[-1])), **self.unsaved}
        if self.watermark > NEVER and self.edges.note(self.store.next_position, self.watermark):
            meta[EDGES] = self.edges.pack()
        return meta

    def pack(self, stored: Sequence[StoredPost], prepared: PreparedTexts, columns: KeptColumns) -> Derived | None:
        """Return the derived data of a batch, with ``columns`` of its kept posts; None if the store keeps none."""
        form = self.derived.form
        if form is None:
            return None
        normalized = [text if post.kept else None for post, text in zip(stored, prepared.normalized, strict=True)]
        return form.derived(columns, stored[0].position, stored[-1].position + 1, normalized)

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Prepare texts for a look-up, at the next positions."""
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
            equal = self.equal_posts(prepared, times)
            verify = partial(self.verify, prepared)
            verdicts = decide_batch(prepared, equal, times, self.derived, self.steps, verify, report)
        self.counts.seconds["look up"] -= self.counts.seconds["verify"] - seconds
        self.counts.limits_hit.update(report.limits_hit)
        return verdicts

    def verify(self, prepared: PreparedTexts, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs], which pairs the verifiers accept, and the accepted pairs."""
        with self.counts.timed("verify"):
            return self.steps.verify(pairs, prepared, self.earlier)

    def earlier_keepers(self, verdicts: Verdicts) -> list[StoredPost]:
        """Return the posts of the store that posts of a batch repeat."""
        positions = np.unique([*verdicts.exact.values(), *verdicts.near.values()]).astype(np.int64)
        return self.store.posts(positions[positions < self.store.next_position])

    def describe(
        self,
        posts: Sequence[Post],
        prepared: PreparedTexts,
        times: PostTimes,
        verdicts: Verdicts,
        keepers: Sequence[StoredPost],
    ) -> list[StoredPost]:
        """Return the posts as they are stored, with their evidence; ``keepers`` are of the store."""
        positions = prepared.positions.tolist()
        ids = [
            made_id(position) if post.id is None else post.id for post, position in zip(posts, positions, strict=True)
        ]
        names = {post.position: (post.id, post.position) for post in keepers}
        names |= {position: (name, position) for position, name in zip(positions, ids, strict=True)}
        evidence = verdicts.evidence(names, self.steps.components.bands, prepared.lengths)
        texts, reasons = (post.text for post in posts), map(evidence.get, range(len(posts)))
        authors = (post.author for post in posts)
        return list(map(StoredPost, positions, ids, times.times.tolist(), texts, reasons, authors))

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        return self.derived.equal_posts(prepared, times, self.texts, self.store)

    def remember(self, prepared: PreparedTexts, times: PostTimes, verdicts: Verdicts, columns: KeptColumns) -> None:
        """Make the kept posts of a written batch findable, and forget posts that are too old."""
        chosen = np.isin(prepared.positions, columns.positions).tolist()
        normalized, compared = (list(compress(texts, chosen)) for texts in (prepared.normalized, prepared.compared))
        self.earlier.hold(columns.positions.tolist(), normalized, compared)
        self.derived.add(columns, verdicts.looked_up, verdicts.is_kept)
        self.watermark, self.last_time = float(times.watermarks[-1]), float(times.times[-1])
        self.n_remembered = self.store.next_position
        self.forget()

    def count(self, stored: Sequence[StoredPost], prepared: PreparedTexts, times: PostTimes) -> None:
        """Count decided posts by outcome."""
        self.counts.posts["late"] += int((times.times <= times.watermarks - self.timing.horizon).sum())
        own_bands = self.steps.components.bands.names_of(prepared.lengths)
        self.counts.decided(
            ("kept", band) if post.evidence is None else (post.evidence.reason, post.evidence.length_band)
            for post, band in zip(stored, own_bands, strict=True)
        )
