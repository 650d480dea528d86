"""What a window promises, whoever brings it, and what opens one for a URL: for plugins that bring windows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from hybriddup.window.records import Decision, Match, Post, PostId, StoredPost, WindowStats

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings
    from hybriddup.plugin.registry import Registry
    from hybriddup.study.explain import Explanation
    from hybriddup.window.event_time import WindowTime

URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
MEMORY = "memory://"


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

    def stats(self) -> WindowStats:
        """Return counts."""
        ...

    def close(self) -> None:
        """Let go of what was opened; a second call does nothing."""
        ...


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
        """Return a window. The URL may hold a password: no error may repeat it."""
        ...


def url_of(path: str) -> tuple[str, str]:
    """Return the scheme of what is to be opened, and its URL; a path is one of ``file``.

    Examples
    --------
    >>> url_of("redis://host/0")
    ('redis', 'redis://host/0')
    >>> url_of("windows/a:b")
    ('file', 'windows/a:b')
    """
    found = URL.match(path)
    return (found[1].lower(), path) if found else ("file", path)
