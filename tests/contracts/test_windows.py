"""The contract check of windows: one that breaks a promise fails at its clause."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from hybriddup.errors import StoreError, WindowError
from hybriddup.testing import ContractError, check_window
from hybriddup.testing.lasting_windows import check_lasting, check_second
from hybriddup.testing.window_posts import CONFIG, Windows
from hybriddup.window import Decision, Window


class Changed:
    """A window that does something else than it promises."""

    def __init__(self, **options: Any) -> None:
        self.window = Window.open(None, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.window, name)

    def __enter__(self) -> Changed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

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


class CountsDownwards(Changed):
    """Gives later posts smaller positions."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return [each._replace(position=-each.position) for each in super().add_many(posts)]


class ScoresTooLow(Changed):
    """Says of duplicates that they are none."""

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        decisions = super().add_many(posts)
        return [each._replace(evidence=each.evidence and each.evidence._replace(score=0.1)) for each in decisions]


class DeletesNothing(Changed):
    """Says that a post is gone, and leaves it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.gone: list[Any] = []

    def delete(self, post_id: Any) -> bool:
        """Say so once of each post."""
        was_there = self.get(post_id) is not None and repr(post_id) not in self.gone
        self.gone.append(repr(post_id))
        return was_there


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
    """Returns more than asked for."""

    def match(self, text: str, limit: int = 10) -> Any:
        return self.window.match(text, 4 * limit)


class FindsTheWorstFirst(Changed):
    """Returns the least similar first."""

    def match(self, text: str, limit: int = 10) -> Any:
        return self.window.match(text, limit)[::-1]


class GetsKeptPosts(Changed):
    """Knows nothing of duplicates."""

    def get(self, post_id: Any) -> Any:
        post = self.window.get(post_id)
        return post if post and post.kept else None


class ExplainsAnything(Changed):
    """Calls everything a repeat."""

    def explain(self, text: str, post_id: Any) -> Any:
        return replace(self.window.explain(text, post_id), matches=True)


class StripsTexts(Changed):
    """Cuts texts at NUL, as C does."""

    def get(self, post_id: Any) -> Any:
        post = self.window.get(post_id)
        return post and post._replace(text=post.text.partition("\0")[0])


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


class KeepsIds(Changed):
    """Forgets no id."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.seen: dict[Any, Any] = {}

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        decisions = super().add_many(posts)
        self.seen |= {each.id: self.window.get(each.id) for each in decisions}
        return decisions

    def get(self, post_id: Any) -> Any:
        return self.seen.get(post_id)

    def delete(self, post_id: Any) -> bool:
        self.seen.pop(post_id, None)
        return bool(self.window.delete(post_id))


class BelievesAnyTime(Changed):
    """Takes posts for as late as they say."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | ({"clock": lambda: 1e9} if options.get("time") == "event" else {}))


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


class AnswersWhenClosed(Changed):
    """Takes no posts when it is closed, and goes on answering."""

    def close(self) -> None:
        self.add_many = self.refuse  # type: ignore[method-assign]

    def refuse(self, posts: Any) -> Any:  # noqa: ARG002
        raise WindowError("the window is closed")


class MiscountsLate(Changed):
    """Counts no late posts."""

    def stats(self) -> Any:
        return replace(self.window.stats(), n_late=0)


class StaysAhead(Changed):
    """Says that its time was put back."""

    def rewind(self, to: float | None = None) -> float:  # noqa: ARG002
        return max(self.window.stats().seconds_ahead, 0.0)


class KnowsNoClock(Changed):
    """Does not look whether its time is ahead."""

    def stats(self) -> Any:
        return replace(self.window.stats(), seconds_ahead=0.0)


FIRST_IS_KEPT = "of posts that match each other the first is kept, and the others name it, however they are sent"


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (KeepsAll, FIRST_IS_KEPT),
        (NamesAnother, FIRST_IS_KEPT),
        (SortsItsBatches, FIRST_IS_KEPT),
        (CountsDownwards, "positions rise in the order of the posts"),
        (ScoresTooLow, "a duplicate has the position of its keeper, and a score that reaches the threshold"),
        (TakesNumbersForText, "a number and the same digits as text are two ids"),
        (ForgetsIds, "a number and the same digits as text are two ids"),
        (CountsLooks, "looking changes nothing"),
        (FindsTooMuch, "match returns as many as are asked for, where there are as many"),
        (FindsTheWorstFirst, "match returns the most similar posts first"),
        (GetsKeptPosts, "get returns the post of an id, kept or not"),
        (ExplainsAnything, "explain says what would be decided"),
        (StripsTexts, "get returns a text as it was sent"),
        (GetsByDigits, "get returns None for an id that is not there"),
        (DeletesNothing, "a post that was deleted is found no more"),
        (NeverForgets, "a kept post matches no more after the horizon"),
        (ForgetsAtOnce, "a kept post matches within the horizon"),
        (GoesByArrival, "a post without a time is refused where times count"),
        (KeepsIds, "posts and ids are forgotten some time after the horizon"),
        (BelievesAnyTime, "a time that is ahead of the clock counts as the clock's"),
        (StaysAhead, "rewind puts the time back, and says by how much"),
        (KnowsNoClock, "stats say by how much the time of a window is ahead of the clock"),
        (DecidesTwice, "sent at once exactly one is kept"),
        (TakesHalfABatch, "of a batch that is refused nothing is decided"),
        (StaysOpen, "a closed window takes no posts"),
        (AnswersWhenClosed, "a closed window answers nothing"),
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


class AnyRecipe:
    """Opens windows whatever their fingerprints are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, **options: Any) -> Any:
        return Window.open(self.folder / name, **options | {"config": CONFIG})


