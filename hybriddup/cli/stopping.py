"""Signals to stop: while a command is at work, they raise nothing in it.

An exception out of a signal handler may come in the middle of compiled code, which crashes the process or loses it. So
a command that takes long works beside the main thread, which waits for it and for signals. At one, the main thread has
undone what was begun, and ends the process.
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
"""What is said at the end, by the signals that stop the program."""
HANGUP = getattr(signal, "SIGHUP", None)
"""The terminal was closed; Windows has no such signal."""
if HANGUP is not None:
    MESSAGES[HANGUP] = b""
NOTICED_WITHIN = 0.1
"""Seconds. A signal that the system hands to another thread does not wake the main one, which alone handles it."""
SHOW_CURSOR = b"\x1b[?25h\n"
"""For a terminal: a progress bar hides the cursor and leaves it in its line."""


def end(number: int) -> NoReturn:
    """End the process because of a signal, without waiting for any thread, and say so."""
    with suppress(OSError):
        os.write(2, (SHOW_CURSOR if os.isatty(2) else b"") + MESSAGES[signal.Signals(number)])
    os._exit(128 + number)


def _raise(number: int) -> NoReturn:
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


class _Now:
    """What holds at the moment; a process has one set of signal handlers."""

    has_terminal = False
    """Whether standard error is a terminal."""
    answer: Callable[[int], object] = staticmethod(end)
    """Called by the handler of a signal."""
    on_stop: list[Callable[[int], bool]] = []  # noqa: RUF012  there is one
    """Called in the main thread before the process ends."""


def install_handlers() -> None:
    """Have signals to stop end the program from now on; one that is ignored, as in the background, stays so."""
    _Now.has_terminal = os.isatty(2)
    for number in MESSAGES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _handle)


def _handle(number: int, frame: FrameType | None) -> None:
    if number == HANGUP:
        hang_up()
    _Now.answer(number)


def hang_up() -> None:
    """Say nothing more on a terminal, which was closed: writing to it would fail."""
    if _Now.has_terminal:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def raise_signals() -> None:
    """Have signals raise as Python does it, for commands that are quick or look after signals themselves."""
    _Now.answer = _raise


def ignore_signals() -> None:
    """Let nothing stop the program any more: it has done its work, and ends in a moment."""
    for number in MESSAGES:
        signal.signal(number, signal.SIG_IGN)


def on_stop(action: Callable[[int], bool]) -> None:
    """Have a signal call an action first, with its number, in the main thread; until the work has ended.

    It returns True where the work comes to its end by itself soon; otherwise the process ends.
    """
    _Now.on_stop.append(action)


def work_beside(work: Callable[[], T]) -> T:
    """Return what a function returns, or raise what it raises; it runs in a thread of its own.

    A second Ctrl-C ends the process at once. Signals are ignored when the work has ended: its outputs are in place.
    """
    from concurrent.futures import Future  # late: handlers are to be installed before a Ctrl-C can come

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
