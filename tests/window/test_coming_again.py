"""What a live window does with posts that come again: copies that renew the kept post, and edits that replace it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import hybriddup
from hybriddup.window import Decision, StoredPost, Window
from hybriddup.window.stores import sqlite_queries

FIRST, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"
OTHER = "明天下雨吗，要不要带伞出门"
DAY = 86_400.0
RENEW: dict[str, Any] = {"window": {"renew": True}}
REPLACE: dict[str, Any] = {"window": {"on_same_id": "replace"}}
BOTH: dict[str, Any] = {"window": {"renew": True, "on_same_id": "replace"}}


class Days:
    """Opens windows of two days that count copies, by a clock set in days, and again before each question."""

    def __init__(self, path: Path | None, config: dict[str, Any], *, reopens: bool) -> None:
        self.day, self.path, self.config, self.reopens = 10.0, path, config, reopens
        self._window = self.open()

    def open(self, **options: Any) -> Window:
        clock: Callable[[], float] = lambda: self.day * DAY  # noqa: E731
        return Window.open(self.path, self.config, horizon="2d", max_step="9d", counts=True, clock=clock, **options)

    @property
    def window(self) -> Window:
        if self.reopens:
            self._window.close()
            self._window = self.open()
        return self._window

    def add(self, day: float, name: str, text: str = FIRST) -> Decision:
        self.day = day
        return self.window.add({"id": name, "text": text})

    def found(self, name: str) -> StoredPost | None:
        return self.window.get(name)


@pytest.fixture(params=["memory", "file", "file, reopened"])
def days(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Returns a window with a configuration, in memory or in a file."""
    opened: list[Days] = []

    def open_days(config: dict[str, Any]) -> Days:
        path = None if request.param == "memory" else tmp_path / str(len(opened))
        opened.append(Days(path, config, reopens=request.param == "file, reopened"))
        return opened[-1]

    yield open_days
    for one in opened:
        one.window.close()


Script = list[tuple[float, str | int, str, str | None]]
AGAIN = "the answer that it got before"
DAILY: Script = [
    (20, "a", FIRST, None),
    *((day, f"day {day}", FIRST if day % 2 else NEARLY, "a") for day in range(21, 29)),
]
SCRIPTS: dict[str, tuple[dict[str, Any], Script, dict[str | int, tuple[str, int]]]] = {
    "a text that is repeated daily is kept once": (RENEW, DAILY, {"a": (FIRST, 8)}),
    "without renewals it is kept every second day": (
        {"window": {"renew": False}},
        [
            (20, "a", FIRST, None),
            (21, "b", FIRST, "a"),
            (22, "c", FIRST, None),
            (23, "d", FIRST, "c"),
            (24, "e", FIRST, None),
        ],
        {"e": (FIRST, 0)},
    ),
    "a renewal lasts for a horizon": (
        RENEW,
        [(20, "a", FIRST, None), (21.5, "b", FIRST, "a"), (23.4, "c", FIRST, "a"), (25.5, "d", FIRST, None)],
        {"d": (FIRST, 0)},
    ),
    "a copy within a sixteenth of the horizon does not renew": (
        RENEW,
        [(20, "a", FIRST, None), (20.1, "b", FIRST, "a"), (22.05, "c", FIRST, None)],
        {"c": (FIRST, 0)},
    ),
    "a known id gets its answer for as long as its post is renewed": (
        RENEW,
        [*DAILY, (28, "a", OTHER, AGAIN)],
        {"a": (FIRST, 8)},
    ),
    "a known id gets the same answer": ({}, [(20, "a", FIRST, None), (20, "a", OTHER, AGAIN)], {"a": (FIRST, 0)}),
    "the same text gets the same answer": (
        REPLACE,
        [(20, "a", FIRST, None), (20, "a", FIRST, AGAIN)],
        {"a": (FIRST, 0)},
    ),
    "a post with another text replaces itself": (
        REPLACE,
        [
            (20, "a", FIRST, None),
            (20, "copy", NEARLY, "a"),
            (20, "a", OTHER, None),
            (20, "b", FIRST, None),
            (20, "c", OTHER, "a"),
        ],
        {"a": (OTHER, 1), "b": (FIRST, 0)},
    ),
    "a post does not repeat its own earlier text": (
        REPLACE,
        [(20, "a", FIRST, None), (20, "a", NEARLY, None), (20, "b", FIRST, "a")],
        {"a": (NEARLY, 1)},
    ),
    "a duplicate that is edited is a copy no longer": (
        REPLACE,
        [(20, "a", FIRST, None), (20, "b", NEARLY, "a"), (20, "b", OTHER, None)],
        {"a": (FIRST, 0), "b": (OTHER, 0)},
    ),
    "a post that is edited back is a copy again": (
        REPLACE,
        [(20, "a", FIRST, None), (20, "b", NEARLY, "a"), (20, "b", OTHER, None), (20, "b", NEARLY, "a")],
        {"a": (FIRST, 1)},
    ),
    "a renewed post is replaced as a whole": (
        BOTH,
        [*DAILY[:3], (22, "a", OTHER, None), (22, "new", FIRST, None)],
        {"a": (OTHER, 0), "new": (FIRST, 0)},
    ),
    "edits of kept posts and of duplicates": (
        BOTH,
        [
            *((20, "a", FIRST, None), (20, "b", NEARLY, "a"), (20, "a", OTHER, None), (20, "a", OTHER, AGAIN)),
            *((20, "b", OTHER, "a"), (20, "c", FIRST, None), (20, "a", FIRST, "c"), (20, 1, OTHER, None)),
        ],
        {"c": (FIRST, 1), 1: (OTHER, 0)},
    ),
}
"""A configuration, posts with what each repeats, and the kept posts that are left, with the copies of each."""


