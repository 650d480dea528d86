"""Running kernels on slices of the work in threads: they release the interpreter, so threads are enough."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from os import cpu_count, sched_getaffinity
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

of_thread = threading.local()
"""Has ``is_worker`` in the threads that the steps share."""

SLICES_A_WORKER = 4
"""More slices than workers, so that a slice with more work than the others does not leave a worker idle."""


def available_workers() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every platform
        return cpu_count() or 1


def slices(n: int, n_slices: int) -> list[tuple[int, int]]:
    """Return the bounds of contiguous slices, as many as asked for, that cover ``range(n)``; none is empty.

    Examples
    --------
    >>> slices(5, 4)
    [(0, 1), (1, 2), (2, 3), (3, 5)]
    """
    n_slices = min(n, n_slices)
    bounds = [n * i // n_slices for i in range(n_slices + 1)] if n_slices else [0]
    return list(pairwise(bounds))


@lru_cache(maxsize=4)
def pool_of(workers: int) -> ThreadPoolExecutor:
    """Return the threads that all steps share: starting some takes longer than many a kernel."""
    return ThreadPoolExecutor(workers, "hybriddup", initializer=note_worker)


def note_worker() -> None:
    """Note that this thread is one of those that the steps share."""
    of_thread.is_worker = True


def map_threads(function: Callable[[T], R], things: Iterable[T], workers: int) -> Iterator[R]:
    """Yield ``function(thing)`` for each, in order.

    A single worker, or a single thing, runs in the caller's thread; so does what is called by one of the threads, which
    would otherwise wait for threads that wait for it.
    """
    things = list(things)
    if workers <= 1 or len(things) <= 1 or getattr(of_thread, "is_worker", False):
        return map(function, things)
    return pool_of(workers).map(function, things)


def map_slices(function: Callable[[int, int], R], n: int, workers: int, smallest: int = 1) -> list[R]:
    """Return ``function(first, last)`` for slices that cover ``range(n)``, in order of the slices.

    With several workers there are several slices, as many for each, unless they would be smaller than ``smallest``.
    """
    n_slices = min(SLICES_A_WORKER * workers, n // smallest) if workers > 1 else 1
    n_slices -= n_slices % workers if n_slices > workers else 0
    return list(map_threads(lambda bounds: function(*bounds), slices(n, max(n_slices, 1)), workers))
