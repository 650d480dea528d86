"""How fast shared windows are: several processes that send batches, and threads that send one post a call.

Rates are of all senders together, from when each is ready. What 99 of a hundred batches or calls take at most is told
beside them.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

import hybriddup

Config = str | dict[str, Any]


class Rate(NamedTuple):
    """What was measured."""

    per_second: float
    """Posts, of all senders."""
    slowest: float
    """Seconds that 99 of a hundred batches or calls take at most."""
    n_kept: int


class Sent(NamedTuple):
    """What came of the posts of one sender."""

    n_kept: int
    seconds: list[float]
    """Of each batch."""


def measure_senders(address: str, config: Config, texts: Sequence[str], n_senders: int, size: int) -> Rate:
    """Return the rate of processes that share texts out among each other and send them in batches."""
    processes = multiprocessing.get_context("spawn")
    queue: Any = processes.Queue()
    ready = processes.Barrier(n_senders + 1)
    shares = [list(texts[number::n_senders]) for number in range(n_senders)]
    senders = [processes.Process(target=send, args=(queue, address, config, share, size, ready)) for share in shares]
    for sender in senders:
        sender.start()
    ready.wait()
    began = time.perf_counter()
    sent: list[Sent] = [queue.get() for _ in senders]
    seconds = time.perf_counter() - began
    slowest = float(np.percentile([second for one in sent for second in one.seconds], 99))
    return Rate(len(texts) / seconds, slowest, sum(one.n_kept for one in sent))


def send(queue: Any, address: str, config: Config, texts: Sequence[str], size: int, ready: Any) -> None:
    """Send posts in batches, when all senders are ready, and tell what came of them."""
    with hybriddup.Window.open(address, config=config, workers=1) as window:
        window.match("kernels are loaded")
        ready.wait()
        seconds, n_kept = [], 0
        for first in range(0, len(texts), size):
            began = time.perf_counter()
            n_kept += sum(one.kept for one in window.add_many(texts[first : first + size]))
            seconds.append(time.perf_counter() - began)
    queue.put(Sent(n_kept, seconds))


def measure_callers(address: str, config: Config, texts: Sequence[str], n_callers: int = 16) -> Rate:
    """Return the rate of threads of one process that send one post a call."""

    def call(text: str) -> tuple[bool, float]:
        began = time.perf_counter()
        is_kept = window.add(text).kept
        return is_kept, time.perf_counter() - began

    with hybriddup.Window.open(address, config=config) as window, ThreadPoolExecutor(n_callers) as pool:
        window.match("kernels are loaded")
        began = time.perf_counter()
        kept, seconds = zip(*pool.map(call, texts), strict=True)
        rate = len(texts) / (time.perf_counter() - began)
    return Rate(rate, float(np.percentile(seconds, 99)), sum(kept))
