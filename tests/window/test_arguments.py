"""What a window is asked with: whatever it is, the answer is an answer or an error of hybriddup."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.errors import ConfigError, HybriddupError, InputError, PluginError, StoreError
from hybriddup.window import AnyWindow, Post, Window
from tests.window.reference_window import CONFIG

TEXT = "abcdefghijkl"
ODD: dict[str, Any] = {
    "None": None,
    "a list": [1],
    "an empty list": [],
    "a dict": {"a": 1},
    "a set": {1},
    "a tuple": (1,),
    "NaN": math.nan,
    "infinity": math.inf,
    "bytes": b"a",
    "negative": -1,
    "a half": 1.5,
    "True": True,
    "large": 10**30,
    "an object": object(),
    "a type": int,
    "a surrogate": "\ud800",
    "NUL": "a\0b",
    "long": "x" * 600,
    "empty": "",
    "a made id": "#1",
    "of NumPy": np.int64(3),
    "an array": np.array([1, 2]),
    "NaN of NumPy": np.float64("nan"),
}


@pytest.fixture(scope="module", params=["memory", "file", "read only"])
def window(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AnyWindow]:
    folder = None if request.param == "memory" else tmp_path_factory.mktemp("store")
    with Window.open(folder, CONFIG) as opened:
        opened.add({"id": "a", "text": TEXT})
        if request.param != "read only":
            yield opened
    if request.param == "read only":
        with Window.open(folder, CONFIG, read_only=True) as reader:
            yield reader


QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda window, odd: window.add(odd),
    "add a text": lambda window, odd: window.add({"text": odd}),
    "add an id": lambda window, odd: window.add({"text": TEXT, "id": odd}),
    "add a time": lambda window, odd: window.add({"text": TEXT, "created_at": odd}),
    "add a Post": lambda window, odd: window.add(Post(odd)),
    "add_many": lambda window, odd: window.add_many(odd),
    "add_many of it": lambda window, odd: window.add_many([odd]),
    "match": lambda window, odd: window.match(odd),
    "match with a limit": lambda window, odd: window.match(TEXT, limit=odd),
    "explain a text": lambda window, odd: window.explain(odd, "a"),
    "explain an id": lambda window, odd: window.explain(TEXT, odd),
    "get": lambda window, odd: window.get(odd),
    "posts with a limit": lambda window, odd: window.posts(odd),
    "posts after": lambda window, odd: window.posts(after=odd),
    "posts with a text": lambda window, odd: window.posts(text=odd),
    "posts of": lambda window, odd: window.posts(of=odd),
    "delete": lambda window, odd: window.delete(odd),
    "rewind": lambda window, odd: window.rewind(odd),
}


def ask(call: Callable[[], Any]) -> None:
    """Let a call answer, or raise an error of the family."""
    try:
        call()
    except HybriddupError as error:
        assert str(error)  # noqa: PT017  either is right


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_any_argument_has_an_answer_or_an_error_of_the_family(
    window: AnyWindow, question: Callable[[Any, Any], Any]
) -> None:
    for odd in ODD.values():
        ask(partial(question, window, odd))


OPTIONS = ("path", "config", "horizon", "time", "max_step", "workers", "plugins", "clock")


@pytest.mark.parametrize("option", OPTIONS)
def test_any_option_opens_a_window_or_is_an_error_of_the_family(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for odd in ODD.values():
        ask(lambda odd=odd: Window.open(**{"config": CONFIG, option: odd}).close())  # type: ignore[misc]
        if option == "clock":
            ask(lambda odd=odd: Window.open(config=CONFIG, clock=lambda: odd).add(TEXT))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda window: window.match(TEXT, limit=None), "limit must be a whole number of at least 0; got null"),
        (lambda window: window.match(None), "text must be a text; got null"),
        (lambda window: window.get([1]), r"an id is a text or a whole number; got \[1\]"),
        (lambda window: window.posts(1.5), r"limit must be a whole number of at least 1; got 1\.5"),
        (lambda window: window.posts(after="a"), "after must be a position"),
        (lambda window: window.add_many(7), "posts must be a list of posts; got one int"),
        (lambda window: window.add_many(Post(TEXT)), "posts must be a list of posts; got one Post"),
    ],
)
def test_the_error_says_what_was_given_and_what_is_allowed(
    request: pytest.FixtureRequest, window: AnyWindow, call: Callable[[Any], Any], message: str
) -> None:
    if "posts" in message and request.node.callspec.params["window"] == "read only":
        pytest.skip("a window that only looks takes no posts")
    with pytest.raises(InputError, match=message):
        call(window)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"path": 7}, ConfigError, "by the path of a directory, .* got 7"),
        ({"path": b"window"}, ConfigError, "by the path of a directory"),
        ({"path": "x" * 600}, StoreError, "File name too long"),
        ({"clock": 7}, ConfigError, "clock must be a function"),
        ({"plugins": None}, PluginError, "plugins must be a list of modules or of their names; got null"),
        ({"plugins": [7]}, PluginError, "plugins must be a list of modules or of their names; got 7"),
        ({"config": "x" * 600}, ConfigError, "File name too long"),
    ],
)
def test_an_option_of_a_wrong_type_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        Window.open(**options)


@pytest.mark.parametrize("nothing", [None, math.nan, np.float64("nan")])
def test_a_text_without_a_value_is_an_empty_one_as_in_a_run(nothing: Any) -> None:
    posts = [{"text": nothing}, {"text": TEXT}, {"text": nothing}]
    with Window.open(None, "weibo") as window:
        kept = [row for row, decision in enumerate(window.add_many(posts)) if decision.kept]
        assert [post.text for post in window.posts().posts] == ["", TEXT, ""]
    assert kept == hybriddup.dedupe(posts, config="weibo").kept


@pytest.mark.ordinary_user
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("what", ["the directory", "the one around it", "the file"])
def test_a_store_that_may_not_be_read_is_an_error_of_the_family(tmp_path: Path, what: str, read_only: bool) -> None:
    folder = tmp_path / "around" / "store"
    with Window.open(folder, CONFIG) as window:
        window.add(TEXT)
    closed = {"the directory": folder, "the one around it": folder.parent, "the file": folder / "posts.sqlite3"}[what]
    mode = closed.stat().st_mode
    closed.chmod(0)
    try:
        with pytest.raises(StoreError, match=r"store.*permissions"):
            Window.open(folder, CONFIG, read_only=read_only)
    finally:
        closed.chmod(mode)


@pytest.mark.ordinary_user
def test_a_window_whose_directory_is_closed_meanwhile_says_so_until_it_is_open(tmp_path: Path) -> None:
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add(TEXT)
        (tmp_path / "store").chmod(0)
        try:
            for call in (lambda: window.add("mnop"), lambda: window.get("#0"), window.stats, window.posts):
                with pytest.raises(StoreError, match="cannot be reached: Permission denied"):
                    call()
        finally:
            (tmp_path / "store").chmod(0o700)
        assert window.add("qrstuvwxyz").kept
