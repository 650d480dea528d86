"""Runs kernels, which release the interpreter lock, in thread pools, and protects work from interruption by signals."""

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
from typing import Generic, TypeVar

from hybriddup.errors import ConfigError

T = TypeVar("T")
R = TypeVar("R")

of_thread = threading.local()
"""Thread-local ``is_worker``: whether the thread is executing a task of `SharedWork`."""

SLICES_PER_WORKER = 4
"""Number of slices per worker: several, so that one slow slice does not leave other workers idle."""


def available_workers() -> int:
    """Return the number of CPU cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every platform
        return os.cpu_count() or 1


def check_workers(workers: object) -> None:
    """Raise ConfigError unless ``workers`` is a positive integer or None (one per core)."""
    is_number = isinstance(workers, Integral) and not isinstance(workers, bool)
    if workers is not None and not (is_number and workers >= 1):  # type: ignore[operator]
        raise ConfigError(f"workers must be a whole number, 1 or more, or None for one per core; got {workers!r}.")


def slices(n: int, n_slices: int) -> list[tuple[int, int]]:
    """Return the bounds of up to ``n_slices`` contiguous, non-empty slices that cover ``range(n)``."""
    n_slices = min(n, n_slices)
    bounds = [n * i // n_slices for i in range(n_slices + 1)] if n_slices else [0]
    return list(pairwise(bounds))


@lru_cache(maxsize=4)
def pool_of(workers: int) -> ThreadPoolExecutor:
    """Return a shared pool of ``workers - 1`` threads, which help the calling thread."""
    return ThreadPoolExecutor(workers - 1, "hybriddup")


def map_threads(function: Callable[[T], R], things: Iterable[T], workers: int) -> Iterator[R]:
    """Yield ``function(thing)`` for each thing, in order, computed by up to ``workers`` threads.

    The calling thread is one of the workers, because waking another thread can take milliseconds. It works alone if
    there is one worker or one thing, or if it is already executing a task of the pool: to wait for other tasks of the
    same pool could deadlock.
    """
    things = list(things)
    if workers <= 1 or len(things) <= 1 or getattr(of_thread, "is_worker", False):
        return map(function, things)
    return SharedWork(function, things).results(min(workers, len(things)), pool_of(workers))


@lru_cache(maxsize=1)
def beside_main_thread() -> SimpleQueue[Callable[[], None]]:
    """Return the queue of functions that a helper thread calls on behalf of the main thread.

    An executor has locks written in Python: an exception from a signal handler can leave one locked, and the next
    caller would wait forever. A `SimpleQueue` has no such locks.
    """
    work: SimpleQueue[Callable[[], None]] = SimpleQueue()
    threading.Thread(target=_do_all_of, args=(work,), name="hybriddup main", daemon=True).start()
    atexit.register(undisturbed, int)  # the interpreter exits only after the queued work
    return work


if hasattr(os, "register_at_fork"):  # a forked process does not have the thread
    os.register_at_fork(after_in_child=beside_main_thread.cache_clear)


def _do_all_of(work: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        work.get()()


def undisturbed(function: Callable[[], R], stop: Callable[[], None] = lambda: None) -> R:
    """Call a function so that no exception from a signal handler interrupts it, and return its result.

    Signal handlers run in the main thread, and an exception such as KeyboardInterrupt is raised wherever that thread
    is: inside compiled code, which it breaks, or between a change and its rollback. Therefore another thread does the
    work while the main thread waits. An exception ends the waiting; the work continues to its end unless ``stop``
    cancels it.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    outcomes: SimpleQueue[Future[R]] = SimpleQueue()
    try:
        beside_main_thread().put(lambda: outcomes.put(_outcome_of(function)))
    except RuntimeError:  # no thread starts at interpreter exit, where an atexit function may use a window
        return function()
    try:
        outcome = outcomes.get()
    except BaseException:
        stop()
        raise
    return outcome.result()


def _outcome_of(function: Callable[[], R]) -> Future[R]:
    """Call a function; return its result or exception."""
    outcome: Future[R] = Future()
    try:
        outcome.set_result(function())
    except BaseException as error:  # the main thread raises it
        outcome.set_exception(error)
    return outcome


def start_in_background(function: Callable[[], R], workers: int) -> Callable[[], R]:
    """Start a function in another thread; the returned function waits for its result.

    If no thread has started the function when its result is requested, or if there is only one worker, the waiting
    thread runs it.
    """
    if workers <= 1 or getattr(of_thread, "is_worker", False):
        return function
    begun = pool_of(workers).submit(alone, function)
    return lambda: function() if begun.cancel() else begun.result()


def start_in_thread(function: Callable[[], R], workers: int) -> Callable[[], R]:
    """Start a function in a thread of its own, which can share work with the pool; the returned function waits for it.

    With one worker, the waiting thread runs the function.
    """
    if workers <= 1:
        return function
    thread = ThreadPoolExecutor(1, "hybriddup in background")
    begun = thread.submit(function)
    thread.shutdown(wait=False)
    return begun.result


def alone(function: Callable[[], R]) -> R:
    """Call a function in this thread, with parallel work switched off, and return its result."""
    before, of_thread.is_worker = getattr(of_thread, "is_worker", False), True
    try:
        return function()
    finally:
        of_thread.is_worker = before


class SharedWork(Generic[T, R]):
    """A queue of items that several threads process; each thread takes the next item when it is free."""

    def __init__(self, function: Callable[[T], R], things: Sequence[T]) -> None:
        self._function, self._lock = function, threading.Lock()
        self._left = deque(things)
        self._results: deque[Future[R]] = deque()
        """Results of the items taken so far, in order, without results that were already yielded."""

    def results(self, n_workers: int, pool: ThreadPoolExecutor) -> Iterator[R]:
        """Yield the results in order; the calling thread is one of the workers.

        An exception of the function is raised here; the workers then finish their current items.
        """
        helpers = [pool.submit(self._do_all) for _ in range(n_workers - 1)]
        try:
            while self._results or self._do_next() or self._results:  # another thread may have taken the last thing
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
        """Process the next item; return False if no item was left."""
        with self._lock:  # keeps the results in the order of their things
            try:
                thing = self._left.popleft()
            except IndexError:  # no check before, because an error in another thread clears the queue at any time
                return False
            result: Future[R] = Future()
            self._results.append(result)
        try:
            result.set_result(alone(partial(self._function, thing)))
        except BaseException as error:  # interrupts included: no thread starts anything else
            self._left.clear()
            result.set_exception(error)
        return True


def map_slices(function: Callable[[int, int], R], n: int, workers: int, smallest: int = 1) -> list[R]:
    """Return ``function(first, last)`` for slices that cover ``range(n)``, in order of the slices.

    Several workers get `SLICES_PER_WORKER` slices each, or fewer if slices would be smaller than ``smallest``.
    """
    n_slices = min(SLICES_PER_WORKER * workers, n // smallest) if workers > 1 else 1
    n_slices -= n_slices % workers if n_slices > workers else 0
    return list(map_threads(lambda bounds: function(*bounds), slices(n, max(n_slices, 1)), workers))
