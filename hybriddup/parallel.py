"""Running kernels on slices of the work in threads: they release the interpreter, so threads are enough."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from os import cpu_count, sched_getaffinity
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

SLICES_A_WORKER = 4
"""More slices than workers, so that a slice with more work than the others does not leave a worker idle."""


def available_workers() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every platform
        return cpu_count() or 1


def slices(n: int, workers: int) -> list[tuple[int, int]]:
    """Return the bounds of contiguous slices that together cover ``range(n)``; none is empty.

    Examples
    --------
    >>> slices(5, 1)
    [(0, 1), (1, 2), (2, 3), (3, 5)]
    """
    n_slices = min(n, SLICES_A_WORKER * workers) if workers > 0 else 0
    bounds = [n * i // n_slices for i in range(n_slices + 1)] if n_slices else [0]
    return list(pairwise(bounds))


def map_threads(function: Callable[[T], R], things: Iterable[T], workers: int) -> Iterator[R]:
    """Yield ``function(thing)`` for each, in order; a single worker runs in the caller's thread."""
    if workers <= 1:
        yield from map(function, things)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(function, things)


def map_slices(function: Callable[[int, int], R], n: int, workers: int) -> list[R]:
    """Return ``function(first, last)`` for slices that cover ``range(n)``, in order of the slices."""
    if workers <= 1:
        return [function(0, n)] if n else []
    return list(map_threads(lambda bounds: function(*bounds), slices(n, workers), workers))
