"""Compiles the kernels in advance, into numba's cache.

Machine code from numba is for one processor and one version of the source, so the package cannot include it. Kernels
are compiled at first use, with a message to the user, or in advance by `hybriddup warm-up`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from itertools import count
from shutil import rmtree
from tempfile import TemporaryDirectory

import numpy as np

from hybriddup.cli.compiling import compiling_together, made_up_posts
from hybriddup.cli.stopping import on_stop
from hybriddup.config.load import load_settings
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import NO_KEY
from hybriddup.errors import ConfigError
from hybriddup.kernels.search.rings import depths_in_rings, make_rings
from hybriddup.plugin.manager import PluginManager
from hybriddup.plugin.registry import Registry
from hybriddup.run.pipeline import run
from hybriddup.shared_windows.candidates import near_meetings
from hybriddup.shared_windows.store import Entries, entry_type
from hybriddup.steps.parallel import available_workers
from hybriddup.window.event_time import parse_timing
from hybriddup.window.live_audit import LiveAudit
from hybriddup.window.looking import similar_posts
from hybriddup.window.openers import open_state
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.records import Post
from hybriddup.window.state import WindowState
from hybriddup.window.stores.sqlite import SqliteStore

BATCHES = (1, 2, 247)
"""Sizes of the batches sent to the window, in turn."""
HORIZON = 3.0
"""Horizon of the window, in seconds of an artificial clock that advances by 1 whenever it is read."""

BESIDE = "headlines"
"""Name of the configuration for which a second process compiles, in parallel, the kernels that a run needs last."""


def compile_kernels(names: Sequence[str], manager: PluginManager) -> Iterator[str]:
    """Compile all kernels that the named configurations need; yield each name when its kernels are compiled.

    Artificial posts are deduplicated in a run and in a live window, because numba compiles a kernel for the argument
    types of its calls. If `BESIDE` is among the configurations, but not the first one, another process compiles some of
    its kernels in parallel.
    """
    texts = made_up_posts()
    corpus = Corpus(texts, range(len(texts)), np.arange(len(texts)), n_rows=len(texts))
    with compiling_together(BESIDE) if BESIDE in names[1:] else nullcontext():
        for name in names:
            settings = load_settings(name, manager)
            run(corpus, settings, manager.registry, config_name=name)
            with suppress(ConfigError):  # some configurations are for files only
                run_window(texts, settings, manager.registry)
            look_up_rings()
            yield name


def run_window(texts: Sequence[str], settings: Settings, registry: Registry) -> None:
    """Compile the kernels of a live window, by using all its features: decide, match, learn, audit, delete, expire."""
    clock = count()
    timing = parse_timing("arrival", HORIZON, None, lambda: float(next(clock)))
    options = WindowOptions(settings, registry, timing, available_workers(), read_only=False)
    n_half = len(texts) // 2
    with TemporaryDirectory(prefix="hybriddup-warm-up-") as folder:
        on_stop(lambda _: rmtree(folder, ignore_errors=True))
        for first in (0, n_half):
            state = open_state(partial(SqliteStore.open, folder), options)
            state.live_audit = LiveAudit(one_in=1)
            try:
                decide_in_batches(state, [Post(texts[row], row) for row in range(first, first + n_half)])
                similar_posts(state, texts[first], 10)
                look_up_crowds(state, texts[first : first + n_half])
                state.delete(first)
                if state.is_learning:
                    state.learn()
            finally:
                state.close()


def look_up_crowds(state: WindowState, texts: Sequence[str]) -> None:
    """Compile the kernels that search shared windows, and those that rank a live window's posts with one block key."""
    live, components = state.prepare(texts).batch, state.steps.components
    state.derived.index.depths(live, np.arange(1), np.zeros(1, np.int64))
    keys, rows = np.unique(live.probes, return_index=True)
    entries = np.zeros(len(keys), entry_type(live.columns.bits.shape[1]))
    entries["bits"], entries["position"] = live.columns.bits[rows // live.probes.shape[1]], np.arange(len(keys))
    is_key = keys != NO_KEY
    found = Entries(np.ones(int(is_key.sum()), np.int64), entries[is_key])
    near_meetings(live, found, components.bands, components.block_index.max_bucket_size)


def look_up_rings() -> None:
    """Compile the kernel that a run needs for block keys with more than ``max_bucket_size`` posts."""
    (rings, starts), nothing = make_rings(np.ones(1, np.uint32), n_texts=1), np.zeros(0, np.int64)
    depths_in_rings(nothing, nothing, starts[:, None], rings)


def decide_in_batches(state: WindowState, posts: Sequence[Post]) -> None:
    """Decide posts in batches whose sizes cycle through `BATCHES`."""
    first = 0
    while first < len(posts):
        for n in BATCHES:
            state.decide(posts[first : first + n])
            first += n
