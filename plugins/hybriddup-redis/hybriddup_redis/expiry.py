"""When hashes in Redis expire: whoever writes to them puts that off, but not each time."""

from __future__ import annotations

import time

import numpy as np

from hybriddup.data.records import Bools, Int64s

TIMES = 8
"""How often the expiry of a hash that is written to is put off, in the time after which it expires. So what is written
lasts for at least seven eighths of that time, which is nearly two horizons."""


class Expiry:
    """When this client last put off the expiry of hashes, by their number.

    A hash that exists keeps its expiry until that is put off, so a client need not know what others do.

    Parameters
    ----------
    n
        Number of hashes.
    ttl
        Milliseconds after which a hash expires.
    """

    def __init__(self, n: int, ttl: int) -> None:
        self._put_off = np.full(n, -np.inf)
        self._every = ttl / 1000 / TIMES

    def is_due(self, numbers: Int64s) -> Bools:
        """Return bool[n]: which hashes must be put off by the next script that writes to them."""
        return np.asarray(self._put_off[numbers] < time.monotonic() - self._every)

    def note(self, numbers: Int64s, since: float) -> None:
        """Note the hashes that were put off, after a moment of `time.monotonic`."""
        self._put_off[numbers] = since
