"""The contract check of windows: one that breaks a promise fails at its clause."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hybriddup.testing import ContractError, check_window
from hybriddup.testing.windows import CONFIG
from hybriddup.window import Decision, Window


class Changed:
    """A window that does something else than it promises."""

    def __init__(self, **options: Any) -> None:
        self.window = Window.open(None, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.window, name)

    def add(self, post: Any) -> Decision:
        """As the window does it."""
        return self.add_many([post])[0]

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        """As the window does it."""
        return self.window.add_many(posts)


class KeepsAll(Changed):
    """Keeps every post of its own batch."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return [each._replace(decision="kept", evidence=None) for each in super().add_many(posts)]


class NamesAnother(Changed):
    """Names some other keeper."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        decisions = super().add_many(posts)
        return [each._replace(evidence=each.evidence and each.evidence._replace(of="x")) for each in decisions]


class SortsItsBatches(Changed):
    """Decides a batch in another order."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return super().add_many(posts[::-1])[::-1]


class TakesNumbersForText(Changed):
    """Has one id for a number and its digits."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        as_text = [
            post | {"id": str(post["id"])} if isinstance(post, dict) and "id" in post else post for post in posts
        ]
        return super().add_many(as_text)


class ForgetsIds(Changed):
    """Decides every post anew."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return [each._replace(repeated=False) for each in super().add_many(posts)]


class CountsLooks(Changed):
    """Adds what it is asked about."""

    def match(self, text: str, limit: int = 10) -> Any:
        found = self.window.match(text, limit)
        self.window.add(text + " and something that is new in every way")
        return found


class FindsTooMuch(Changed):
    """Returns more than asked for, the least similar first."""

    def match(self, text: str, limit: int = 10) -> Any:
        return self.window.match(text, 4 * limit)[::-1]


class GetsByDigits(Changed):
    """Finds a post by the digits of its number."""

    def get(self, post_id: Any) -> Any:
        return self.window.get(int(post_id))


class NeverForgets(Changed):
    """Has another horizon."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"horizon": "300d"})


class ForgetsAtOnce(Changed):
    """Has hardly a horizon."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"horizon": 500.0})


class GoesByArrival(Changed):
    """Does not look at the times of posts."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"time": "arrival"})


class DecidesTwice(Changed):
    """Has its threads decide by themselves."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.of_threads = [Window.open(None, **options) for _ in range(2)]

    def add(self, post: Any) -> Decision:
        number = threading.get_native_id() % 2
        is_main = threading.current_thread() is threading.main_thread()
        return (self.window if is_main else self.of_threads[number]).add(post)


class TakesHalfABatch(Changed):
    """Decides the posts before one that is none."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return [self.window.add(post) for post in posts]


class StaysOpen(Changed):
    """Cannot be closed."""

    def close(self) -> None:
        """Do nothing."""


class MiscountsLate(Changed):
    """Counts no late posts."""

    def stats(self) -> Any:
        return replace(self.window.stats(), n_late=0)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (KeepsAll, "of posts that match each other exactly one is kept"),
        (NamesAnother, "every duplicate names a post that was kept before it"),
        (SortsItsBatches, "answers do not depend on how posts are sent"),
        (TakesNumbersForText, "a number and the same digits as text are two ids"),
        (ForgetsIds, "a number and the same digits as text are two ids"),
        (CountsLooks, "looking changes nothing"),
        (FindsTooMuch, "match returns no more than are asked for"),
        (GetsByDigits, "get returns None for an id that is not there"),
        (NeverForgets, "a kept post matches no more after the horizon"),
        (ForgetsAtOnce, "a kept post matches within the horizon"),
        (GoesByArrival, "a post without a time is refused where times count"),
        (DecidesTwice, "of equal posts that several threads send exactly one is kept|each post has its own position"),
        (TakesHalfABatch, "of a batch that is refused nothing is decided"),
        (StaysOpen, "a closed window takes no posts"),
        (MiscountsLate, "late posts are counted"),
    ],
)
def test_a_window_that_breaks_a_promise_fails_at_its_clause(broken: Callable[..., Any], clause: str) -> None:
    """Each promise is broken once."""
    with pytest.raises(ContractError, match=clause):
        check_window(lambda name, **options: broken(**options), lasts=False)  # noqa: ARG005


def test_a_window_that_does_not_last_is_found_out() -> None:
    """Where it is said to last."""
    with pytest.raises(ContractError, match="an opened window finds what it found before"):
        check_window(lambda name, **options: Window.open(None, **options))  # noqa: ARG005


def test_a_window_that_takes_any_recipe_is_found_out(tmp_path: Path) -> None:
    """Its fingerprints would not be comparable."""
    with ExitStack() as opened, pytest.raises(ContractError, match="fingerprints were made in another way is refused"):
        check_window(
            lambda name, **options: opened.enter_context(Window.open(tmp_path / name, **options | {"config": CONFIG}))
        )
