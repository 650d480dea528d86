"""Signal handling for long-running commands: a signal raises no exception in their code.

An exception from a signal handler may arrive in the middle of compiled code, which then crashes or ignores the
exception. So a long command runs in a worker thread, while the main thread waits for the command and for signals. At a
signal, the main thread runs the cleanup actions and ends the process.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

MESSAGES = {signal.SIGINT: b"interrupted; nothing was written\n", signal.SIGTERM: b""}
"""Final message on standard error, by signal."""
HANGUP = getattr(signal, "SIGHUP", None)
"""Signal sent when the terminal is closed; None on Windows."""
if HANGUP is not None:
    MESSAGES[HANGUP] = b""
NOTICED_WITHIN = 0.1
"""Polling interval in seconds. Only the main thread handles signals, but it is not woken by a signal that is delivered
to another thread."""
SHOW_CURSOR = b"\x1b[?25h\n"
"""Escape sequence that restores the cursor, which a progress bar hides, and begins a new line."""


def end(number: int) -> NoReturn:
    """Print the message for a signal and end the process, without waiting for any thread."""
    with suppress(OSError):
        os.write(2, (SHOW_CURSOR if os.isatty(2) else b"") + MESSAGES[signal.Signals(number)])
    os._exit(128 + number)


def _raise(number: int) -> NoReturn:
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


class _Now:
    """Global state of signal handling, because the signal handlers of a process are global."""

    has_terminal = False
    """Whether standard error is a terminal."""
    answer: Callable[[int], object] = staticmethod(end)
    """Function that the signal handler calls with the signal's number."""
    on_stop: list[Callable[[int], object]] = []  # noqa: RUF012  global state
    """Cleanup actions, called in the main thread before the process ends."""


def install_handlers() -> None:
    """Install handlers that end the program at a signal. Signals that are ignored, as under nohup, stay ignored."""
    _Now.has_terminal = os.isatty(2)
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


def _handle(number: int, frame: FrameType | None) -> None:
    if number == HANGUP:
        hang_up()
    _Now.answer(number)


def hang_up() -> None:
    """Redirect standard error to the null device if it was a terminal, because writing to a closed terminal fails."""
    if _Now.has_terminal:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def raise_signals() -> None:
    """Let signals raise exceptions, as usual in Python; for commands that are quick or handle signals themselves."""
    _Now.answer = _raise


def ignore_signals() -> None:
    """Ignore signals from now on: the work is done, and the program is about to end."""
    for number in MESSAGES:
        signal.signal(number, signal.SIG_IGN)


def on_stop(action: Callable[[int], object]) -> None:
    """Register an action that the main thread calls with a signal's number while `work_beside` runs.

    The action returns True if the work will soon end by itself; if no action returns True, the process ends.
    """
    _Now.on_stop.append(action)


def work_beside(work: Callable[[], T]) -> T:
    """Run a function in a worker thread while the main thread handles signals; return its result or raise its error.

    A second Ctrl-C ends the process at once. After the work has ended, signals are ignored, because its outputs are in
    place.
    """
    from concurrent.futures import Future  # imported late, so that handlers are installed early

    events: SimpleQueue[int | None] = SimpleQueue()
    result: Future[T] = Future()
    _Now.answer = _noting(events)
    threading.Thread(target=_work, args=(work, result, events), name="working", daemon=True).start()
    try:
        while (number := _next_of(events)) is not None:
            ends_by_itself = [action(number) for action in _Now.on_stop]
            if not any(ends_by_itself):
                end(number)
    finally:
        _Now.on_stop.clear()
        _Now.answer = lambda _: None
    return result.result()


def _work(work: Callable[[], T], result: Future[T], events: SimpleQueue[int | None]) -> None:
    try:
        result.set_result(work())
    except BaseException as error:  # the main thread raises it
        result.set_exception(error)
    events.put(None)


def _noting(events: SimpleQueue[int | None]) -> Callable[[int], None]:
    before: set[int] = set()

    def note(number: int) -> None:
        if number == signal.SIGINT and number in before:
            os._exit(128 + number)
        before.add(number)
        events.put(number)

    return note


def _next_of(events: SimpleQueue[int | None]) -> int | None:
    while True:
        with suppress(Empty):
            return events.get(timeout=NOTICED_WITHIN)
