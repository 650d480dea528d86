"""Opens a shared window. The first process stores the recipe and learned data; later processes load them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from hybriddup.errors import StoreError, UnsupportedError, WindowError
from hybriddup.run.components import Components
from hybriddup.shared_windows.state import SharedState
from hybriddup.shared_windows.store import Needs, SharedStore
from hybriddup.window.learning import check_weights, prepare_components
from hybriddup.window.preparing import Steps
from hybriddup.window.states import WindowOptions
from hybriddup.window.stores import LEARNED
from hybriddup.window.window import Window

LEASE = 10.0
"""Default lease, in seconds: how long a process waits for an undecided post of another process."""


def open_shared(open_store: Callable[[Needs], SharedStore], options: WindowOptions, lease: float = LEASE) -> Window:
    """Open a window over a shared store. Guarantees and errors are as in `hybriddup.Window.open`.

    A shared window learns nothing by itself: learned data comes from the ``recipe:`` of the process that opens it
    first, and is stored for the others. Without a recipe, all tokens and keys count as rare.

    Parameters
    ----------
    open_store
        Opens the store; called only after the components were created without error.
    lease
        Seconds to wait for an undecided post of another process; after that, the other process is assumed to be dead.
        If it was only slow, it restarts its batch.
    """
    return Window(lambda: open_shared_state(open_store, options, lease), options)


def open_shared_state(open_store: Callable[[Needs], SharedStore], options: WindowOptions, lease: float) -> SharedState:
    """Open a shared store, and return the state of its window; parameters as in `open_shared`."""
    refuse_options(options)
    components = Components.create(options.settings, options.registry, options.workers)
    check_weights(components)
    words, index = options.settings.fingerprint.bits // 64, components.block_index
    store = open_store(Needs(words, index.max_bucket_size, options.timing.horizon, tuple(index.use_segments())))
    try:
        steps = Steps(components, options.workers)
        prepare_components(steps, store, partial(keep_learned, store), list, read_only=options.read_only)
        return SharedState(steps, options.timing, store, lease)
    except BaseException:
        store.close()
        raise


def refuse_options(options: WindowOptions) -> None:
    """Raise UnsupportedError if options are given that only windows of a single process support."""
    window = options.settings.window
    given = {
        "authors (--authors)": options.authors is not None,
        "counts (--counts)": options.counts and options.authors is None,
        "window.renew": window.renew,
        "window.on_same_id: replace": window.on_same_id == "replace",
    }
    if names := ", ".join(name for name, is_given in given.items() if is_given):
        raise UnsupportedError(
            f"a window that several processes share has no {names}: it counts no copies, and no answer or kept post "
            "changes. Leave these out, or use a window in a directory."
        )


def keep_learned(store: SharedStore, packed: bytes) -> None:
    """Store the learned data of a window; WindowError if the store already has other data."""
    if store.set_first(LEARNED, packed) != packed:
        raise WindowError(
            "the window already has other learned data, or another process opened it with another recipe at the same "
            "time. Open it without recipe:, so that it uses the stored data, or begin a new window."
        )


def layout_of(version: int, needs: Needs) -> str:
    """Return the layout of a store as text: the version of the plugin's format, and the bits of each key's segment.

    A segment is a block of the fingerprint; see `hybriddup.shared_windows.store.Needs.segments`.
    """
    return ":".join(map(str, (version, *needs.segments)))


def refuse_other_layout(found: str, own: str) -> None:
    """Raise an error unless the layout ``found`` in a store is the plugin's ``own``; both as returned by `layout_of`.

    Raises
    ------
    StoreError
        The window was made by another version of the plugin.
    WindowError
        The window was made with a recipe that divides fingerprints into other blocks.
    """
    version, _, segments = found.partition(":")
    own_version, _, own_segments = own.partition(":")
    if version != own_version:
        raise StoreError(
            f"the window was made by another version, with layout {version}; this one has {own_version}. Open it with "
            "that version, or begin a new window under another name."
        )
    if segments != own_segments:
        raise WindowError(
            f"the window was made with another recipe: its keys are segments of {segments or 'no'} bits of the "
            f"fingerprint, and with these `blocks:` and `fingerprint:` they would be of {own_segments or 'no'} bits. "
            "Open it with the configuration that it was made with, or begin a new window under another name."
        )
