"""Protocols of windows: what a window promises, what opens one for a URL, and what is behind one that is open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from hybriddup.window.records import Decision, Match, Post, PostId, PostList, StoredPost, WindowStats

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings
    from hybriddup.data.records import Bools, Int64s, NearPairs
    from hybriddup.plugin.registry import Registry
    from hybriddup.steps.blocks import BlockReport
    from hybriddup.steps.candidates import Batch
    from hybriddup.study.explanation import Explanation
    from hybriddup.window.event_time import PostTimes, WindowTime
    from hybriddup.window.preparing import PreparedTexts, Steps
    from hybriddup.window.records import AuditCounts, Counts


class AnyWindow(Protocol):
    """What `hybriddup.Window` does, whose methods say how. `hybriddup.testing.check_window` checks it.

    All methods are safe to call from several threads.
    """

    def add(self, post: str | Mapping[str, Any] | Post) -> Decision:
        """Decide one post."""
        ...

    def add_many(self, posts: Sequence[str | Mapping[str, Any] | Post]) -> list[Decision]:
        """Decide posts in order; what is returned is where it lasts."""
        ...

    def match(self, text: str, limit: int = 10) -> list[Match]:
        """Return the kept posts most similar to a text."""
        ...

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Return every step for a post of the window and a text."""
        ...

    def get(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id."""
        ...

    def posts(
        self, limit: int = 100, *, after: int | None = None, text: str = "", of: PostId | None = None
    ) -> PostList:
        """Return posts, newest first; a window that cannot list them raises `UnsupportedError`."""
        ...

    def delete(self, post_id: PostId) -> bool:
        """Take the post with an id out of the window; return whether there was one."""
        ...

    def stats(self) -> WindowStats:
        """Return counts."""
        ...

    def rewind(self, to: float | None = None) -> float:
        """Put the time of the window back, after a clock that was ahead; return by how many seconds."""
        ...

    def close(self) -> None:
        """Let go of what was opened; a second call does nothing, any other call then raises `WindowError`."""
        ...

    def __len__(self) -> int: ...

    def __contains__(self, post_id: object) -> bool: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


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


class WindowOpener(Protocol):
    """A component of the role ``window``, registered under the scheme of the URLs that it opens."""

    def open_window(self, url: str, options: WindowOptions) -> AnyWindow:
        """Return a window.

        Parameters
        ----------
        url
            As it was given; a path comes as a ``file:`` URL. It may hold a password, which no error may repeat.

        Raises
        ------
        ConfigError
            The URL cannot be meant.
        StoreError
            The store cannot be reached, or cannot be opened in this way.
        WindowError
            The fingerprints of the store are others than the settings make.
        """
        ...


class KeptIndex(Protocol):
    """Finds kept posts that may match texts."""

    def look_up(self, texts: Batch) -> NearPairs:
        """Return the pairs of texts with kept posts."""
        ...

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return the rank from the newest of an earlier text in each key of a later one, 0 = not found."""
        ...


class KeptPostsOfBatch(Protocol):
    """The kept posts that a batch is decided against: all of a window, or those that the batch met in a shared one."""

    @property
    def index(self) -> KeptIndex:
        """Finds them."""
        ...

    @property
    def horizon(self) -> float:
        """Seconds for which they match."""
        ...

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon when posts of the batch are decided."""
        ...


class ViewedIndex(Protocol):
    """An index that is only looked into."""

    @property
    def report(self) -> BlockReport:
        """What the index is, and what it did."""
        ...

    def look_up(self, texts: Batch, *, counts_characters: bool) -> NearPairs:
        """Return the pairs of texts with kept posts."""
        ...


class CountedPosts(Protocol):
    """Kept posts that can be counted."""

    def n_after(self, time: float) -> int:
        """Return the number of kept posts with a later time."""
        ...


class ViewedPosts(Protocol):
    """The kept posts of a window as `hybriddup.window.looking` sees them."""

    @property
    def index(self) -> ViewedIndex:
        """Finds them."""
        ...

    @property
    def kept(self) -> CountedPosts:
        """Counts them."""
        ...

    @property
    def n_bytes(self) -> int:
        """Memory that they take."""
        ...

    def still_match(self, earlier: Int64s, places: Int64s, times: PostTimes) -> Bools:
        """Return bool[n]: whether kept posts are within the horizon of texts."""
        ...


class Audit(Protocol):
    """The audit of a live index."""

    def counts(self) -> AuditCounts:
        """Return what came of the sampled posts."""
        ...


class OpenState(Protocol):
    """What is behind a window that is open, of one process or shared. One call at a time."""

    steps: Steps
    timing: WindowTime
    weights_learn: bool
    counts: Counts

    @property
    def live_audit(self) -> Audit:
        """The audit."""
        ...

    @property
    def derived(self) -> ViewedPosts:
        """The kept posts."""
        ...

    @property
    def watermark(self) -> float:
        """The time of the window."""
        ...

    @property
    def last_time(self) -> float:
        """The time at which a text is looked for."""
        ...

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Decide posts in order; see `hybriddup.Window.add_many`."""
        ...

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Return texts ready to be looked up, after all posts."""
        ...

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: the position of the kept post that each text is equal to and that still matches, or -1."""
        ...

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id."""
        ...

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at these positions."""
        ...

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of kept posts."""
        ...

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before one; None = the latest."""
        ...

    def delete(self, post_id: PostId) -> bool:
        """Remove a post; see `hybriddup.Window.delete`."""
        ...

    def rewind(self, to: float | None) -> float:
        """Put the time of the window back; see `hybriddup.Window.rewind`."""
        ...

    def n_stored_bytes(self) -> int | None:
        """Return the size of the store in bytes; None if the store does not report it."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...
