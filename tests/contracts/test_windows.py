"""The contract check of windows: one that breaks a promise fails at its clause."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any, Self

import pytest

from hybriddup.errors import StoreError, WindowError
from hybriddup.testing import ContractError, check_window
from hybriddup.testing.window_posts import CONFIG, Windows
from hybriddup.testing.windows import check_lasting, check_second
from hybriddup.window import Decision, Match, Window


class Changed:
    """A window that does something else than it promises."""

    def __init__(self, **options: Any) -> None:
        self.window = Window.open(None, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.window, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, post: Any) -> Decision:
        return self.add_many([post])[0]

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        return self.window.add_many(posts)


class DeletesNothing(Changed):
    """Says that a post is gone, and leaves it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.gone: list[Any] = []

    def delete(self, post_id: Any) -> bool:
        was_there = self.get(post_id) is not None and repr(post_id) not in self.gone
        self.gone.append(repr(post_id))
        return was_there


class KeepsIds(Changed):
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


class DecidesTwice(Changed):
    """Has its threads decide by themselves."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.of_threads = [Window.open(None, **options) for _ in range(2)]

    def add(self, post: Any) -> Decision:
        number = threading.get_native_id() % 2
        is_main = threading.current_thread() is threading.main_thread()
        return (self.window if is_main else self.of_threads[number]).add(post)


class AnswersWhenClosed(Changed):
    """Takes no posts when it is closed, and goes on answering."""

    def close(self) -> None:
        self.add_many = self.refuse  # type: ignore[method-assign]

    def refuse(self, posts: Any) -> Any:  # noqa: ARG002
        raise WindowError("the window is closed")


def with_options(**changed: Any) -> Callable[..., Any]:
    """A window that is opened with other options than it was asked to."""
    return lambda **options: Window.open(None, **options | changed)


def having(name: str, does: Callable[..., Any]) -> Callable[..., Any]:
    """A window of which one method does something else, given the window as it is."""

    def open_window(**options: Any) -> Changed:
        changed = Changed(**options)
        setattr(changed, name, partial(does, changed.window))
        return changed

    return open_window


def deciding(change: Callable[[Decision], Decision]) -> Callable[..., Any]:
    """A window that changes its decisions."""
    return having("add_many", lambda window, posts: list(map(change, window.add_many(posts))))


def naming(**changed: Any) -> Callable[..., Any]:
    """A window that changes the evidence of its decisions."""
    return deciding(lambda each: replace(each, evidence=each.evidence and replace(each.evidence, **changed)))


def counting(**changed: Any) -> Callable[..., Any]:
    """A window that changes its counts."""
    return having("stats", lambda window: replace(window.stats(), **changed))


def add_with_text_ids(window: Window, posts: Sequence[Any]) -> list[Decision]:
    """Have one id for a number and its digits."""
    return window.add_many([post | {"id": str(post["id"])} if "id" in post else post for post in posts])


def add_what_is_matched(window: Window, text: str, limit: int = 10) -> Any:
    """Add what it is asked about."""
    found = window.match(text, limit)
    window.add(text + " and something that is new in every way")
    return found


def get_if_kept(window: Window, post_id: Any) -> Any:
    """Know nothing of duplicates."""
    post = window.get(post_id)
    return post if post and post.kept else None


def get_until_nul(window: Window, post_id: Any) -> Any:
    """Cut texts at NUL, as C does."""
    post = window.get(post_id)
    return post and post._replace(text=post.text.partition("\0")[0])


def get_with_time_of_clock(window: Window, post_id: Any) -> Any:
    """Have posts of the time that the clock shows, though it was later before."""
    post = window.get(post_id)
    return post and post._replace(time=post.time - window.stats().seconds_ahead)


def match_all(window: Window, text: str, limit: int = 10) -> list[Match]:
    """Take whatever is similar for a repeat."""
    return [replace(match, is_match=True) for match in window.match(text, limit)]


def believe_any_time(**options: Any) -> Window:
    """Take posts for as late as they say."""
    return Window.open(None, **options | ({"clock": lambda: 1e9} if options.get("time") == "event" else {}))


def stay_ahead(window: Window, to: float | None = None) -> float:
    """Say that the time was put back."""
    return max(window.stats().seconds_ahead, 0.0)


FIRST_IS_KEPT = "of matching posts the first is kept and the others name it, whatever the batch size"
TWO_IDS = "a number and the same digits as text are two ids"


BROKEN = [
    (deciding(lambda each: replace(each, decision="kept", evidence=None)), FIRST_IS_KEPT),
    (naming(duplicate_of="x"), FIRST_IS_KEPT),
    (having("add_many", lambda window, posts: window.add_many(posts[::-1])[::-1]), FIRST_IS_KEPT),
    (deciding(lambda each: replace(each, position=-each.position)), "positions rise in the order of the posts"),
    (naming(score=0.1), "a duplicate has the position of its keeper, and a score that reaches the threshold"),
    (having("add_many", add_with_text_ids), TWO_IDS),
    (deciding(lambda each: replace(each, repeated=False)), TWO_IDS),
    (having("match", add_what_is_matched), "queries change nothing"),
    (having("match", lambda window, text, limit=10: window.match(text, 4 * limit)), "match returns up to limit posts"),
    (
        having("match", lambda window, text, limit=10: window.match(text, limit)[::-1]),
        "match returns the most similar posts first",
    ),
    (having("get", get_if_kept), "get returns the post with an id, kept or not"),
    (
        having("explain", lambda window, text, of: replace(window.explain(text, of), matches=True)),
        "explain gives the verdict that deciding would give",
    ),
    (having("get", get_until_nul), "get returns a text as it was sent"),
    (having("get", lambda window, post_id: window.get(int(post_id))), "get returns None for an unknown id"),
    (DeletesNothing, "a deleted post is not found"),
    (with_options(horizon="300d"), "a kept post does not match after the horizon"),
    (with_options(horizon=500.0), "a kept post matches within the horizon"),
    (with_options(time="arrival"), "a post without a time is refused with event time"),
    (KeepsIds, "posts and ids are forgotten some time after the horizon"),
    (believe_any_time, "a time ahead of the clock counts as the time of the clock"),
    (having("rewind", stay_ahead), "rewind sets the time back, and returns by how much"),
    (counting(seconds_ahead=0.0), "stats give the time by which a window is ahead of the clock"),
    (DecidesTwice, "sent at once exactly one is kept"),
    (having("add_many", lambda window, posts: list(map(window.add, posts))), "a refused batch decides nothing"),
    (having("close", lambda window: None), "a closed window refuses posts"),  # noqa: ARG005
    (AnswersWhenClosed, "a closed window refuses queries"),
    (counting(n_late=0), "late posts are counted"),
    (counting(n_near=0), "stats count the decisions"),
    (counting(n_repeated_ids=0), "stats count repeated ids"),
    (having("match", match_all), "match marks the posts that would make the text a duplicate"),
    (
        having("delete", lambda window, post_id: window.delete(post_id) or True),
        "delete returns whether a post had the id",
    ),
    (
        having("posts", lambda window, *given, **asked: replace(window.posts(*given, **asked), after=None)),
        "posts lists posts newest first, without deleted ones, and returns where to continue",
    ),
    (
        having("posts", lambda window, limit=100, after=None, **_: window.posts(limit, after=after)),
        "posts filters by text, and by the post that is repeated",
    ),
    (having("get", get_with_time_of_clock), "the time of a window does not go back with its clock"),
]
"""Windows that break a promise, and the clause of each."""


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "clause"), BROKEN)
def test_a_window_that_breaks_a_promise_fails_at_its_clause(broken: Callable[..., Any], clause: str) -> None:
    with pytest.raises(ContractError, match=clause):
        check_window(lambda name, **options: broken(**options), lasts=False)  # noqa: ARG005


def test_a_window_that_does_not_last_is_found_out() -> None:
    with pytest.raises(ContractError, match="a reopened window finds the same matches"):
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
        if name == "vanished" and not folder.exists():
            return Buffered(folder, options)
        return super().__call__(name, **options)


class Buffered(Changed):
    """Keeps posts in memory until it is closed."""

    def __init__(self, folder: Path, options: Any) -> None:
        super().__init__(**options)
        self.folder, self.options, self.posts = folder, options, list[Any]()

    def add_many(self, posts: Sequence[Any]) -> list[Decision]:
        self.posts += posts
        return super().add_many(posts)

    def close(self) -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (AnyRecipe, "a store with another recipe is refused"),
        (WritesWhenClosed, "acknowledged posts survive a process that did not close the window"),
        (LooksAtACopy, "a read-only window sees posts that another window adds"),
        (LooksAndTakes, "a read-only window refuses posts"),
    ],
)
def test_a_window_that_does_not_last_as_it_promises_fails_at_its_clause(
    broken: Callable[[Path], Any], clause: str, tmp_path: Path
) -> None:
    with pytest.raises(ContractError, match=clause):
        with_windows(check_lasting, broken(tmp_path))


def test_a_second_writer_that_is_not_refused_is_found_out(tmp_path: Path) -> None:
    """Both would keep a post and its repeat."""
    with pytest.raises(ContractError, match="a second writing window is refused"):
        with_windows(partial(check_second, shared=False), WritesElsewhere(tmp_path))


def with_windows(check: Callable[[Windows], None], open_window: Any) -> None:
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
        self.window = Window.open(None, CONFIG)
        self.window.close()


def test_windows_that_share_a_store_keep_the_contract() -> None:
    check_window(OneForAll(), lasts=False, shared=True)
    with_windows(partial(check_second, shared=True), OneForAll())


def test_windows_that_are_said_to_share_a_store_and_do_not_are_found_out() -> None:
    alone: Any = lambda name, **options: Window.open(None, **options)  # noqa: ARG005, E731
    with pytest.raises(ContractError, match="windows that share a store decide like a single one"):
        with_windows(partial(check_second, shared=True), alone)
    with pytest.raises(ContractError, match="sent at once exactly one is kept"):
        check_window(alone, lasts=False, shared=True)
