"""What looking into a window asks of its state, wherever its posts lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hybriddup.data.records import ALL_PAIRS, Bools, Enough, Int64s, NearPairs
from hybriddup.window.audit.live_audit import LiveAudit
from hybriddup.window.counts import Counts
from hybriddup.window.event_time import PostTimes, WindowTime
from hybriddup.window.index import LiveReport, LiveTexts
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import Decision, Post, PostId, PostList, StoredPost


class DecidedPosts(Protocol):
    """The posts of a window."""

    def find_ids(self, ids: Sequence[PostId]) -> list[StoredPost | None]:
        """Return the post of each id, None where there is none or it is forgotten."""
        ...

    def posts(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions, in the order asked."""
        ...


class FoundIn(Protocol):
    """Finds kept posts, and says what it is."""

    def look_up(self, texts: LiveTexts, enough: Enough = ALL_PAIRS) -> NearPairs:
        """Return the pairs of texts with kept posts."""
        ...

    def report(self) -> LiveReport:
        """Return what it is, and what was done since it was made."""
        ...


class KeptCount(Protocol):
    """Counts kept posts by time."""

    def n_after(self, time: float) -> int:
        """Return how many kept posts have a time after this one."""
        ...


class KeptPostsFound(Protocol):
    """The kept posts of a window, as they can be found."""

    @property
    def index(self) -> FoundIn:
        """Finds those that are near."""
        ...

    @property
    def kept(self) -> KeptCount:
        """Counts them."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory that this takes."""
        ...

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon of texts."""
        ...


class LookedInto(Protocol):
    """A window that is open."""

    steps: Steps
    timing: WindowTime
    counts: Counts
    live_audit: LiveAudit
    weights_learn: bool

    @property
    def store(self) -> DecidedPosts:
        """Its posts."""
        ...

    @property
    def derived(self) -> KeptPostsFound:
        """Its kept posts."""
        ...

    @property
    def watermark(self) -> float:
        """Its time; minus infinity where no post has come."""
        ...

    @property
    def last_time(self) -> float:
        """The time at which a text is looked for."""
        ...

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Return the decisions about posts, when they are where they last."""
        ...

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Return texts ready to be looked up."""
        ...

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        ...

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts, in the order asked."""
        ...

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return posts at positions before one, newest first."""
        ...

    def delete(self, post_id: PostId) -> bool:
        """Take a post out; return whether there was one."""
        ...

    def rewind(self, to: float | None) -> float:
        """Put the time back; return by how many seconds."""
        ...

    def n_stored_bytes(self) -> int:
        """Return the bytes that its posts take."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
