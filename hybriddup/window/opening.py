"""Open a window: check the store, and derive the memory from it."""

from __future__ import annotations

from collections.abc import Callable

from hybriddup.run.components import Components
from hybriddup.window.event_time import Edges
from hybriddup.window.learning import check_weights, prepare_components, sample_texts
from hybriddup.window.preparing import Steps
from hybriddup.window.state import WindowState
from hybriddup.window.states import WindowOptions
from hybriddup.window.stores import EDGES, LEARNED
from hybriddup.window.stores.store import WindowStore


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
