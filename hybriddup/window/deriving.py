"""What a window holds in memory, derived from the posts of its store."""

from __future__ import annotations

import numpy as np

from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.indexes import make_index, suited
from hybriddup.window.memory import Memory
from hybriddup.window.records import StoredPost
from hybriddup.window.saved_memory import SavedMemory
from hybriddup.window.steps import PreparedTexts, Steps
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
    if saved is not None:
        saved.restore(memory)
        watermark, first = float(saved.watermarks.max(initial=NEVER)), saved.index.position
    for posts in store.kept_since(first):
        times = np.array([post.time for post in posts])
        watermarks = np.maximum(np.maximum.accumulate(times), watermark)
        memory.add(prepare_stored(steps, posts), PostTimes(times, watermarks, NEVER), np.ones(len(posts), np.bool_))
        memory.index = suited(memory.index, steps, store)
        watermark = float(watermarks[-1])
    return memory


def prepare_stored(steps: Steps, posts: list[StoredPost]) -> PreparedTexts:
    """Return posts of the store as they were when they were looked up."""
    positions = np.array([post.position for post in posts], np.int64)
    return steps.prepare([post.text for post in posts], [post.compared_text for post in posts], positions)
