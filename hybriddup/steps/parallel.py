"""Running kernels on slices of the work in threads: they release the interpreter, so threads are enough."""

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache, partial
from itertools import pairwise
from numbers import Integral
from queue import SimpleQueue
from typing import Generic, NoReturn, TypeVar

from hybriddup.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")

of_thread = threading.local()
"""Has ``is_worker``: whether the thread is at work on a share of something."""

SLICES_A_WORKER = 4
"""More slices than workers, so that a slice with more work than the others does not leave a worker idle."""


def available_workers() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every platform
        return os.cpu_count() or 1


def check_workers(workers: object) -> None:
    """Raise ConfigError where this is no number of workers; None leaves it to the number of cores."""
    is_number = isinstance(workers, Integral) and not isinstance(workers, bool)
    if workers is not None and not (is_number and workers >= 1):  # type: ignore[operator]
        raise ConfigError(f"workers must be a whole number, 1 or more, or None for one a core; got {workers!r}.")


def slices(n: int, n_slices: int) -> list[tuple[int, int]]:
    """Return the bounds of contiguous slices, as many as asked for, that cover ``range(n)``; none is empty."""
    n_slices = min(n, n_slices)
    bounds = [n * i // n_slices for i in range(n_slices + 1)] if n_slices else [0]
    return list(pairwise(bounds))


@lru_cache(maxsize=4)
def pool_of(workers: int) -> ThreadPoolExecutor:
    """Return the threads that help a caller to be so many workers, in all steps: starting some takes long."""
    return ThreadPoolExecutor(workers - 1, "hybriddup")


def map_threads(function: Callable[[T], R], things: Iterable[T], workers: int) -> Iterator[R]:
    """Yield ``function(thing)`` for each, in order.

    The caller's thread is one of the workers: of several threads that all have to wake up, the second may start
    milliseconds after the first. A single worker, or a single thing, needs no other; and what is called by a worker
    stays in its thread, which would otherwise wait for threads that wait for it.
    """
    things = list(things)
    if workers <= 1 or len(things) <= 1 or getattr(of_thread, "is_worker", False):
        return map(function, things)
    return SharedWork(function, things).results(min(workers, len(things)), pool_of(workers))


@lru_cache(maxsize=1)
def beside_main_thread() -> SimpleQueue[Callable[[], None]]:
    """Return where the thread that works for the main one takes its work from.

    Not an executor: an exception of a signal handler can come up between a lock of its semaphores and conditions, which
    are written in Python, and what lets go of it; the next caller would wait for ever. A `SimpleQueue` has none.
    """
    work: SimpleQueue[Callable[[], None]] = SimpleQueue()
    threading.Thread(target=_do_all_of, args=(work,), name="hybriddup main", daemon=True).start()
    atexit.register(undisturbed, int)  # the interpreter does not end before what was begun is done
    return work


if hasattr(os, "register_at_fork"):  # the thread is not in a forked process
    os.register_at_fork(after_in_child=beside_main_thread.cache_clear)


def _do_all_of(work: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work.get()()


def undisturbed(function: Callable[[], R], stop: Callable[[], None] = lambda: None) -> R:
    """Return what a function returns; no exception of a signal handler comes up in the middle of it.

    Handlers run in the main thread, and what they raise, such as KeyboardInterrupt, comes up wherever that is: inside
    compiled code, which it breaks, or between a change and what takes it back. So the main thread only waits, for
    another that does the work. An exception ends the waiting; the work is done to its end, unless ``stop`` ends it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    outcomes: SimpleQueue[Callable[[], R]] = SimpleQueue()
    try:
        beside_main_thread().put(lambda: outcomes.put(_outcome_of(function)))
    except RuntimeError:  # the interpreter is ending and starts no thread: a function of atexit may use a window
        return function()
    try:
        outcome = outcomes.get()
    except BaseException:
        stop()
        raise
    return outcome()


def _outcome_of(function: Callable[[], R]) -> Callable[[], R]:
    """Return what gives the result of a function again, or raises what it raised."""
    try:
        result = function()
    except BaseException as error:  # the main thread raises it
        return partial(_raise, error)
    return lambda: result


def _raise(error: BaseException) -> NoReturn:
    try:
        raise error
    finally:
        del error  # its traceback leads here


def start_in_background(function: Callable[[], R], workers: int) -> Callable[[], R]:
    """Start a function in another thread; call what is returned to wait for its result.

    Where no thread has started it by then, or there is a single worker, the caller runs it.
    """
    if workers <= 1 or getattr(of_thread, "is_worker", False):
        return function
    begun = pool_of(workers).submit(alone, function)
    return lambda: function() if begun.cancel() else begun.result()


def alone(function: Callable[[], R]) -> R:
    """Return what a function returns; what it calls stays in this thread."""
    before, of_thread.is_worker = getattr(of_thread, "is_worker", False), True
    try:
        return function()
    finally:
        of_thread.is_worker = before


class SharedWork(Generic[T, R]):
    """Things that several threads work through, each taking the next one."""

    def __init__(self, function: Callable[[T], R], things: Sequence[T]) -> None:
        self._function, self._lock = function, threading.Lock()
        self._left = deque(things)
        self._results: deque[Future[R]] = deque()
        """Of the things that were taken, in order; those that were yielded are let go of."""

    def results(self, n_workers: int, pool: ThreadPoolExecutor) -> Iterator[R]:
        """Yield the results in order, the calling thread being one of so many workers.

        What the function raises is raised here; the workers then end with the things that they are at.
        """
        helpers = [pool.submit(self._do_all) for _ in range(n_workers - 1)]
        try:
            while self._results or self._do_next() or self._results:  # another may have taken the last thing meanwhile
                result = self._results.popleft()
                while not result.done() and self._do_next():
                    pass
                yield result.result()
        finally:
            self._left.clear()
            wait([helper for helper in helpers if not helper.cancel()])

    def _do_all(self) -> None:
        while self._do_next():
            pass

    def _do_next(self) -> bool:
        """Do the next thing; return whether there was one."""
        with self._lock:  # so that results stand in the order of their things
            try:
                thing = self._left.popleft()
            except IndexError:  # not asked for before: an error elsewhere may take all things away meanwhile
                return False
            result: Future[R] = Future()
            self._results.append(result)
        try:
            result.set_result(alone(partial(self._function, thing)))
        except BaseException as error:  # an interrupt too: nobody begins anything more
            self._left.clear()
            result.set_exception(error)
        return True


def map_slices(function: Callable[[int, int], R], n: int, workers: int, smallest: int = 1) -> list[R]:
    """Return ``function(first, last)`` for slices that cover ``range(n)``, in order of the slices.

    With several workers there are several slices, as many for each, unless they would be smaller than ``smallest``.
    """
    n_slices = min(SLICES_A_WORKER * workers, n // smallest) if workers > 1 else 1
    n_slices -= n_slices % workers if n_slices > workers else 0
    return list(map_threads(lambda bounds: function(*bounds), slices(n, max(n_slices, 1)), workers))
