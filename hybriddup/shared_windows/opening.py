"""Open a shared window. The first process stores the recipe and learned data; later ones load them from the store."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hybriddup.errors import WindowError
from hybriddup.run.components import Components
from hybriddup.shared_windows.state import SharedState
from hybriddup.shared_windows.store import Needs, SharedStore
from hybriddup.window.learning import learns, prepare_components
from hybriddup.window.preparing import Steps
from hybriddup.window.states import WindowOptions
from hybriddup.window.stores import LEARNED
from hybriddup.window.window import Window

LEASE = 10.0
"""Default lease, in seconds."""


def open_shared(open_store: Callable[[Needs], SharedStore], options: WindowOptions, lease: float = LEASE) -> Window:
    """Open a window over a shared store. Guarantees and errors are as in `hybriddup.Window.open`.

    A shared window learns nothing by itself: learned data comes from the ``recipe:`` of the process that opens it
    first, and is stored for the others. Without a recipe, all tokens and keys count as rare.

    Parameters
    ----------
    open_store
        Called after the components were created without error.
    lease
        Seconds to wait for a process that shows no sign of life. If it was only slow, it restarts its batch.
    """
    return Window(lambda: open_shared_state(open_store, options, lease), options)


def open_shared_state(open_store: Callable[[Needs], SharedStore], options: WindowOptions, lease: float) -> SharedState:
    """Return the state of a shared window; parameters are those of `open_shared`."""
    components = Components.create(options.settings, options.registry, options.workers)
    learns_weights = learns(components)
    words = options.settings.fingerprint.bits // 64
    store = open_store(Needs(words, components.block_index.max_bucket_size, options.timing.horizon))
    try:
        steps = Steps(components, options.workers)
        prepare_components(
            steps,
            store,
            partial(keep_learned, store),
            list,
            learns_weights=learns_weights,
            read_only=options.read_only,
        )
        return SharedState(steps, options.timing, store, lease)
    except BaseException:
        store.close()
        raise


def keep_learned(store: SharedStore, packed: bytes) -> None:
    """Store the learned data of a window; WindowError if the store already has other data."""
    if store.set_first(LEARNED, packed) != packed:
        raise WindowError(
            "the window already has other learned data, or another process opened it with another recipe at the same "
            "time. Open it without recipe:, so that it uses the stored data, or begin a new window."
        )
