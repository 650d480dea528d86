"""The windows that hybriddup brings: in memory, over a directory, and one that only looks into that.

A window that only looks fills its memory from the store. Before each question it takes in what was added since, up to
one state of the store, which the whole question uses. So the writer never waits for it, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hybriddup.errors import ConfigError
from hybriddup.window.derived.deriving import derive
from hybriddup.window.maintenance import NOTHING
from hybriddup.window.opening import open_state
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.state import WindowState
from hybriddup.window.stores import LEARNED, deleted_positions, stored_watermark
from hybriddup.window.stores.memory import MemoryStore
from hybriddup.window.urls import MEMORY, path_of
from hybriddup.window.window import Window

if TYPE_CHECKING:
    from hybriddup.window.stores.sqlite import SqliteStore


class MemoryWindows:
    """Opens ``memory:``: posts are gone when the window is closed."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return a window in memory."""
        if url.lower() not in (MEMORY, f"{MEMORY}//") or options.read_only:
            raise ConfigError(
                f"a window in memory is {MEMORY}, for writing; it has no name, as nobody else can open it."
            )
        return Window(lambda: open_state(MemoryStore, options), options)


class FileWindows:
    """Opens ``file:`` URLs: the directory of a store, which is made where there is none."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return the window over a directory."""
        from hybriddup.window.stores.sqlite import SqliteStore  # not for windows in memory

        folder = path_of(url)
        if options.read_only:
            return ReadOnlyWindow(lambda: SqliteStore.open(folder, read_only=True), options)
        return Window(lambda: open_state(lambda: SqliteStore.open(folder), options), options)


class ReadOnlyWindow(Window):
    """Answers questions about the posts that another process adds; ``Window.open(path, read_only=True)`` opens one.

    Counts of what was decided stay 0, as it decides nothing.
    """

    def __init__(self, open_store: Callable[[], SqliteStore], options: WindowOptions) -> None:
        self._open_store, self._options = open_store, options
        super().__init__(self._open, options)

    @contextmanager
    def _current(self) -> Iterator[WindowState]:
        """Give the state, with all that is in the store by now; neither changes during the question."""
        state = self._open_state()
        assert isinstance(state, WindowState)  # noqa: S101  what `_open` returns
        # the writer has learned something that this window lacks, or following it was broken off
        if state.n_remembered == NOTHING or (state.is_learning and state.store.meta(LEARNED) != self._learned):
            current = self._state = self._open()
            state.close()
            state = current
        with self._store.reading():
            follow(state)
            yield state

    def _open(self) -> WindowState:
        """Return the state of the store at one moment."""
        store = self._open_store()
        with store.reading():
            state = open_state(lambda: store, self._options)
            self._learned = store.meta(LEARNED)
        self._store = store
        return state


def follow(state: WindowState) -> None:
    """Take in what the store has gained, and forget what it has forgotten."""
    first, state.n_remembered = state.n_remembered, NOTHING  # until all of it is there
    end = state.store.next_position
    if first < end:
        derive(state.derived, first, state.steps, state.store, writes=False)
    state.n_remembered = end
    state.watermark = state.last_time = stored_watermark(state.store)
    state.derived.kept.delete(deleted_positions(state.store))
    # a writer with a shorter horizon forgets sooner
    state.counts.posts["expired"] += state.derived.forget(state.watermark, state.store.first_position)
