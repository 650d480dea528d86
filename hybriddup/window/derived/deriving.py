"""Fills the memory of a window from the records in its store or, if these cannot be used, from the stored posts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import numpy as np

from hybriddup.errors import StoreError
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.kept_posts import KeptColumns, columns_of
from hybriddup.window.derived.kept_records import RecordForm
from hybriddup.window.event_time import NEVER, PostTimes
from hybriddup.window.index import WindowSize
from hybriddup.window.index.live_indexes import FEWEST_TEXTS, make_live_index
from hybriddup.window.preparing import PreparedTexts, Steps
from hybriddup.window.records import StoredPost
from hybriddup.window.stores import READ_TOGETHER, Derived, Span
from hybriddup.window.stores.store import WindowStore

FEWEST_IN_RING = 2**10
"""Smallest initial capacity of the ring buffer of texts."""
ROOM_TO_GROW = 1.5
"""Initial capacity of a window in memory, as a multiple of the number of posts in its store."""

logger = logging.getLogger("hybriddup")


def prepare_stored(steps: Steps, posts: Sequence[StoredPost]) -> PreparedTexts:
    """Normalize stored posts and compute their fingerprints and keys, as when they were decided."""
    texts, positions = [post.text for post in posts], np.array([post.position for post in posts], np.int64)
    return steps.prepare(texts, steps.normalize(texts), positions)


def build_derived_state(steps: Steps, store: WindowStore, horizon: float) -> DerivedState:
    """Build the memory of a window from its store; ``horizon`` is in seconds."""
    n_texts = int(ROOM_TO_GROW * (store.next_position - store.first_position))
    n_most, n_first = max(n_texts, FEWEST_TEXTS), max(n_texts, FEWEST_IN_RING)
    bits = steps.components.fingerprinter.n_bits
    size = WindowSize(n_most, bits, steps.workers, steps.counts_characters, n_first)
    form = RecordForm.of(steps) if store.keeps_derived else None
    derived = DerivedState(make_live_index(steps.components.block_index, size), horizon, form)
    derive(derived, 0, steps, store)
    return derived


def derive(derived: DerivedState, position: int, steps: Steps, store: WindowStore) -> None:
    """Load the kept posts of the store into memory, starting at ``position``; skip posts outside the horizon.

    Records that are missing, damaged or made with other settings are computed again, and stored unless the store is
    read-only.
    """
    form, first = derived.form, max(position, store.first_position)
    edge, deleted = store.watermark() - derived.horizon, store.deleted_positions()
    for span in store.spans(position, "" if form is None else form.made_with):
        if form is not None and span.records is not None:
            columns = form.columns(span.records)
        else:
            columns = derive_columns(span, derived, steps, store)
            if form is not None and not store.is_read_only:
                put_derived(form.derived(columns, span.first, span.end), span.first, store)
        stay = (columns.positions >= first) & ~np.isin(columns.positions, deleted)
        columns = columns if stay.all() else columns.take(stay)
        if max(columns.watermarks.max(initial=NEVER), columns.times.max(initial=NEVER)) > edge:
            derived.add(columns)


def derive_columns(span: Span, derived: DerivedState, steps: Steps, store: WindowStore) -> KeptColumns:
    """Compute the columns of the kept posts of a span from their texts."""
    posts = list(kept_posts(store, span.first, span.end))
    prepared, times = prepare_stored(steps, posts), np.array([post.time for post in posts], np.float64)
    before = float(derived.kept.columns()[2][-1:].max(initial=NEVER))
    watermarks = np.maximum(np.maximum.accumulate(times), before)
    return columns_of(prepared, PostTimes(times, watermarks), np.ones(len(posts), np.bool_))


def kept_posts(store: WindowStore, first: int, end: int) -> Iterator[StoredPost]:
    """Yield the kept posts at positions ``first`` to ``end - 1``; StoreError if any post there is damaged."""
    first = max(first, store.first_position)
    for begin in range(first, end, READ_TOGETHER):
        posts = store.posts(np.arange(begin, min(begin + READ_TOGETHER, end)))
        yield from (post for post in posts if post.kept)


def put_derived(derived: Derived, first: int, store: WindowStore) -> None:
    """Store recomputed data of the posts from position ``first`` on; if that fails, only log a warning.

    The next opening then computes the data again.
    """
    try:
        store.put_derived(first, derived)
    except StoreError as error:
        logger.warning("derived data cannot be stored; the next opening derives it again: %s", error)
