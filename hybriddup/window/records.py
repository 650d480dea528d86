"""Types of a window: posts as sent and as stored, decisions, matches, counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from time import perf_counter
from typing import Any, Literal, NamedTuple

PostId = str | int
MADE_ID = re.compile(r"#[0-9]+")
MOST_ID_BYTES = 512
"""Longest id, in bytes of UTF-8, limited because answers repeat the id of a post and of the kept post it duplicates."""


class Post(NamedTuple):
    """A post as it is sent."""

    text: str
    id: PostId | None = None
    """Id of the post; None = the window makes an id from the post's position, such as ``#17``."""
    created_at: float | None = None
    """Time of the post, in seconds since 1970 (UTC); used with event time only."""
    author: PostId | None = None
    """Author of the post; see the parameter ``authors`` of `hybriddup.Window.open`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a post is a duplicate: the kept post that it matches, and the score of this pair."""

    duplicate_of: PostId
    """Id of the kept post that the duplicate matches."""
    of_position: int
    reason: Literal["exact", "near"]
    """``exact``: equal after normalizing; ``near``: any other verified pair."""
    hamming_distance: int
    verifier: str
    """Name of the verifier whose score decided; ``equal`` for exact repeats."""
    score: float
    threshold: float
    length_band: str
    """The band of the pair's shorter text, such as ``7-20``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain data that JSON can hold."""
        return dict(zip(EVIDENCE_FIELDS, evidence_values(self), strict=True))


EVIDENCE_FIELDS = tuple(field.name for field in fields(Evidence))
evidence_values: Callable[[Evidence], tuple[Any, ...]] = attrgetter(*EVIDENCE_FIELDS)
"""Function that returns the values of all fields of an `Evidence`, in order, to store them."""


class Copies(NamedTuple):
    """How often, when and by whom a kept post was posted."""

    n_copies: int
    first_seen: float
    last_seen: float
    authors: Mapping[PostId, int]
    """Maps each author to their number of posts, among the copies and the kept post itself."""


class StoredPost(NamedTuple):
    """An acknowledged post, as it is stored."""

    position: int
    """Zero-based number of the post in the order of acknowledgement; never reused."""
    id: PostId
    time: float
    """Event or arrival time of the post, in seconds since 1970 (UTC)."""
    text: str
    """The text as it was sent."""
    evidence: Evidence | None
    """Why the post is a duplicate; None = the post was kept."""
    author: PostId | None = None
    """Author of the post; None = unknown."""
    copies: Copies | None = None
    """The counted copies; None = the post is a duplicate, or the window does not count copies."""

    @property
    def n_copies(self) -> int | None:
        """Number of posts that were removed as duplicates of this one; None for a duplicate, or if not counted."""
        return None if self.copies is None else self.copies.n_copies

    @property
    def first_seen(self) -> float | None:
        """Earliest time of this post and its copies, in seconds since 1970; None if `n_copies` is None."""
        return None if self.copies is None else self.copies.first_seen

    @property
    def last_seen(self) -> float | None:
        """Latest time of this post and its copies, in seconds since 1970; None if `n_copies` is None."""
        return None if self.copies is None else self.copies.last_seen

    @property
    def authors(self) -> list[PostId]:
        """The distinct authors of this post and its copies; for a duplicate, only its own author."""
        return [one for one in (self.author,) if one is not None] if self.copies is None else list(self.copies.authors)

    @property
    def kept(self) -> bool:
        """Whether the post was kept."""
        return self.evidence is None

    @property
    def duplicate_of(self) -> PostId | None:
        """Id of the kept post that this one repeats; None = this one was kept."""
        return None if self.evidence is None else self.evidence.duplicate_of

    def to_dict(self) -> dict[str, Any]:
        """Return the post as plain data that JSON can hold, with the fields of its evidence."""
        decided = {"id": self.id, "position": self.position, "decision": "kept" if self.kept else "duplicate"}
        plain: dict[str, Any] = {**decided, "time": self.time, "text": self.text}
        if self.copies is not None:
            plain |= {name: getattr(self, name) for name in ("n_copies", "first_seen", "last_seen")}
        plain |= {"authors": self.authors} if self.authors else {}
        return plain if self.evidence is None else plain | self.evidence.to_dict()

    def counted(self) -> StoredPost:
        """Return the post; a kept post whose ``copies`` are None gets the counts of a post that has no copies."""
        if self.copies is not None or self.evidence is not None:
            return self
        authors = {} if self.author is None else {self.author: 1}
        return self._replace(copies=Copies(0, self.time, self.time, authors))

    def repeating(self, position: int) -> StoredPost:
        """Return the duplicate, with ``position`` as the position of the post it repeats; a kept post is unchanged."""
        if self.evidence is None or self.evidence.of_position == position:
            return self
        return self._replace(evidence=replace(self.evidence, of_position=position))

    def with_copies(self, copies: Sequence[StoredPost], sign: int = 1) -> StoredPost:
        """Return the kept post with ``copies`` added to its counts, or subtracted if ``sign`` is -1."""
        before = self.counted().copies
        assert before is not None  # noqa: S101  as this post was kept
        n, first, last, authors = before
        for copy in copies:
            first, last = min(first, copy.time), max(last, copy.time)
        if by := [copy.author for copy in copies if copy.author is not None]:
            counts = Counter(authors)
            (counts.update if sign > 0 else counts.subtract)(by)
            authors = +counts
        return self._replace(copies=Copies(n + sign * len(copies), first, last, authors))

    @property
    def deleted(self) -> bool:
        """Whether this is the tombstone of a deleted post; callers of a window never see one."""
        return self.evidence == DELETED


