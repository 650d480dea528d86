"""A window that only looks, into a store that another process may write to meanwhile.

What it holds in memory is derived from the store. Before each question it takes in what was added since, up to one
state of the store, by which the whole question goes. So the writer never waits for it, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybriddup.steps.verifiers import keeps_learning
from hybriddup.window.derived.deriving import derive
from hybriddup.window.opened import Asked
from hybriddup.window.opening import open_state
from hybriddup.window.state import NOTHING, WindowState
from hybriddup.window.stores import BLOCKS, VERIFIER, WEIGHTS, deleted_positions, stored_watermark
from hybriddup.window.stores.sqlite import SqliteStore
from hybriddup.window.window import Window


class ReadOnlyWindow(Window):
    """Answers questions about the posts that another process adds; ``Window.open(path, read_only=True)`` opens one.

    Counts of what was decided stay 0, as it decides nothing.
    """

    def __init__(self, folder: Path, asked: Asked) -> None:
        self._folder = folder
        self._asked = asked
        super().__init__(self._open, asked)

    @contextmanager
    def _current(self) -> Iterator[WindowState]:
        """Give the state, with all that is in the store by now; neither changes during the question."""
        state = self._open_state()
        assert isinstance(state, WindowState)  # noqa: S101  what `_open` returns
        if self._is_outdated(state):
            current = self._state = self._open()
            state.close()
            state = current
        with self._store.at_one_moment():
            follow(state)
            yield state

    def _open(self) -> WindowState:
        """Return the state of the store at one moment."""
        store = SqliteStore.open(self._folder, read_only=True)
        with store.at_one_moment():
            state = open_state(lambda: store, self._asked)
            self._awaited = not_learned_yet(state)
        self._store = store
        return state

    def _is_outdated(self, state: WindowState) -> bool:
        """Whether the writer has learned by what it compares, or following it was broken off."""
        return state.n_remembered == NOTHING or any(state.store.meta(name) is not None for name in self._awaited)


def not_learned_yet(state: WindowState) -> list[str]:
    """Return under which names the store will have what its writer has not learned yet."""
    plan = state.steps.components.plan
    names = [VERIFIER + key for key, one in zip(plan.keys, plan.verifiers, strict=True) if keeps_learning(one)]
    names += [name for name, learns in ((WEIGHTS, state.weights_learn), (BLOCKS, state.blocks_learn)) if learns]
    return [name for name in names if state.store.meta(name) is None]


def follow(state: WindowState) -> None:
    """Take in what the store has gained, and forget what it has forgotten."""
    first, state.n_remembered = state.n_remembered, NOTHING  # until all of it is there
    end = state.store.next_position
    if first < end:
        derive(state.derived, first, state.steps, state.store, None)
    state.n_remembered = end
    state.watermark = state.last_time = stored_watermark(state.store)
    state.derived.kept.delete(deleted_positions(state.store))
    # a writer with a shorter horizon forgets sooner
    state.counts.posts["expired"] += state.derived.forget(state.watermark, state.store.first_position)
