"""Protocols of the state behind an open window, and what a window is opened with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hybriddup.window.records import Decision, Post, PostId, PostList, StoredPost

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings
    from hybriddup.data.records import Bools, Int64s, NearPairs
    from hybriddup.plugin.registry import Registry
    from hybriddup.steps.blocks import BlockReport
    from hybriddup.steps.candidates import Batch
    from hybriddup.window.event_time import PostTimes, WindowTime
    from hybriddup.window.preparing import PreparedTexts, Steps
    from hybriddup.window.records import AuditCounts, Counts


@dataclass(frozen=True)
class WindowOptions:
    """What a window is opened with, checked."""

    settings: Settings
    registry: Registry
    """Makes the components that the settings name."""
    timing: WindowTime
    workers: int
    """Threads, at least one."""
    read_only: bool


class KeptIndex(Protocol):
    """Finds kept posts that may match texts."""

    def look_up(self, texts: Batch) -> NearPairs:
        """Return the pairs of texts with kept posts."""

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return the rank from the newest of an earlier text in each key of a later one, 0 = not found."""


class KeptPostsOfBatch(Protocol):
    """The kept posts that a batch is decided against: all of a window, or those that the batch met in a shared one."""

    @property
    def index(self) -> KeptIndex:
        """Finds them."""

    @property
    def horizon(self) -> float:
        """Seconds for which they match."""

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon when posts of the batch are decided."""


class WindowSizes(NamedTuple):
    """What a window has at the moment, for its counts."""

    n_kept: int
    """Kept posts that still match."""
    index_bytes: int
    store_bytes: int | None
    """Size of the store; None if the store does not report it."""
    report: BlockReport
    """Description of the live index, and the limits that it hit."""
    audit: AuditCounts


class OpenState(Protocol):
    """The state behind an open window, of one process or shared. One call at a time."""

    steps: Steps
    timing: WindowTime
    weights_learn: bool
    counts: Counts

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Decide posts in order; see `hybriddup.Window.add_many`."""

    def moment(self) -> tuple[float, float]:
        """Return the time at which texts are looked up, and the watermark."""

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Return texts ready to be looked up, after all posts."""

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""

    def near_posts(self, text: Batch, now: PostTimes) -> NearPairs:
        """Return the pairs of one text and the kept posts that still match it; ``earlier`` holds positions."""

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id."""

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions."""

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts."""

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before one; None = the latest."""

    def delete(self, post_id: PostId) -> bool:
        """Remove a post; see `hybriddup.Window.delete`."""

    def rewind(self, to: float | None) -> float:
        """Put the time of the window back; see `hybriddup.Window.rewind`."""

    def sizes(self, now: float) -> WindowSizes:
        """Return counts and sizes of the window at this time."""

    def close(self) -> None:
        """Close the store."""
