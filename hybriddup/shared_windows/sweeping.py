"""Garbage collection for batches that ended halfway: their process was killed, or a call failed.

The block of such a batch (its range of positions) stays unfinished: it has undecided posts, entries of duplicates in
buckets, and kept posts that are not counted. Any process may clean up. It is always safe to mark an
undecided post as gone, so that nothing matches it: if its own process was only slow, it then decides the post anew.

Entries of a finished block count towards `max_bucket_size`, so all of them must be of kept posts; entries of other
posts would displace kept posts, whose matches would then be kept as well. A slow process may still write records of
posts of such a block, or add them to buckets. So the store refuses records of posts that were already marked as gone,
and does not add posts to a bucket from which they were removed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np

from hybriddup.errors import StoreError
from hybriddup.shared_windows.batch import keyed_posts, no_posts
from hybriddup.shared_windows.store import UNDECIDED, Block, Change, SharedStore, State
from hybriddup.window.event_time import NEVER
from hybriddup.window.preparing import Steps

logger = logging.getLogger("hybriddup")


class Sweeper:
    """Cleans up the unfinished blocks that this process knows of; a block is the range of positions of a batch.

    Parameters
    ----------
    store, steps
        Store and steps of the window.
    patience
        Seconds after which an unfinished block of another process is cleaned up.
    """

    def __init__(self, store: SharedStore, steps: Steps, patience: float) -> None:
        self._store, self._steps, self._patience = store, steps, patience
        self._first_seen: dict[Block, float] = {}
        self._abandoned: set[Block] = set()

    def note(self, unfinished: Iterable[Block], now: float) -> None:
        """Record the blocks that are unfinished now; ``now`` is in seconds on a monotonic clock."""
        self._first_seen = {block: self._first_seen.get(block, now) for block in unfinished}

    def abandon(self, blocks: Iterable[Block]) -> None:
        """Record blocks that batches of this process left unfinished; `sweep_abandoned` cleans them up."""
        self._abandoned.update(blocks)

    def sweep_abandoned(self) -> None:
        """Clean up the blocks that this process abandoned."""
        self._sweep_all(sorted(self._abandoned))

    def sweep_overdue(self, now: float) -> None:
        """Clean up the blocks that have been unfinished for longer than ``patience``."""
        self._sweep_all([block for block, since in self._first_seen.items() if now - since > self._patience])

    def _sweep_all(self, blocks: Iterable[Block]) -> None:
        try:
            for block in blocks:
                self._sweep(block)
                self._abandoned.discard(block)
                self._first_seen.pop(block, None)
        except StoreError as error:
            logger.warning(
                "undecided posts of an interrupted batch still take space in the store; the next call tries again: %s",
                error,
            )

    def _sweep(self, block: Block) -> None:
        """Finish a block: mark its undecided posts as gone, and remove from their buckets all posts that are not kept.

        Posts are marked first, even if they have no records yet. From then on, nothing that their own process does late
        has an effect: it cannot write their records, or add them to a bucket again.
        """
        positions = np.arange(block.first, block.first + block.n, dtype=np.int64)
        self._store.change([Change(position, UNDECIDED, State.GONE) for position in positions.tolist()])
        records = [record for record in self._store.records(positions) if record is not None]
        others = [record.post for record in records if record.state is not State.KEPT]
        if others:
            self._store.leave(keyed_posts(others, self._steps))
        kept = [record.post.time for record in records if record.state is State.KEPT]
        self._store.finish(block.first, NEVER, NEVER, kept, no_posts(self._steps))
