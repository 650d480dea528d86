"""What a window promises, whoever brings it, and what opens one for a URL: for plugins that bring windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from hybriddup.window.records import Decision, Match, Post, PostId, PostList, StoredPost, WindowStats

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings
    from hybriddup.plugin.registry import Registry
    from hybriddup.study.explanation import Explanation
    from hybriddup.window.event_time import WindowTime


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

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


@dataclass(frozen=True)
class Asked:
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

    def open_window(self, url: str, asked: Asked) -> AnyWindow:
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
