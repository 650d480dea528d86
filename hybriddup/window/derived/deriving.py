"""What a window holds in memory: read from its log as far as that can be believed, the rest derived from its posts."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from hybriddup.data.records import Int64s
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.kept_log import KeptLog
from hybriddup.window.derived.kept_posts import KeptPosts, columns_of, without
from hybriddup.window.derived.kept_records import RecordForm
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.index import WindowSize
from hybriddup.window.index.live_indexes import FEWEST_TEXTS, make_live_index
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import StoredPost
from hybriddup.window.stores import WindowStore, deleted_positions, stored_watermark

FEWEST_IN_RING = 2**10
"""The ring of texts begins with room for so many at least."""
ROOM_TO_GROW = 1.5
"""A window that is opened is laid out for so many times the posts that the store has."""


def prepare_stored(steps: Steps, posts: Sequence[StoredPost]) -> PreparedTexts:
    """Return posts of the store as they were when they were looked up."""
    texts, positions = [post.text for post in posts], np.array([post.position for post in posts], np.int64)
    return steps.prepare(texts, steps.normalize(texts), positions)


def build_derived_state(steps: Steps, store: WindowStore, horizon: float, log: KeptLog | None = None) -> DerivedState:
    """Return what is held in memory of the kept posts of a store, which match for so many seconds.

    A log then has all of them; only the texts of those that it did not have are looked at.
    """
    n_texts = int(ROOM_TO_GROW * (store.next_position - store.first_position))
    size = WindowSize(
        max(n_texts, FEWEST_TEXTS),
        steps.components.fingerprinter.n_bits,
        steps.workers,
        steps.counts_characters,
        n_first=max(n_texts, FEWEST_IN_RING),
    )
    derived = DerivedState(make_live_index(steps.components.block_index, size), horizon)
    try:
        if log is not None:
            read_log(derived, log, RecordForm.of(steps, horizon), store)
        derive(derived, 0 if log is None else log.end, steps, store, log)
    except BaseException:
        if log is not None:  # what it lacks now would never come into it
            log.close()
        raise
    return derived


def read_log(derived: DerivedState, log: KeptLog, form: RecordForm, store: WindowStore) -> None:
    """Fill an empty memory with the posts of a log; those that match no more are left out where many are together."""
    edge, deleted = stored_watermark(store) - derived.horizon, deleted_positions(store)
    for columns in log.resume(form):
        if max(columns.watermarks[-1], columns.times.max()) > edge:
            derived.add(without(columns, deleted) if len(deleted) else columns)


def derive(derived: DerivedState, first: int, steps: Steps, store: WindowStore, log: KeptLog | None) -> None:
    """Add the kept posts of the store from a position on, to the memory and to the log."""
    watermark = float(derived.kept.columns()[2][-1:].max(initial=NEVER))
    batches = store.kept_since(first)
    with ThreadPoolExecutor(1, "reading") as reader:
        coming = reader.submit(next, batches, None)
        while posts := coming.result():
            coming = reader.submit(next, batches, None)
            prepared, times = prepare_stored(steps, posts), np.array([post.time for post in posts])
            watermarks = np.maximum(np.maximum.accumulate(times), watermark)
            columns = columns_of(prepared, PostTimes(times, watermarks), np.ones(len(posts), np.bool_))
            if log is not None:
                columns = log.append(columns, prepared.normalized)
            derived.add(columns)
            watermark = float(watermarks[-1])


def normalized_texts(
    positions: Int64s, kept: KeptPosts, log: KeptLog | None, store: WindowStore, steps: Steps
) -> list[str]:
    """Return the normalized texts of kept posts, in the order asked.

    They are those of the log. Where it has none, or they are not as they were written, they are made anew of what the
    store has: normalizing takes two microseconds a text.
    """
    if log is None:
        return steps.normalize([post.text for post in store.posts(positions)])
    texts = log.texts.read(positions, kept.text_places_of(positions))
    missing = [row for row, text in enumerate(texts) if text is None]
    made = iter(steps.normalize([post.text for post in store.posts(positions[missing])]) if missing else [])
    return [next(made) if text is None else text for text in texts]
