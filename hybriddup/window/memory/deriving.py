"""What a window holds in memory, derived from the posts of its store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.index.growing import grow
from hybriddup.window.index.indexes import make_index, prepare_stored
from hybriddup.window.memory import Memory
from hybriddup.window.memory.saved_memory import SavedMemory
from hybriddup.window.steps import Steps
from hybriddup.window.stores import WindowStore


def remembered(steps: Steps, store: WindowStore, horizon: float, saved: SavedMemory | None = None) -> Memory:
    """Return what is held in memory of the kept posts of a store.

    Parameters
    ----------
    saved
        What was saved earlier; only later posts are looked at then.
    """
    n_texts = store.next_position - store.first_position
    memory = Memory(make_index(steps, store, n_texts), horizon)
    watermark, first = NEVER, 0
    if saved is not None and saved.index.suits(memory.index):
        saved.restore(memory)
        watermark, first = float(saved.watermarks.max(initial=NEVER)), saved.index.position
    batches = store.kept_since(first)
    with ThreadPoolExecutor(1, "reading") as reader:
        coming = reader.submit(next, batches, None)
        while posts := coming.result():
            coming = reader.submit(next, batches, None)
            times = np.array([post.time for post in posts])
            watermarks = np.maximum(np.maximum.accumulate(times), watermark)
            memory.add(prepare_stored(steps, posts), PostTimes(times, watermarks, NEVER), np.ones(len(posts), np.bool_))
            wait([coming])  # growing reads as well, and a store answers one call at a time
            grow(memory, len(posts), steps, store)
            watermark = float(watermarks[-1])
    return memory