class WritesWhenClosed(AnyRecipe):
    """Has the posts on disk when the window is closed."""

    def __call__(self, name: str, **options: Any) -> Any:
        folder = self.folder / name
        if folder.exists() and options["config"] != CONFIG:
            raise WindowError("another recipe")
        return (
            Buffered(folder, options)
            if name == "vanished" and not folder.exists()
            else super().__call__(name, **options)
        )


class Buffered(Changed):
    """Keeps posts in memory until it is closed."""

    def __init__(self, folder: Path, options: Any) -> None:
        super().__init__(**options)
        self.folder, self.options, self.posts = folder, options, list[Any]()

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        self.posts += posts
        return super().add_many(posts)

    def close(self) -> None:
        """Write what came."""
        with Window.open(self.folder, **self.options) as window:
            window.add_many(self.posts)


class LooksAtACopy(AnyRecipe):
    """Sees what was there when it was opened."""

    def __call__(self, name: str, **options: Any) -> Any:
        if options["config"] != CONFIG:
            raise WindowError("another recipe")
        if not options.pop("read_only", False):
            return super().__call__(name, **options)
        copytree(self.folder / name, self.folder / "copy")
        return super().__call__("copy", **options, read_only=True)


class LooksAndTakes(LooksAtACopy):
    """Takes posts where it was asked to look only."""

    def __call__(self, name: str, **options: Any) -> Any:
        if not options.get("read_only"):
            return super().__call__(name, **options)
        reader = Window.open(self.folder / name, **options)
        reader.add = lambda post: Window.open(None, CONFIG).add(post)  # type: ignore[method-assign]
        return reader


class WritesElsewhere(AnyRecipe):
    """Gives a second writer a store of its own."""

    def __call__(self, name: str, **options: Any) -> Any:
        try:
            return super().__call__(name, **options)
        except StoreError:
            return Window.open(None, **options)


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (AnyRecipe, "a store whose fingerprints were made in another way is refused"),
        (WritesWhenClosed, "what was answered is there though its process did not close the window"),
        (LooksAtACopy, "a window that only looks sees what another one adds"),
        (LooksAndTakes, "a window that only looks takes no posts"),
    ],
)
def test_a_window_that_does_not_last_as_it_promises_fails_at_its_clause(
    broken: Callable[[Path], Any], clause: str, tmp_path: Path
) -> None:
    """Each promise is broken once."""
    with pytest.raises(ContractError, match=clause):
        with_windows(check_lasting, broken(tmp_path))


def test_a_second_writer_that_is_not_refused_is_found_out(tmp_path: Path) -> None:
    """Both would keep a post and its repeat."""
    with pytest.raises(ContractError, match="a second window that would write is refused"):
        with_windows(partial(check_second, shared=False), WritesElsewhere(tmp_path))


def with_windows(check: Callable[[Windows], None], open_window: Any) -> None:
    """Check one part of the contract."""
    with Windows(open_window) as windows:
        check(windows)


class OneForAll:
    """Opens windows that share what is in memory, by their names."""

    def __init__(self) -> None:
        self.windows: dict[str, Window] = {}

    def __call__(self, name: str, **options: Any) -> Any:
        window = self.windows.setdefault(name, Window.open(None, **options))
        return Handle(window)


class Handle(Changed):
    """One of the windows that share something."""

    def __init__(self, window: Any) -> None:
        self.window, self.shared = window, window

    def close(self) -> None:
        """Let go of what the others go on using."""
        self.window = Window.open(None, CONFIG)
        self.window.close()


def test_windows_that_share_a_store_keep_the_contract() -> None:
    """Of any of them."""
    check_window(OneForAll(), lasts=False, shared=True)
    with_windows(partial(check_second, shared=True), OneForAll())


def test_windows_that_are_said_to_share_a_store_and_do_not_are_found_out() -> None:
    """Each of them keeps a post."""
    alone: Any = lambda name, **options: Window.open(None, **options)  # noqa: ARG005, E731
    with pytest.raises(ContractError, match="windows that share a store decide as one does"):
        with_windows(partial(check_second, shared=True), alone)
    with pytest.raises(ContractError, match="sent at once exactly one is kept"):
        check_window(alone, lasts=False, shared=True)
