"""What is done after the answer: nobody sees a difference but the time, whatever becomes of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from random import Random

import pytest

from hybriddup.window import Window
from hybriddup.window.afterwards import Afterwards
from hybriddup.window.memory import Memory
from hybriddup.window.state import WORTH_A_THREAD

N = 2 * WORTH_A_THREAD
LETTERS = [chr(0x4E00 + number) for number in range(3000)]
RANDOM = Random(6)  # noqa: S311
TEXTS = ["".join(RANDOM.choices(LETTERS, k=40)) for _ in range(N)]
REPEATS = [text[:20] + "啊" + text[21:] for text in TEXTS]


def threads_of(call: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the threads in which posts are added to the memory meanwhile."""
    names: set[str] = set()
    add = Memory.add

    def noted(*arguments: object) -> None:
        names.add(threading.current_thread().name)
        add(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Memory, "add", noted)
        call()
    return names


@pytest.mark.parametrize("workers", [1, 2])
def test_the_next_call_finds_all_that_was_added(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large batches of which memory is brought up to date later, small ones, and looking."""
    with Window.open(None, "weibo", workers=workers) as window:
        names = threads_of(lambda: window.add_many(TEXTS), monkeypatch)
        assert all(not decision.kept for decision in window.add_many(REPEATS))
        assert window.stats().n_kept_in_window == N
        assert window.match(TEXTS[7], limit=1)[0].text == TEXTS[7]
        small = threads_of(lambda: window.add_many(TEXTS[:3]), monkeypatch)

    here = threading.current_thread().name
    assert small == {here}
    assert (names == {here}) == (workers == 1)


def test_what_fails_afterwards_is_made_up_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The posts are answered, the error is logged, and the next posts are decided against them all the same."""
    add = Memory.add
    failures = iter([True])

    def failing(*arguments: object) -> None:
        if next(failures, False):
            raise MemoryError("as planned")
        add(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Memory, "add", failing)
    with Window.open(None, "weibo", workers=2) as window, caplog.at_level(logging.ERROR, "hybriddup"):
        assert all(decision.kept for decision in window.add_many(TEXTS))
        assert all(not decision.kept for decision in window.add_many(REPEATS))
        assert window.stats().n_kept_in_window == N
    assert "could not be brought up to date" in caplog.text


def test_work_that_is_not_worth_a_thread_raises_its_errors() -> None:
    """There and then; and what was begun before it is done by then."""
    begun, order = Afterwards(), list[str]()
    gate = threading.Event()

    def fail() -> None:
        order.append("now")
        raise LookupError("as planned")

    begun.do(lambda: order.append(f"beside {gate.wait(30)}"), worthwhile=True)
    gate.set()
    with pytest.raises(LookupError, match="as planned"):
        begun.do(fail, worthwhile=False)
    assert order == ["beside True", "now"]
