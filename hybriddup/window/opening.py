"""Opening a window: the store is checked, and what is held in memory is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hybriddup.errors import WindowError
from hybriddup.run.components import Components
from hybriddup.window.derived.deriving import build_derived_state
from hybriddup.window.derived.file_series import FileSeries
from hybriddup.window.derived.kept_log import FOLDER, KeptLog
from hybriddup.window.derived.kept_records import can_be_recorded
from hybriddup.window.event_time import Edges
from hybriddup.window.learning import (
    learns,
    missing_of_recipe,
    pack_recipe,
    prepare_blocks,
    prepare_verifiers,
    refuse_other_recipe,
    sample_texts,
    use_stored_weights,
)
from hybriddup.window.opened import Asked
from hybriddup.window.preparing import Steps
from hybriddup.window.state import WindowState
from hybriddup.window.stores import EDGES, RECIPE, WEIGHTS, WindowStore, stored_watermark


def open_state(open_store: Callable[[], WindowStore], asked: Asked, folder: Path | None = None) -> WindowState:
    """Return the state of a window over a store, opened once it is known that the components can be made.

    What is held in memory may be kept in ``folder`` for the next opening; None = nowhere.
    """
    components = Components.create(asked.settings, asked.registry, asked.workers)
    learns_weights = learns(components)
    store = open_store()
    log = log_beside(store, folder, components)
    try:
        return fill_state(Steps(components, asked.workers), asked, store, log, learns_weights=learns_weights)
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


def fill_state(
    steps: Steps, asked: Asked, store: WindowStore, log: KeptLog | None, *, learns_weights: bool
) -> WindowState:
    """Return the state of a window over a store, with everything in memory that the store holds."""
    is_fitted = learns_weights and use_stored_weights(steps.components, store.meta(WEIGHTS))
    check_recipe(steps.components.recipe(), store, read_only=asked.read_only)
    if not asked.read_only and (missing := missing_of_recipe(steps, store.meta)):
        store.set_meta(missing)
    blocks_learn = prepare_blocks(steps, store.meta)
    watermark = stored_watermark(store)
    state = WindowState(
        steps=steps,
        timing=asked.timing,
        store=store,
        derived=build_derived_state(steps, store, asked.timing.horizon, log),
        log=log,
        # without edges, the store is never told to forget
        edges=Edges(asked.timing.horizon, None if asked.read_only else store.meta(EDGES)),
        weights_learn=learns_weights and not is_fitted,
        verifiers_learn=prepare_verifiers(steps, store.meta, sample_texts(steps, store)),
        blocks_learn=blocks_learn,
        n_remembered=store.next_position,
        watermark=watermark,
        last_time=watermark,
    )
    state.forget()
    if not asked.read_only:
        state.warn_if_ahead(asked.timing.now())
        state.learn_if_due()
    return state


def check_recipe(recipe: dict[str, Any], store: WindowStore, *, read_only: bool) -> None:
    """Refuse a store whose fingerprints are made in another way; a new store takes note of how they are made."""
    stored = store.meta(RECIPE)
    if stored is not None:
        refuse_other_recipe(stored, recipe)
    elif read_only:
        raise WindowError("the store is new and holds nothing to read yet. Open the window when posts were added.")
    else:
        store.set_meta({RECIPE: pack_recipe(recipe)})
