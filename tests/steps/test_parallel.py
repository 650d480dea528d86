"""Work in slices and threads comes back whole and in order."""

import gc
import subprocess
import sys
import threading
import weakref
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.spread import spread_rows
from hybriddup.steps.parallel import available_workers, map_slices, map_threads, pool_of, slices, start_in_background


@given(st.integers(0, 200), st.integers(1, 9))
def test_slices_cover_everything_once(n: int, workers: int) -> None:
    bounds = slices(n, workers)
    assert [row for first, last in bounds for row in range(first, last)] == list(range(n))
    assert all(first < last for first, last in bounds)


@given(st.integers(0, 50), st.integers(1, 5))
def test_mapped_slices_come_in_order(n: int, workers: int) -> None:
    parts = map_slices(lambda first, last: list(range(first, last)), n, workers)
    assert [row for part in parts for row in part] == list(range(n))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_mapped_things_come_in_order(workers: int) -> None:
    """As they went in."""
    assert list(map_threads(lambda thing: thing * thing, range(100), workers)) == [n * n for n in range(100)]


def test_single_worker_stays_in_the_thread() -> None:
    """So that profilers and debuggers see it."""
    assert list(map_threads(lambda _: threading.current_thread(), [1], 1)) == [threading.current_thread()]


def test_threads_that_ask_for_threads_do_not_wait_for_one_another() -> None:
    inner = lambda first, last: list(range(first, last))  # noqa: E731
    parts = map_slices(lambda first, last: [map_slices(inner, 10, 2) for _ in range(first, last)], 100, 2)
    assert [row for part in parts for nested in part for piece in nested for row in piece] == list(range(10)) * 100


def fail(_: int) -> None:
    raise LookupError("as planned")


@pytest.mark.parametrize("workers", [1, 2])
def test_error_in_a_worker_reaches_the_caller(workers: int) -> None:
    """As itself."""
    with pytest.raises(LookupError, match="as planned"):
        list(map_threads(fail, [1, 2], workers))


def test_the_caller_is_one_of_the_workers() -> None:
    release, busy = threading.Event(), threading.Event()

    def hold() -> None:
        busy.set()
        release.wait(30)

    held = pool_of(2).submit(hold)
    try:
        assert busy.wait(30)
        threads = list(map_threads(lambda _: threading.current_thread(), range(5), 2))
    finally:
        release.set()
        held.result()
    assert threads == [threading.current_thread()] * 5


def test_nothing_is_begun_after_an_error() -> None:
    """Not even while what comes before it is still at work."""
    caller, failed, begun = threading.current_thread(), threading.Event(), list[int]()

    def work(thing: int) -> None:
        if threading.current_thread() is caller:
            begun.append(thing)
            failed.set()
            raise LookupError("as planned")
        failed.wait(30)

    with pytest.raises(LookupError, match="as planned"):
        list(map_threads(work, range(100), 2))
    assert len(begun) == 1


def test_results_are_let_go_of_one_by_one() -> None:
    class Result:
        """Something that can be watched."""

    watched: list[weakref.ref[Result]] = []
    for result in map_threads(lambda _: Result(), range(6), 2):
        watched.append(weakref.ref(result))
        del result
        gc.collect()
        assert sum(each() is not None for each in watched) <= 1


def test_there_is_a_worker() -> None:
    assert available_workers() >= 1


@given(st.integers(0, 500), st.integers(0, 60))
def test_spread_rows_are_rising_distinct_and_spread(n: int, sample: int) -> None:
    """As many as asked for where there are as many, with gaps that differ by one at most."""
    rows = spread_rows(n, sample).tolist()
    assert len(rows) == min(n, sample)
    assert all(0 <= row < n for row in rows)
    gaps = [b - a for a, b in pairwise(rows)]
    assert not gaps or (min(gaps) >= 1 and max(gaps) - min(gaps) <= 1)


def test_what_is_done_beside_is_done_by_another_thread() -> None:
    def inner() -> tuple[threading.Thread, list[threading.Thread]]:
        here = threading.current_thread()
        begun.set()
        return here, list(map_threads(lambda _: threading.current_thread(), range(4), 3))

    begun = threading.Event()
    result = start_in_background(inner, 3)
    assert begun.wait(10)
    thread, inner_threads = result()
    assert thread is not threading.current_thread()
    assert set(inner_threads) == {thread}


def test_what_no_thread_has_come_to_is_done_by_the_caller() -> None:
    let_go = threading.Event()
    busy = pool_of(2).submit(let_go.wait, 10)
    try:
        assert start_in_background(threading.current_thread, 2)() is threading.current_thread()
    finally:
        let_go.set()
        busy.result()
    assert start_in_background(threading.current_thread, 1)() is threading.current_thread()
    of_workers = map_threads(
        lambda _: (start_in_background(threading.current_thread, 2)(), threading.current_thread()), range(4), 2
    )
    assert all(done_by is asked_by for done_by, asked_by in of_workers)


def test_an_error_beside_is_that_of_the_result() -> None:
    def fail() -> None:
        begun.set()
        raise LookupError("lost")

    begun = threading.Event()
    result = start_in_background(fail, 2)
    assert begun.wait(10)
    with pytest.raises(LookupError, match="lost"):
        result()


BROKEN_OFF = """
import dis, sys
from hybriddup.steps import parallel

class BrokenOff(Exception):
    pass

def break_off_at(n):
    moments, last = iter(range(n)), {}

    def trace(frame, event, argument):
        frame.f_trace_opcodes = True
        if event == "opcode":
            before, last[frame] = last.get(frame, ""), dis.opname[frame.f_code.co_code[frame.f_lasti]]
            if before.startswith(("CALL", "RESUME", "JUMP_BACKWARD")) and next(moments, None) is None:
                sys.settrace(None)
                raise BrokenOff
        return trace

    return trace

is_first, n, is_through = sys.argv[1] == "first", 0, False
while not is_through:
    if is_first:
        parallel.beside_main_thread.cache_clear()
    sys.settrace(break_off_at(n))
    try:
        parallel.undisturbed(int)
        is_through = True
    except BrokenOff:
        n += 1
    finally:
        sys.settrace(None)
    assert parallel.undisturbed(lambda: n) == n
print(n)
"""


@pytest.mark.parametrize("which", ["first", "later"])
def test_an_exception_at_any_moment_leaves_the_thread_beside_the_main_one_at_work(which: str) -> None:
    """While that thread is started, too: no lock stays taken, on which it or the next caller would wait for ever.

    The exception comes up where those of signal handlers do: where a call begins or has ended, and a loop goes back.
    """
    command = [sys.executable, "-c", BROKEN_OFF, which]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 8
