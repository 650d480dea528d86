"""What a report shows of a run: counts, what charts draw, and samples that are the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Float64s, Int64s, Removed
from hybriddup.data.removed import RemovedPosts
from hybriddup.data.spread import spread_rows
from hybriddup.run.near_misses import NearMiss, NearMisses
from hybriddup.run.report.days import Days, days_of
from hybriddup.run.report.differences import MarkedText, marked_texts
from hybriddup.run.summary import Summary

NEAR_SHOWN, EXACT_SHOWN, MISSES_SHOWN = 200, 20, 30
SCORE_BINS = 20
"""Parts of the scores, of which about as many pairs each are shown."""
CLUSTERS_SHOWN, MEMBERS_SHOWN = 10, 6
MOST_MEMBERS = 2000
"""Members of a cluster that are looked at, to show those of its texts that are most frequent."""


class ShownPair(NamedTuple):
    """Two posts beside each other, with their differences marked."""

    post: Removed | NearMiss
    earlier: MarkedText
    text: MarkedText


class ShownMember(NamedTuple):
    """A text of a cluster, and how many of its posts have it."""

    text: MarkedText
    post: Removed
    n: int


class ShownCluster(NamedTuple):
    """A kept post, and the texts of those that were removed for it."""

    keeper_row: int
    keeper_id: Any
    keeper_text: str
    n_removed: int
    members: list[ShownMember]
    n_more: int
    """Posts whose texts are not shown; those with the keeper's own text are counted here."""