DELETED = Evidence("", -1, "deleted", 0, "", 0.0, 0.0, "")  # type: ignore[arg-type]  # in stores only
"""Placeholder for the evidence of a post, which marks the post as deleted in the store."""


def mark_of(post: StoredPost) -> StoredPost:
    """Return the tombstone that replaces a deleted post in the store."""
    return StoredPost(post.position, "", post.time, "", DELETED)


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of a window about one post: whether it is kept, or which kept post it repeats."""

    id: PostId
    position: int
    decision: Literal["kept", "duplicate"]
    repeated: bool
    """Whether a post with this id was decided before; if so, the other fields repeat the decision on that post."""
    evidence: Evidence | None

    @property
    def kept(self) -> bool:
        """Whether the post is kept."""
        return self.decision == "kept"

    @property
    def duplicate_of(self) -> PostId | None:
        """Id of the kept post that this one repeats; None = this one is kept."""
        return None if self.evidence is None else self.evidence.duplicate_of

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as plain data for JSON."""
        plain = {"id": self.id, "position": self.position, "decision": self.decision, "repeated": self.repeated}
        return plain if self.evidence is None else plain | self.evidence.to_dict()


def decision_of(post: StoredPost) -> Decision:
    """Return the decision on a stored post, not marked as ``repeated``."""
    return Decision(post.id, post.position, "kept" if post.kept else "duplicate", False, post.evidence)


@dataclass(frozen=True, slots=True)
class Match:
    """A kept post of the window that is similar to a text."""

    id: PostId
    position: int
    text: str
    """The text as it was sent."""
    time: float
    score: float
    threshold: float
    is_match: bool
    """Whether the text would be a duplicate of this post: the score reaches the threshold, and no guard refuses it."""
    hamming_distance: int
    verifier: str
    length_band: str
    guards: list[str] = field(default_factory=list)
    """Reasons of the guards that refuse the pair, empty if none does; the setting ``must_agree`` lists the guards."""


