"""Opening a window: the store is checked, and what is held in memory is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hybriddup.errors import WindowError
from hybriddup.run.components import Components
from hybriddup.window.derived.deriving import build_derived_state
from hybriddup.window.derived.file_series import FileSeries
from hybriddup.window.derived.kept_log import FOLDER, KeptLog
from hybriddup.window.derived.kept_records import can_be_recorded
from hybriddup.window.edges import Edges
from hybriddup.window.event_time import WindowTime
from hybriddup.window.learning import keep_recipe, prepare_blocks, prepare_verifiers
from hybriddup.window.meta import EDGES, RECIPE, WEIGHTS, stored_watermark
from hybriddup.window.opened import Asked
from hybriddup.window.preparing import Steps
from hybriddup.window.state import WindowState
from hybriddup.window.stores import WindowStore
from hybriddup.window.weights import learns, pack_recipe, refuse_other_recipe, use_stored_weights


def open_state(open_store: Callable[[], WindowStore], asked: Asked, folder: Path | None = None) -> WindowState:
    """Return the state of a window over a store; errors are those of `hybriddup.Window.open`.

    Parameters
    ----------
    open_store
        Called once it is known that the components can be made.
    folder
        Where what is held in memory may be kept for the next opening; None = nowhere.
    """
    components = Components.create(asked.settings, asked.registry, asked.workers)
    is_learning = learns(components)
    store = open_store()
    log = log_beside(store, folder, components)
    try:
        opening = Opening(Steps(components, asked.workers), asked.timing, store, is_learning, log, asked.read_only)
        return opening.state()
    except BaseException:
        if log is not None:
            log.close()
        store.close()
        raise


def log_beside(store: WindowStore, folder: Path | None, components: Components) -> KeptLog | None:
    """Return the log of a store in a folder; None where there can be none, and then nothing is left of an older one."""
    if folder is None:
        return None
    if can_be_recorded(components.block_index):
        return KeptLog(folder, store)
    with suppress(OSError):
        FileSeries(folder / FOLDER).delete_but(())
    return None


@dataclass(frozen=True)
class Opening:
    """What a window is made from."""

    steps: Steps
    timing: WindowTime
    store: WindowStore
    is_learning: bool
    """Whether the weighter has no weights of its own, so that they come from the store or are still to be fitted."""
    log: KeptLog | None
    """Beside the store; None = the store is in memory, or only read."""
    read_only: bool = False
    """Whether nothing may be written to the store, nor learned."""

    def state(self) -> WindowState:
        """Return the state, with everything in memory that the store holds."""
        is_fitted = self.is_learning and use_stored_weights(self.steps.components, self.store.meta(WEIGHTS))
        self.check_recipe(self.steps.components.recipe())
        if not self.read_only:
            keep_recipe(self.steps, self.store)
        blocks_learn = prepare_blocks(self.steps, self.store)
        watermark = stored_watermark(self.store)
        state = WindowState(
            steps=self.steps,
            timing=self.timing,
            store=self.store,
            derived=build_derived_state(self.steps, self.store, self.timing.horizon, self.log),
            log=self.log,
            # without edges, the store is never told to forget
            edges=Edges(self.timing.horizon, None if self.read_only else self.store.meta(EDGES)),
            weights_learn=self.is_learning and not is_fitted,
            verifiers_learn=prepare_verifiers(self.steps, self.store),
            blocks_learn=blocks_learn,
            n_remembered=self.store.next_position,
            watermark=watermark,
            last_time=watermark,
        )
        state.forget()
        if not self.read_only:
            state.warn_if_ahead(self.timing.now())
            state.learn_if_due()
        return state

    def check_recipe(self, recipe: dict[str, Any]) -> None:
        """Refuse a store whose fingerprints are made in another way; a new store takes note of how they are made."""
        stored = self.store.meta(RECIPE)
        if stored is None and self.read_only:
            raise WindowError("the store is new and holds nothing to read yet. Open the window when posts were added.")
        if stored is None:
            self.store.set_meta({RECIPE: pack_recipe(recipe)})
            return
        refuse_other_recipe(stored, recipe)
