"""The interface for plugins that open windows: the options of a window, its type, and the Protocol of an opener."""

from __future__ import annotations

from typing import Protocol

from hybriddup.window.states import WindowOptions
from hybriddup.window.window import Window

__all__ = ["AnyWindow", "WindowOpener", "WindowOptions"]

AnyWindow = Window
"""Type of the windows of all stores."""


class WindowOpener(Protocol):
    """A component of the role ``window``, registered under the scheme of the URLs that it opens."""

    def open_window(self, url: str, options: WindowOptions) -> AnyWindow:
        """Return a window.

        Parameters
        ----------
        url
            The URL as the user gave it; a path is passed as a ``file:`` URL. It may contain a password, which no error
            message may repeat.

        Raises
        ------
        ConfigError
            The URL is not valid for this scheme.
        StoreError
            The store cannot be reached, or cannot be opened with these options.
        WindowError
            The settings make fingerprints that differ from the fingerprints in the store.
        """
