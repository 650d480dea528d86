"""Opens a window of one process: in memory, over a directory, or read-only over a directory.

A read-only window fills its memory from the store. Each query opens a snapshot of the store, brings the memory up to
date with this snapshot, and is answered from both. So the writer never waits for a query, and queries write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hybriddup.errors import ConfigError
from hybriddup.run.components import Components
from hybriddup.window.derived.deriving import derive
from hybriddup.window.event_time import Edges
from hybriddup.window.learning import check_weights, prepare_components, sample_texts
from hybriddup.window.maintenance import STALE
from hybriddup.window.preparing import Steps
from hybriddup.window.state import WindowState
from hybriddup.window.states import WindowOptions
from hybriddup.window.stores import EDGES, LEARNED
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.stores.store import WindowStore
from hybriddup.window.urls import MEMORY, path_of
from hybriddup.window.window import Window


class MemoryWindows:
    """Opens windows with the URL ``memory:``, whose posts are gone when the window is closed."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return a window in memory."""
        if url.lower() not in (MEMORY, f"{MEMORY}//") or options.read_only:
            raise ConfigError(
                f"a window in memory is {MEMORY}, for writing; it has no name, as nobody else can open it."
            )
        return Window(lambda: open_state(WindowStore, options), options)


class FileWindows:
    """Opens windows with a ``file:`` URL, which names the directory of the store; it is created if missing."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return the window that is stored in the directory that ``url`` names."""
        folder = path_of(url)
        if options.read_only:
            return ReadOnlyWindow(lambda: SqliteStore.open(folder, read_only=True), options)
        return Window(lambda: open_state(lambda: SqliteStore.open(folder), options), options)


def open_state(open_store: Callable[[], WindowStore], options: WindowOptions) -> WindowState:
    """Create the components of a window, then open its store, and return the state of the window."""
    components = Components.create(options.settings, options.registry, options.workers)
    check_weights(components)
    store = open_store()
    try:
        if options.counts and not options.read_only:
            store.count_copies()
        return fill_state(Steps(components, options.workers), options, store)
    except BaseException:
        store.close()
        raise


def fill_state(steps: Steps, options: WindowOptions, store: WindowStore) -> WindowState:
    """Return the state of a window over a store, with its memory filled from the store."""
    prepared = prepare_components(
        steps,
        store,
        lambda packed: store.set_meta({LEARNED: packed}),
        lambda: sample_texts(steps, store),
        read_only=options.read_only,
    )
    # without edges, nothing is ever forgotten in the store
    edges = Edges(options.timing.horizon, None if options.read_only else store.meta(EDGES))
    state = WindowState(steps, options.timing, store, edges, **prepared._asdict())
    state.forget()
    if not options.read_only:
        state.warn_if_ahead(options.timing.now())
        state.learn_if_due()
    return state


class ReadOnlyWindow(Window):
    """Answers queries about the posts that another process adds; ``Window.open(path, read_only=True)`` opens one.

    Counts of decisions stay 0.
    """

    def __init__(self, open_store: Callable[[], SqliteStore], options: WindowOptions) -> None:
        self._open_store = open_store
        super().__init__(self._open, options)

    @contextmanager
    def _current(self) -> Iterator[WindowState]:
        """Yield the state, brought up to date with the store; state and store do not change during the query."""
        state = self._open_state()
        assert isinstance(state, WindowState)  # noqa: S101  what `_open` returns
        # the writer has learned something that this window lacks, or an update was interrupted
        if state.n_remembered == STALE or (state.is_learning and state.store.meta(LEARNED) != self._learned):
            current = self._state = self._open()
            state.close()
            state = current
        with state.store.reading():
            follow(state)
            yield state

    def _open(self) -> WindowState:
        """Open the store, and return the state of the window, read from one snapshot of the store."""
        store = self._open_store()
        with store.reading():
            state = open_state(lambda: store, self._options)
            self._learned = store.meta(LEARNED)
        return state


def follow(state: WindowState) -> None:
    """Bring the memory up to date with the store: add new posts, remove posts that were deleted or forgotten there."""
    first, state.n_remembered = state.n_remembered, STALE  # until everything is there
    end = state.store.next_position
    if first < end:
        derive(state.derived, first, state.steps, state.store)
        state.renewals.add(state.store.renewals(first))
        state.renewals.forget_before(state.store.first_position)
    state.n_remembered = end
    state.watermark = state.last_time = state.store.watermark()
    state.derived.kept.delete(state.store.deleted_positions())
    # a writer with a shorter horizon forgets sooner
    state.counts.posts["expired"] += state.derived.forget(state.watermark, state.store.first_position)