@dataclass(frozen=True, slots=True)
class PostList:
    """Some posts of a window, newest first."""

    posts: list[StoredPost]
    after: int | None
    """Value of the parameter ``after`` of `hybriddup.Window.posts` for the next, older posts; None = no older posts."""


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """Counts of the posts sampled to audit the live index; exact repeats are not counted."""

    n_compared: int = 0
    """Sampled posts whose comparison is finished."""
    n_found: int = 0
    """Compared posts that were decided to be near duplicates."""
    n_missed: int = 0
    """Compared posts that were kept and match an earlier kept post."""
    n_skipped: int = 0
    """Sampled posts that were not compared, because many comparisons were under way or because comparing failed."""
    n_unknown: int = 0
    """Sampled kept posts whose verification is unfinished or was abandoned, because they have many candidates."""

    @property
    def estimated_recall(self) -> float | None:
        """Share of the sampled near duplicates that were found; None if no near duplicates were sampled."""
        n_duplicates = self.n_found + self.n_missed
        return self.n_found / n_duplicates if n_duplicates else None


@dataclass(frozen=True, slots=True)
class WindowStats:
    """Counts of a window since it was opened, unless noted otherwise."""

    n_kept_in_window: int
    """Kept posts that new posts may still match."""
    n_posts: int
    """Posts decided; posts with a repeated id are not counted."""
    n_kept: int
    n_exact: int
    n_near: int
    n_repeated_ids: int
    """Posts whose id had been decided before."""
    n_late: int
    """Posts that were older than the horizon on arrival."""
    n_expired: int
    """Kept posts that became too old, so that new posts no longer match them."""
    watermark: float | None
    """The watermark, in seconds since 1970: it follows the largest time of a post; None = no post yet."""
    index_bytes: int
    store_bytes: int | None
    """Size of the store; None if the store, such as HBase, does not report it."""
    index: str
    """Description of the live index."""
    seconds_ahead: float = 0.0
    """Seconds by which the watermark is ahead of the clock. Posts that arrive now get the time of the watermark, so
    they expire late by as much. See `Window.rewind`."""
    limits_hit: Mapping[str, int] = field(default_factory=dict)
    by_band: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Numbers of posts by length band: kept, exact and near."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time by step, in seconds: normalize, fingerprint, look up, verify, store, index, audit."""
    estimated_recall: float | None = None
    """Share of near duplicates that are found, estimated by comparing one post in a thousand with every kept post,
    within the same limits; None = no near duplicate was among the compared posts yet."""
    recall_interval: tuple[float, float] | None = None
    """The 95 % confidence interval of ``estimated_recall``."""
    audit: AuditCounts = AuditCounts()
    recipe_id: str = ""
    n_deleted: int = 0
    """Posts that `Window.delete` removed."""


@dataclass
class Counts:
    """Counts of a window since it was opened."""

    posts: Counter[str] = field(default_factory=Counter)
    """Numbers of posts: kept, exact, near, repeated_id, late, expired, deleted."""
    by_band: dict[str, Counter[str]] = field(default_factory=dict)
    """Numbers of kept, exact and near posts by length band."""
    limits_hit: Counter[str] = field(default_factory=Counter)
    """How often each limit was hit; the hits in the current live index are counted in its report instead."""
    seconds: Counter[str] = field(default_factory=Counter)
    """Time by step, in seconds."""

    def decided(self, outcomes: Iterable[tuple[str, str]]) -> None:
        """Count decided posts by outcome (kept, exact or near) and length band."""
        for (outcome, band), n in Counter(outcomes).items():
            self.posts[outcome] += n
            self.by_band.setdefault(band, Counter())[outcome] += n

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time that the ``with`` block takes to the total time of ``step``."""
        began = perf_counter()
        try:
            yield
        finally:
            self.seconds[step] += perf_counter() - began  # type: ignore[assignment]


def id_at(position: int, post: Post) -> PostId:
    """Return the id of a post at a position, which the window makes from the position if it was sent without one."""
    return f"#{position}" if post.id is None else post.id
