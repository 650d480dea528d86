"""Batches that ended half-way: their posts are given up, leave their buckets, and are counted, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from hybriddup.errors import StoreError
from hybriddup.shared_windows import State
from hybriddup.shared_windows.opening import LEASE
from hybriddup.shared_windows.state import LEASES_UNTIL_SWEPT
from hybriddup.testing.window_posts import CONFIG, distinct_texts, nearly
from hybriddup.window import Decision, Window
from tests.shared_windows.plain_store import UNCOUNTED, UNDECIDED, Opener, PlainContent, PlainStore, loses

PATIENCE = LEASES_UNTIL_SWEPT * LEASE
TEXTS = distinct_texts(12)
NAME = "plain://window"


class Opened:
    """Windows over one store, each like one of a process of its own."""

    def __init__(self) -> None:
        self.opener = Opener()

    def __call__(self, make: Callable[[PlainContent, int], PlainStore] = PlainStore, **config: Any) -> Window:
        self.opener.make = make
        window: Window = self.opener("window", config={**CONFIG, **config})
        return window

    @property
    def content(self) -> PlainContent:
        return self.opener.contents[NAME]

    def states(self) -> list[State]:
        return [one.state for _, one in sorted(self.content.records.items())]

    def in_buckets(self) -> set[int]:
        return {position for bucket in self.content.buckets.values() for position in bucket}

    def interrupted(self, *, blocks: dict[str, Any] | None = None, **happens: Callable[[], object]) -> Window:
        """A window before whose first calls of some methods of the store something else happens."""
        return self(
            lambda content, words: Interrupted(content, words, **happens), **({"blocks": blocks} if blocks else {})
        )


def test_undecided_posts_of_an_ended_process_are_given_up_and_leave_their_buckets(clock: list[float]) -> None:
    windows = Opened()
    with pytest.raises(StoreError):
        windows(UNDECIDED).add_many(TEXTS[:3])
    other = windows()
    other.add(TEXTS[3])
    clock[0] = PATIENCE
    other.add(TEXTS[4])
    assert windows.states()[:3] == [State.PENDING] * 3
    assert {0, 1, 2} <= windows.in_buckets()
    clock[0] = PATIENCE + 1
    other.add(TEXTS[5])
    assert windows.states() == [State.GONE] * 3 + [State.KEPT] * 3
    assert windows.in_buckets() == {3, 4, 5}
    assert not windows.content.unfinished
    assert all(one.kept for one in other.add_many(TEXTS[:3]))


def test_decided_posts_of_an_ended_process_are_counted_once_whoever_sweeps(clock: list[float]) -> None:
    windows = Opened()
    ended, others = windows(UNCOUNTED), [windows(), windows()]
    ended.add_many([TEXTS[0], TEXTS[1], nearly(TEXTS[0])])
    for window in others:
        window.add(TEXTS[2])
    clock[0] = PATIENCE + 1
    for window in others:
        window.add(TEXTS[2])
    assert windows.in_buckets() == {0, 1, 3}
    assert others[0].stats().n_kept_in_window == 3


class Interrupted(PlainStore):
    """Has something else happen before its first call of a method, by its name."""

    def __init__(self, content: PlainContent, words: int, **happens: Callable[[], object]) -> None:
        super().__init__(content, words)
        for method, happened in happens.items():
            setattr(self, method, partial(self.call, method, iter([happened])))

    def call(self, method: str, left: Iterator[Callable[[], object]], *given: Any) -> Any:
        next(left, list)()
        return getattr(PlainStore, method)(self, *given)


def test_a_process_that_lives_is_left_in_peace_for_ten_leases(clock: list[float]) -> None:
    windows = Opened()
    other = windows()

    def happens() -> None:
        for moment in (0.0, PATIENCE):
            clock[0] = moment
            other.add(TEXTS[7])

    slow = windows.interrupted(change=happens)
    assert [one.position for one in slow.add_many(TEXTS[:3])] == [0, 1, 2]


@pytest.mark.parametrize("is_met", [False, True])
def test_a_process_that_is_slower_begins_anew(clock: list[float], is_met: bool) -> None:
    windows = Opened()
    other = windows()

    def happens() -> None:
        for moment in (0.0, PATIENCE + 1):
            clock[0] = moment
            other.add(TEXTS[7])
        other.add_many(TEXTS[:2] if is_met else [])

    slow = windows.interrupted(change=happens)
    answers = slow.add_many([TEXTS[0], nearly(TEXTS[0]), TEXTS[1], TEXTS[1], TEXTS[2]])
    assert [one.kept for one in answers] == [not is_met, False, not is_met, False, True]
    assert all(one.position > 5 for one in answers)
    slow.add(TEXTS[7])
    assert slow.stats().n_kept_in_window == 4
    assert not windows.content.unfinished
    kept = {position for position, one in windows.content.records.items() if one.state is State.KEPT}
    assert windows.in_buckets() == kept


@pytest.mark.parametrize("method", ["announce", "enter"])
def test_posts_that_were_swept_before_they_enter_their_buckets_displace_no_kept_post(
    clock: list[float], method: str
) -> None:
    windows, few = Opened(), {"use": "shingles", "max_bucket_size": 2}
    other, answers = windows(blocks=few), list[Decision]()
    kept = other.add(TEXTS[0])

    def sweeps() -> None:
        for moment in (0.0, PATIENCE + 1):
            clock[0] = moment
            other.add(TEXTS[7])

    happens = {method: sweeps, "change": lambda: answers.append(other.add(nearly(TEXTS[0])))}
    slow = windows.interrupted(blocks=few, **happens)
    answers += slow.add_many([f"{TEXTS[0]}{end}" for end in "abcd"])
    assert [one.duplicate_of for one in answers] == [kept.id] * 5


def test_what_a_process_left_undecided_is_given_up_by_its_next_batch() -> None:
    windows = Opened()
    window = windows.interrupted(change=loses)
    with pytest.raises(StoreError):
        window.add_many(TEXTS[:3])
    assert all(one.kept for one in window.add_many(TEXTS[:3]))
    assert windows.states() == [State.GONE] * 3 + [State.KEPT] * 3
    assert windows.in_buckets() == {3, 4, 5}
    assert window.stats().n_kept_in_window == 3


def test_a_batch_that_could_not_be_finished_is_finished_by_the_next_one(caplog: pytest.LogCaptureFixture) -> None:
    windows = Opened()
    window = windows.interrupted(finish=loses)
    assert [one.kept for one in window.add_many([TEXTS[0], nearly(TEXTS[0])])] == [True, False]
    assert "posts were decided" in caplog.text
    assert windows.in_buckets() == {0, 1}
    window.add(TEXTS[1])
    assert windows.in_buckets() == {0, 2}
    assert window.stats().n_kept_in_window == 2
    assert not windows.content.unfinished


def test_ids_that_are_sent_again_leave_nothing_in_the_store() -> None:
    windows = Opened()
    posts = [{"id": place, "text": text} for place, text in enumerate(TEXTS)]
    window = windows()
    first = window.add_many(posts)
    before = len(windows.content.records), windows.in_buckets(), dict(windows.content.holders)
    for sender in (window, windows()):
        for _ in range(20):
            assert [replace(one, repeated=False) for one in sender.add_many(posts)] == first
    assert (len(windows.content.records), windows.in_buckets(), windows.content.holders) == before
    assert not windows.content.unfinished


def test_copies_of_one_text_enter_its_buckets_once() -> None:
    windows = Opened()
    window = windows()
    answers = window.add_many([TEXTS[0]] * 1000)
    assert [one.kept for one in answers] == [True] + [False] * 999
    assert not any(one.kept for one in window.add_many([TEXTS[0]] * 1000))
    assert windows.in_buckets() == {0}
