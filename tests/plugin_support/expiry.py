"""The size of a shared window levels off, as posts expire."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

from plugin_support.faults import make_posts

import hybriddup
from hybriddup.testing.window_posts import CONFIG

HORIZON = 2.0
BATCH = 50


def check_levelling_off(address: str, count: Callable[[], int], kept_for: float) -> None:
    """Send posts for four times as long as the store keeps them, and hold its size to the posts sent of late.

    The bound is counted in batches, not taken from earlier sizes: a slow machine sends fewer posts, and in bursts.

    Parameters
    ----------
    address
        Address of a new window.
    count
        Returns the number of rows or keys of the window.
    kept_for
        Longest time for which the store keeps what belongs to a post, in horizons.
    """
    posts, sent, seen = iter(make_posts(20_000, 4)), [], []
    with hybriddup.Window.open(address, config=CONFIG, horizon=HORIZON, max_step=HORIZON) as window:
        ends = time.monotonic() + 4 * kept_for * HORIZON
        while time.monotonic() < ends:
            window.add_many(list(islice(posts, BATCH)))
            sent.append(time.monotonic())
            seen.append((time.monotonic(), count()))
            time.sleep(0.2)
        n_kept = window.stats().n_kept_in_window
    n_young = [sum(then - kept_for * HORIZON <= one <= then for one in sent) for then, _ in seen]
    per_batch = max(n / n_sent for n_sent, (then, n) in enumerate(seen, 1) if then < sent[0] + kept_for * HORIZON)
    assert all(n <= per_batch * (n_batches + 1) for n_batches, (_, n) in zip(n_young, seen, strict=True))
    assert n_kept <= BATCH * (n_young[-1] + 1)
