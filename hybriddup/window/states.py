"""Protocols of the state behind an open window, and the options with which a window is opened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hybriddup.window.records import Decision, Post, PostId, PostList, StoredPost

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings
    from hybriddup.data.records import Int64s, NearPairs
    from hybriddup.plugin.registry import Registry
    from hybriddup.steps.blocks import BlockReport
    from hybriddup.steps.candidates import Batch
    from hybriddup.window.event_time import PostTimes, WindowTime
    from hybriddup.window.preparing import PreparedTexts, Steps
    from hybriddup.window.records import AuditCounts, Counts


@dataclass(frozen=True)
class WindowOptions:
    """The validated options with which a window is opened."""

    settings: Settings
    registry: Registry
    """Registry that creates the components named in the settings."""
    timing: WindowTime
    workers: int
    """Number of threads, at least 1."""
    read_only: bool
    authors: str | None = None
    """Field with the author of a post; None = authors are not noted."""
    counts: bool = False
    """Whether copies are counted; always True if authors are noted."""


class KeptIndex(Protocol):
    """Finds kept posts that may match texts: all kept posts of a window, or the candidates found in a shared window."""

    def look_up(self, texts: Batch) -> NearPairs:
        """Return all pairs of a text in ``texts`` and a kept post that the text may match."""

    def depths(self, texts: Batch, rows: Int64s, earlier: Int64s) -> Int64s:
        """Return int64[n, n_probes]: for each pair and key, the rank of the earlier text among the texts with this key.

        The keys are the later text's keys. The newest text of a key has rank 1; 0 means that the earlier text was not
        found by the key. ``rows``, int64[n], has the rows of the later texts in ``texts``, and ``earlier``, int64[n],
        the earlier texts as `look_up` returned them.
        """


class WindowSizes(NamedTuple):
    """Current counts and sizes of a window, as `WindowStats` shows them."""

    n_kept: int
    """Number of kept posts that new posts can still match."""
    index_bytes: int
    store_bytes: int | None
    """Size of the store; None if the store does not report it."""
    report: BlockReport
    """Description of the live index, and the limits that it hit."""
    audit: AuditCounts


class OpenState(Protocol):
    """The state behind an open window, of one process or shared. Only one thread at a time may call it."""

    steps: Steps
    timing: WindowTime
    weights_learn: bool
    counts: Counts

    def decide(self, posts: Sequence[Post]) -> list[Decision]:
        """Decide posts in order; see `hybriddup.Window.add_many`."""

    def moment(self) -> tuple[float, float]:
        """Return two times: the time to assign to a query text; and the watermark."""

    def prepare(self, texts: Sequence[str]) -> PreparedTexts:
        """Prepare texts for a look-up; they get positions after all posts of the window."""

    def equal_posts(self, prepared: PreparedTexts, times: PostTimes) -> Int64s:
        """Return int64[n]: for each text, the position of the unexpired kept post with an equal text; -1 = none."""

    def near_posts(self, text: Batch, now: PostTimes) -> NearPairs:
        """Pair a text with the kept posts within the horizon that have similar fingerprints.

        In the pairs, ``earlier`` is the position of the kept post.
        """

    def post_with(self, post_id: PostId) -> StoredPost | None:
        """Return the post with an id; None if there is none."""

    def posts_at(self, positions: Int64s) -> list[StoredPost]:
        """Return the posts at ``positions``, in this order."""

    def texts(self, positions: Int64s) -> list[str]:
        """Return the normalized texts of the kept posts at ``positions``, in this order."""

    def posts_before(self, position: int | None, n: int) -> PostList:
        """Return the posts at the ``n`` positions before ``position``; None = at the latest ``n`` positions."""

    def delete(self, post_id: PostId) -> bool:
        """Remove a post; see `hybriddup.Window.delete`."""

    def rewind(self, to: float | None) -> float:
        """Set the time of the window back; see `hybriddup.Window.rewind`."""

    def sizes(self, now: float) -> WindowSizes:
        """Return counts and sizes of the window at the time ``now``."""

    def close(self) -> None:
        """Close the store."""
