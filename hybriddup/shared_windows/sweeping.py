"""Garbage collection for batches that ended halfway: their process was killed, or a call failed.

An unfinished block leaves undecided posts, entries of duplicates in buckets, and kept posts that are not counted. Any
process may sweep it: giving up an undecided post is always safe, and its own process, if it was only slow, restarts it.
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
    """Sweeps unfinished blocks that this process knows of.

    Parameters
    ----------
    store, steps
        Store and steps of the window.
    patience
        Seconds for which a block of another process may be unfinished.
    """

    def __init__(self, store: SharedStore, steps: Steps, patience: float) -> None:
        self._store, self._steps, self._patience = store, steps, patience
        self._first_seen: dict[Block, float] = {}
        self._abandoned: set[Block] = set()

    def note(self, unfinished: Iterable[Block], now: float) -> None:
        """Record the blocks that are unfinished now; ``now`` is in seconds on a monotonic clock."""
        self._first_seen = {block: self._first_seen.get(block, now) for block in unfinished}

    def abandon(self, blocks: Iterable[Block]) -> None:
        """Record blocks of this process that it will not finish."""
        self._abandoned.update(blocks)

    def sweep_abandoned(self) -> None:
        """Sweep the abandoned blocks of this process."""
        self._sweep_all(sorted(self._abandoned))

    def sweep_overdue(self, now: float) -> None:
        """Sweep the blocks that have been unfinished for longer than ``patience``."""
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
        """Give up the undecided posts of a block, remove all but kept posts from their buckets, and finish it."""
        positions = np.arange(block.first, block.first + block.n, dtype=np.int64)
        posts = [record.post for record in self._store.records(positions) if record is not None]
        states = self._store.change([Change(post.position, UNDECIDED, State.GONE) for post in posts])
        pairs = list(zip(posts, states, strict=True))
        others = [post for post, state in pairs if state is not State.KEPT]
        leaving = keyed_posts(others, self._steps) if others else no_posts(self._steps)
        kept = [post.time for post, state in pairs if state is State.KEPT]
        self._store.finish(block.first, NEVER, NEVER, kept, leaving)
