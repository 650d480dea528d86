"""The windows that hybriddup brings: in memory, and over a directory."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from hybriddup.errors import ConfigError
from hybriddup.window.opened import MEMORY, URL, Asked
from hybriddup.window.opening import open_state
from hybriddup.window.window import Window


class MemoryWindows:
    """Opens ``memory://``: posts are gone when the window is closed."""

    def open_window(self, url: str, asked: Asked) -> Window:
        """Return a window in memory."""
        if url != MEMORY or asked.read_only:
            raise ConfigError(
                f"a window in memory is {MEMORY}, for writing; it has no name, as nobody else can open it."
            )
        return Window(lambda: open_state(None, asked), asked)


class FileWindows:
    """Opens a path or a ``file://`` URL: the directory of a store, which is made where there is none."""

    def open_window(self, url: str, asked: Asked) -> Window:
        """Return the window over a directory."""
        folder = path_of(url)
        return Window(lambda: open_state(folder, asked), asked)


def path_of(url: str) -> Path:
    """Return the path of a ``file://`` URL, or of a path."""
    if not URL.match(url):
        return Path(url)
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost") or parts.query or parts.fragment or not parts.path:
        raise ConfigError(
            f"a directory of this machine is file:///path, without ? and #, or just its path; got {url!r}."
        )
    path = url2pathname(parts.path)
    return Path(path.lstrip("\\") if os.name == "nt" else path)
