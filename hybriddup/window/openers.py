"""The windows that hybriddup brings: in memory, and over a directory."""

from __future__ import annotations

from hybriddup.errors import ConfigError
from hybriddup.window.opened import Asked
from hybriddup.window.opening import open_state
from hybriddup.window.stores.memory import MemoryStore
from hybriddup.window.urls import MEMORY, path_of
from hybriddup.window.window import Window


class MemoryWindows:
    """Opens ``memory:``: posts are gone when the window is closed."""

    def open_window(self, url: str, asked: Asked) -> Window:
        """Return a window in memory."""
        if url.lower() not in (MEMORY, f"{MEMORY}//") or asked.read_only:
            raise ConfigError(
                f"a window in memory is {MEMORY}, for writing; it has no name, as nobody else can open it."
            )
        return Window(lambda: open_state(MemoryStore, asked), asked)


class FileWindows:
    """Opens ``file:`` URLs: the directory of a store, which is made where there is none."""

    def open_window(self, url: str, asked: Asked) -> Window:
        """Return the window over a directory."""
        from hybriddup.window.read_only import ReadOnlyWindow  # SQLite is not for windows in memory
        from hybriddup.window.stores.sqlite import SqliteStore

        folder = path_of(url)
        if asked.read_only:
            return ReadOnlyWindow(folder, asked)
        return Window(lambda: open_state(lambda: SqliteStore.open(folder), asked, folder), asked)
