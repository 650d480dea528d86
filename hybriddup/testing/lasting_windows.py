"""Contract check for durable windows: reopening, also after a crash, and opening by several processes at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hybriddup.errors import StoreError, WindowError
from hybriddup.testing.contract import require, require_error
from hybriddup.testing.window_posts import (
    CONFIG,
    HORIZON,
    Opens,
    Windows,
    comparable,
    distinct_texts,
    nearly,
    posts_with_repeats,
    right_answers,
)
from hybriddup.window import Window

GONE = "a post that is deleted"
OTHER_RECIPE = CONFIG | {"tokenizer": {"use": "words"}}


def check_lasting(windows: Windows) -> None:
    """Check that posts survive reopening and a crash, and that read-only windows see all posts."""
    _check_reopening(windows)
    _check_vanished(windows)
    _check_reading(windows)


def check_second(windows: Windows, *, shared: bool) -> None:
    """Check that, while a window is open, a second one can be opened for writing exactly if ``shared``."""
    if shared:
        _check_sharing(windows)
    else:
        _check_second_writer(windows)


def _check_reopening(windows: Windows) -> None:
    posts, opened = posts_with_repeats(20), partial(windows, "reopening")
    window = opened()
    answers, found, recipe_id = (
        comparable(window.add_many(posts)),
        window.match(posts[0]["text"]),
        window.stats().recipe_id,
    )
    window.close()
    window = opened()
    require(window.match(posts[0]["text"]) == found, "a reopened window finds the same matches", found)
    require(window.stats().recipe_id == recipe_id, "a reopened window has the same recipe", recipe_id)
    window.close()
    clause = "a store with another recipe is refused"
    require_error(WindowError, lambda: opened(config=OTHER_RECIPE), clause)
    window = opened()
    _check_known(window, posts, answers)
    window.close()


def _check_known(window: Window, posts: list[dict[str, Any]], answers: list[object]) -> None:
    """Check that a window contains the posts of an earlier session, and finds repeats of these posts."""
    again = window.add_many(posts)
    clause = "a reopened window answers repeated ids with the first decision"
    require(comparable(again) == answers and all(each.repeated for each in again), clause, again[:5])
    require(not window.add(posts[0]["text"]).kept, "posts still match after a window is reopened", posts[0])


def _add_and_vanish(posts: list[dict[str, Any]], open_window: Opens) -> list[object]:
    window = open_window("vanished", config=CONFIG, horizon=HORIZON)
    answers = comparable(window.add_many([{"id": GONE, "text": GONE}, *posts]))[1:]
    window.delete(GONE)
    return answers


def _check_vanished(windows: Windows) -> None:
    """Check that posts and deletions by another process survive if that process ends without closing the window."""
    posts = posts_with_repeats(20)
    answers = windows.elsewhere(partial(_add_and_vanish, posts))
    window = windows("vanished")
    clause = "acknowledged posts survive a process that did not close the window"
    require(all(window.get(post["id"]) is not None for post in posts), clause, window.stats())
    clause = "deletions survive a process that did not close the window"
    require(window.get(GONE) is None and window.add(GONE).kept, clause, window.get(GONE))
    _check_known(window, posts, answers)
    window.close()


def _check_reading(windows: Windows) -> None:
    texts, opened = distinct_texts(3), partial(windows, "reading")
    window = opened()
    window.add({"id": 0, "text": texts[0]})
    reader = opened(read_only=True)
    window.add_many([{"id": 1, "text": texts[1]}, {"id": 2, "text": nearly(texts[0])}])
    clause = "a read-only window sees posts that another window adds"
    queries: tuple[Callable[[Window], object], ...] = (
        lambda one: one.match(nearly(texts[1])),
        lambda one: one.get(2),
        lambda one: one.explain(texts[0], 0),
    )
    for query in queries:
        require(query(reader) == query(window), clause, query(reader))
    require(reader.stats().n_kept_in_window == 2, clause, reader.stats())
    window.delete(1)
    clause = "a read-only window sees deletions by another window"
    require(reader.get(1) is None and reader.match(nearly(texts[1])) == window.match(nearly(texts[1])), clause, 1)
    require_error(WindowError, lambda: reader.delete(2), "a read-only window refuses to delete")
    require_error(WindowError, lambda: reader.add(texts[2]), "a read-only window refuses posts")
    reader.close()
    require(window.add(texts[2]).kept, "a read-only window leaves no trace", texts[2])
    window.close()


def _check_second_writer(windows: Windows) -> None:
    opened = partial(windows, "second")
    window = opened()
    require_error(StoreError, opened, "a second writing window is refused")
    require(window.add("text").kept, "a window still works after a second one was refused", window.stats())
    window.close()


def _check_sharing(windows: Windows) -> None:
    posts = posts_with_repeats(20)
    opened = partial(windows, "sharing")
    both = [opened(), opened()]
    decided = [both[place % 2].add(post) for place, post in enumerate(posts)]
    clause = "windows that share a store decide like a single one"
    require(comparable(decided) == right_answers(posts), clause, comparable(decided))
    for window in both:
        _check_known(window, posts, comparable(decided))
        clause = "windows that share a store find the posts that any of them kept"
        require(window.match(posts[0]["text"]) == both[0].match(posts[0]["text"]), clause, posts[0])
    for window in both:
        window.close()
