"""Opening a window: the store is checked, and what is held in memory is derived from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybriddup.errors import WindowError
from hybriddup.run.components import Components
from hybriddup.window.derived.deriving import build_derived_state
from hybriddup.window.event_time import Edges
from hybriddup.window.learning import (
    learns,
    pack_learned,
    pack_recipe,
    prepare_blocks,
    prepare_verifiers,
    read_learned,
    refuse_other_recipe,
    sample_texts,
    use_weights,
    with_given_recipe,
)
from hybriddup.window.preparing import Steps
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.state import WindowState
from hybriddup.window.stores import EDGES, LEARNED, RECIPE, WindowStore, stored_watermark


def open_state(open_store: Callable[[], WindowStore], options: WindowOptions) -> WindowState:
    """Return the state of a window over a store, opened once it is known that the components can be made."""
    components = Components.create(options.settings, options.registry, options.workers)
    learns_weights = learns(components)
    store = open_store()
    try:
        return fill_state(Steps(components, options.workers), options, store, learns_weights=learns_weights)
    except BaseException:
        store.close()
        raise


def fill_state(steps: Steps, options: WindowOptions, store: WindowStore, *, learns_weights: bool) -> WindowState:
    """Return the state of a window over a store, with everything in memory that the store holds."""
    components, writes = steps.components, not options.read_only
    stored = read_learned(components, store.meta)
    is_fitted = learns_weights and use_weights(components, stored)
    check_recipe(components.recipe(), store, read_only=options.read_only)
    learned = with_given_recipe(components, stored) if writes else stored
    if learned.keys() != stored.keys():
        store.set_meta({LEARNED: pack_learned(components, learned)})
    blocks_learn = prepare_blocks(components, learned)
    watermark = stored_watermark(store)
    state = WindowState(
        steps=steps,
        timing=options.timing,
        store=store,
        derived=build_derived_state(steps, store, options.timing.horizon, writes=writes),
        # without edges, the store is never told to forget
        edges=Edges(options.timing.horizon, store.meta(EDGES) if writes else None),
        read_only=options.read_only,
        weights_learn=learns_weights and not is_fitted,
        verifiers_learn=prepare_verifiers(steps, learned, sample_texts(steps, store)),
        blocks_learn=blocks_learn,
        learned=learned,
        n_remembered=store.next_position,
        watermark=watermark,
        last_time=watermark,
    )
    state.forget()
    if writes:
        state.warn_if_ahead(options.timing.now())
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