def outcomes(decisions: Iterable[Decision]) -> list[str | int | None]:
    return [AGAIN if one.repeated else one.duplicate_of for one in decisions]


@pytest.mark.parametrize(("config", "script", "kept"), SCRIPTS.values(), ids=SCRIPTS)
def test_posts_that_come_again_are_answered_as_the_settings_say(
    days: Any, config: dict[str, Any], script: Script, kept: dict[str | int, tuple[str, int]]
) -> None:
    window, expected = days(config), [answer for *_, answer in script]
    assert outcomes(window.add(*post) for *post, _ in script) == expected
    left = [post for post in window.window.posts().posts if post.kept and post.time > (window.day - 2) * DAY]
    assert {post.id: (post.text, post.n_copies) for post in left} == kept
    assert len(window.window) == len(kept)
    if script[0][0] == script[-1][0]:
        at_once = days(config).window.add_many([{"id": name, "text": text} for _, name, text, _ in script])
        assert outcomes(at_once) == expected


@pytest.mark.parametrize(
    ("config", "name", "text"), [({}, "b", FIRST), ({}, "b", OTHER), (RENEW, "b", FIRST), (REPLACE, "a", OTHER)]
)
def test_what_cannot_be_written_changes_nothing(
    days: Any, config: dict[str, Any], name: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = days(config)
    window.add(20, "a", FIRST)
    window.day, held = 21, window.window
    n_posts = held.stats().n_posts
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_queries, "write_state", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            held.add({"id": name, "text": text})
    assert len(held) == 1
    assert [(post.id, post.text, post.n_copies, post.position) for post in held.posts().posts] == [("a", FIRST, 0, 0)]
    assert held.stats().n_posts == n_posts
    assert not any(match.is_match for match in held.match(OTHER))
    assert held.add({"id": "c", "text": NEARLY}).duplicate_of == "a"
    assert len(held) == 1
    assert not held.add({"id": name, "text": text}).repeated


def test_runs_take_no_notice() -> None:
    assert hybriddup.dedupe([FIRST, NEARLY], config=BOTH).kept == hybriddup.dedupe([FIRST, NEARLY]).kept


def test_a_renewed_post_is_one_post(days: Any) -> None:
    window = days(RENEW)
    for day in range(20, 26):
        window.add(day, f"day {day}")
    post = window.found("day 20")
    assert (post.n_copies, post.first_seen, post.last_seen, post.time) == (5, 20 * DAY, 25 * DAY, 25 * DAY)
    assert [one.id for one in window.window.posts().posts] == ["day 20", "day 25", "day 24"]
    assert [match.id for match in window.window.match(NEARLY)] == ["day 20"]
    assert len(window.window) == window.window.stats().n_kept_in_window == 1
    assert window.window.explain(NEARLY, "day 20").matches


def test_a_renewed_post_is_deleted_as_a_whole(days: Any) -> None:
    window = days(RENEW)
    for day in (20, 21, 22):
        window.add(day, f"day {day}")
    assert window.window.delete("day 20")
    assert window.window.get("day 20") is None
    assert window.window.match(FIRST) == []
    assert window.add(22, "new").kept


def test_a_copy_that_is_deleted_is_taken_off_the_renewed_post(days: Any) -> None:
    window = days(RENEW)
    for day in (20, 21, 22, 22.5):
        window.add(day, f"day {day}")
    window.window.delete("day 21")
    assert window.found("day 20").n_copies == 2


def test_a_reader_follows_renewals(tmp_path: Path) -> None:
    writer = Days(tmp_path, RENEW, reopens=False)
    writer.add(20, "a")
    with writer.open(read_only=True) as reader:
        for day in range(21, 26):
            writer.add(day, f"day {day}")
            assert [match.id for match in reader.match(NEARLY)] == ["a"]
            assert (reader.get("a").n_copies, len(reader)) == (day - 20, 1)
    writer.window.close()


@pytest.mark.parametrize("config", [RENEW, BOTH])
@pytest.mark.parametrize("batch", [3, 50])
def test_batches_decide_by_event_time_as_single_posts_do(config: dict[str, Any], batch: int) -> None:
    rng = Random(5)  # noqa: S311
    texts = [FIRST, NEARLY, OTHER, "good night, everybody out there", "the last bus left at nine"]
    times = [DAY * (20 + number / 4 - rng.choice([0, 0, 1])) for number in range(100)]
    posts = [
        {"id": number - (number % 3 == 2), "text": rng.choice(texts), "created_at": time}
        for number, time in enumerate(times)
    ]
    outcomes = []
    for size, settings in ((1, config), (batch, config), (batch, {})):
        with Window.open(None, settings, time="event", horizon="2d", max_step="9d", clock=lambda: 99 * DAY) as window:
            decided = [window.add_many(posts[start : start + size]) for start in range(0, 100, size)]
            outcomes.append([(one.id, one.duplicate_of, one.repeated) for some in decided for one in some])
    assert outcomes[0] == outcomes[1]
    n_kept = [sum(of is None for _, of, repeated in some if not repeated) for some in outcomes]
    assert n_kept[1] < n_kept[2]