@dataclass(frozen=True)
class Contents:
    """A run as its report shows it."""

    summary: Summary
    settings: Settings
    corpus: Corpus
    removed: RemovedPosts
    dropped: Sequence[int]
    """The rows that were left out for having no text."""
    misses: NearMisses
    times: Sequence[Any] | None
    """When each post of the corpus was made; None where nobody knows."""

    @cached_property
    def near(self) -> Int64s:
        """int64[n_near]: which of the removed posts are near repeats."""
        return np.flatnonzero(~self.removed.columns.is_exact)

    @cached_property
    def near_scores(self) -> Float64s:
        """float64[n_near]: their scores."""
        return self.removed.columns.scores[self.near]

    @property
    def counts(self) -> list[tuple[str, int]]:
        """What became of the posts; the first is how many there were."""
        of = self.summary
        n_left_out = of.n_read - of.n_kept - of.n_exact - of.n_near
        more = {"left out, without text": n_left_out, "bad lines": of.n_bad_lines}
        counts = {"posts": of.n_read, "kept": of.n_kept, "near repeats": of.n_near, "exact repeats": of.n_exact}
        return [*counts.items(), *((name, n) for name, n in more.items() if n)]

    @property
    def limits(self) -> list[tuple[str, int]]:
        """How often each limit was hit, of those that were."""
        return [(name, n) for name, n in self.summary.blocks.limits_hit.items() if n]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What else there is to say of the run; nothing that differs from one time to the next."""
        of = self.summary
        recall, margin = of.estimated_stage1_recall, of.estimated_stage1_recall_margin
        interval = f" ± {margin:.4f}" if margin else ""
        return [
            ("recall of stage 1", "not estimated" if recall is None else f"{recall:.4f}{interval}, estimated"),
            ("candidate pairs", f"{of.n_candidate_pairs:,}"),
            ("verified pairs", f"{of.n_verified_pairs:,}"),
            ("posts without text", f"{of.n_without_text:,}"),
            ("block index", of.blocks.shape or "unknown"),
            ("recipe id", of.recipe_id),
        ]

    @property
    def band_names(self) -> list[str]:
        """The length bands, in characters."""
        return [band.name(lower) for lower, band in self.settings.bands()]

    def by_band(self) -> dict[str, list[int]]:
        """Return the removed posts of each length band, by reason."""
        columns, n = self.removed.columns, len(self.band_names)
        return {
            reason: np.bincount(columns.length_bands[columns.is_exact == is_exact], minlength=n).tolist()
            for reason, is_exact in (("exact repeats", True), ("near repeats", False))
        }

    def by_day(self) -> Days | None:
        """Return what became of the posts of each day; None where posts have no times."""
        if self.times is None:
            return None
        rows, names = self.corpus.rows, ("kept", "exact repeats", "near repeats", "left out")
        outcomes = np.zeros(len(rows), np.int64)
        outcomes[np.searchsorted(rows, self.removed.rows)] = np.where(self.removed.columns.is_exact, 1, 2)
        outcomes[np.searchsorted(rows, self.dropped)] = 3
        return days_of(self.times, outcomes, names if self.dropped else names[:3])

    @property
    def thresholds(self) -> list[float]:
        """The thresholds that pairs reached or missed, rising."""
        reached = self.removed.columns.thresholds[self.near]
        thresholds: list[float] = np.unique(np.concatenate([reached, self.misses.thresholds])).tolist()
        return thresholds

    @property
    def distance_limits(self) -> list[int]:
        """The limits of the length bands in which near repeats are looked for, rising."""
        return sorted({band.max_hamming_distance for band in self.settings.lengths if band.max_hamming_distance})

    def pairs(self) -> list[ShownPair]:
        """Return removed posts beside their keepers: near repeats from all scores, the lowest first, then exact."""
        exact = np.flatnonzero(self.removed.columns.is_exact)
        near = self.near[evenly_by_score(self.near_scores, NEAR_SHOWN)]
        chosen = np.concatenate([near, exact[spread_rows(len(exact), EXACT_SHOWN)]])
        posts = [self.removed[place] for place in chosen.tolist()]
        return [shown_pair(post, post.keeper_text) for post in posts]

    def nearest_misses(self) -> list[ShownPair]:
        """Return the near misses that came nearest to their thresholds."""
        return [shown_pair(miss, miss.earlier_text) for miss in self.misses.first(MISSES_SHOWN)]

    def clusters(self) -> list[ShownCluster]:
        """Return the kept posts for which most posts were removed."""
        keepers = self.removed.columns.keepers
        sizes = np.bincount(keepers)
        largest = np.argsort(-sizes, kind="stable")[:CLUSTERS_SHOWN]
        return [self._cluster(np.flatnonzero(keepers == keeper)) for keeper in largest.tolist() if sizes[keeper]]

    def _cluster(self, places: Int64s) -> ShownCluster:
        posts = [self.removed[place] for place in places[spread_rows(len(places), MOST_MEMBERS)].tolist()]
        one = posts[0]
        counts = Counter(post.text for post in posts if post.text != one.keeper_text)
        first_with = {post.text: post for post in reversed(posts)}
        members = [
            ShownMember(marked_texts(one.keeper_text, text)[1], first_with[text], n)
            for text, n in counts.most_common(MEMBERS_SHOWN)
        ]
        n_more = len(places) - sum(member.n for member in members)
        return ShownCluster(one.keeper_row, one.keeper_id, one.keeper_text, len(places), members, n_more)


def shown_pair(post: Removed | NearMiss, earlier: str) -> ShownPair:
    """Return a post beside the one that it repeats, or came near to repeat."""
    return ShownPair(post, *marked_texts(earlier, post.text))


def evenly_by_score(scores: Float64s, n: int) -> Int64s:
    """Return int64: the places of at most ``n`` scores, from all parts of their range, by rising score."""
    order = np.argsort(scores, kind="stable")
    if len(scores) <= n:
        return order
    edges = np.linspace(scores.min(), scores.max(), SCORE_BINS + 1)[1:-1]
    parts = sorted(np.split(np.arange(len(order)), np.searchsorted(scores[order], edges)), key=len)
    chosen: list[int] = []
    for n_parts, part in zip(range(len(parts), 0, -1), parts, strict=True):  # what small ones leave goes to larger ones
        chosen += part[spread_rows(len(part), (n - len(chosen)) // n_parts)].tolist()
    return np.asarray(order[np.sort(np.array(chosen))])
