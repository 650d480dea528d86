"""What a live window does with posts that come again: copies that renew the kept post, and edits that replace it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.errors import UnsupportedError
from hybriddup.window import Decision, StoredPost, Window
from hybriddup.window.stores import sqlite_queries
from tests.shared_windows.plain_store import Opener

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

    def close(self) -> None:
        self._window.close()

    def add(self, day: float, name: str, text: str = FIRST) -> Decision:
        self.day = day
        return self.window.add({"id": name, "text": text})

    def found(self, name: str) -> StoredPost:
        post = self.window.get(name)
        assert post is not None
        return post


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
        one.close()


def test_a_text_that_is_repeated_daily_is_kept_once(days: Any) -> None:
    window = days(RENEW)
    kept = [window.add(day, f"day {day}", FIRST if day % 2 else NEARLY).duplicate_of for day in range(20, 29)]
    assert kept == [None, *["day 20"] * 8]
    window = days({"window": {"renew": False}})
    again = [window.add(day, f"day {day}").kept for day in range(40, 45)]
    assert again == [True, False, True, False, True]


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


def test_a_renewal_lasts_for_a_horizon(days: Any) -> None:
    window = days(RENEW)
    window.add(20, "a")
    window.add(21.5, "b")
    assert window.add(23.4, "c").duplicate_of == "a"
    assert window.add(25.5, "d").kept


def test_a_copy_that_comes_soon_does_not_renew(days: Any) -> None:
    """Within a sixteenth of the horizon, which is three hours."""
    window = days(RENEW)
    window.add(20, "a")
    window.add(20.1, "b")
    assert (window.found("a").position, window.found("a").time) == (0, 20 * DAY)
    assert window.add(22.05, "c").kept


def test_a_known_id_gets_its_answer_for_as_long_as_its_post_is_renewed(days: Any) -> None:
    window = days(RENEW)
    for day in range(20, 26):
        window.add(day, f"day {day}")
    again = window.add(25, "day 20", OTHER)
    assert (again.kept, again.repeated) == (True, True)


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
            post = reader.get("a")
            assert post is not None
            assert (post.n_copies, len(reader)) == (day - 20, 1)
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


def test_a_post_with_another_text_replaces_itself(days: Any) -> None:
    window = days(REPLACE)
    assert window.add(20, "a", FIRST).kept
    assert window.add(20, "copy", NEARLY).duplicate_of == "a"
    edited = window.add(20, "a", OTHER)
    assert (edited.kept, edited.repeated) == (True, False)
    assert (window.found("a").text, window.found("a").n_copies) == (OTHER, 0)
    assert window.found("copy").duplicate_of == "a"
    assert window.add(20, "b", FIRST).kept
    assert window.add(20, "c", OTHER).duplicate_of == "a"
    assert len(window.window) == 2


def test_a_post_does_not_repeat_its_own_earlier_text(days: Any) -> None:
    window = days(REPLACE)
    window.add(20, "a", FIRST)
    assert window.add(20, "a", NEARLY).kept
    assert window.add(20, "b", FIRST).duplicate_of == "a"


def test_a_duplicate_that_is_edited_is_a_copy_no_longer(days: Any) -> None:
    window = days(REPLACE)
    window.add(20, "a", FIRST)
    window.add(20, "b", NEARLY)
    assert window.found("a").n_copies == 1
    assert window.add(20, "b", OTHER).kept
    assert window.found("a").n_copies == 0
    assert window.add(20, "b", NEARLY).duplicate_of == "a"
    assert window.found("a").n_copies == 1


def test_the_same_text_gets_the_same_answer(days: Any) -> None:
    window = days(REPLACE)
    first, again = window.add(20, "a", FIRST), window.add(20, "a", FIRST)
    assert (again.position, again.kept, again.repeated) == (first.position, True, True)


def test_without_the_key_a_known_id_gets_the_same_answer(days: Any) -> None:
    window = days({})
    window.add(20, "a", FIRST)
    assert window.add(20, "a", OTHER).repeated
    assert window.found("a").text == FIRST


def test_edits_in_a_batch_are_those_of_single_posts(days: Any) -> None:
    window = days(BOTH)
    posts = [
        ("a", FIRST),
        ("b", NEARLY),
        ("a", OTHER),
        ("a", OTHER),
        ("b", OTHER),
        ("c", FIRST),
        ("a", FIRST),
        (1, OTHER),
    ]
    decisions = window.window.add_many([{"id": name, "text": text} for name, text in posts])
    assert [(one.id, one.duplicate_of, one.repeated) for one in decisions] == [
        ("a", None, False),
        ("b", "a", False),
        ("a", None, False),
        ("a", None, True),
        ("b", "a", False),
        ("c", None, False),
        ("a", "c", False),
        (1, None, False),
    ]


def test_a_renewed_post_is_replaced_as_a_whole(days: Any) -> None:
    window = days(BOTH)
    for day in (20, 21, 22):
        window.add(day, f"day {day}")
    assert window.add(22, "day 20", OTHER).kept
    assert window.add(22, "new", FIRST).kept
    assert {match.id for match in window.window.match(FIRST) if match.is_match} == {"new"}


@pytest.mark.parametrize("config", [RENEW, REPLACE])
def test_what_cannot_be_written_changes_nothing(
    days: Any, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    window = days(config)
    window.add(20, "a", FIRST)
    name, text = ("b", FIRST) if config is RENEW else ("a", OTHER)
    window.day, held = 21, window.window
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_queries, "write_state", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            held.add({"id": name, "text": text})
    assert (held.get("a").text, held.get("a").n_copies, held.get("a").position) == (FIRST, 0, 0)
    assert held.add({"id": "c", "text": NEARLY}).duplicate_of == "a"


@pytest.mark.parametrize(("config", "named"), [(RENEW, "window.renew"), (REPLACE, "window.on_same_id: replace")])
def test_shared_windows_refuse_what_they_cannot_do(config: dict[str, Any], named: str) -> None:
    with pytest.raises(UnsupportedError, match=f"has no {named}.* Leave these out, or use a window in a directory"):
        Opener()("shared", config=config)


def test_runs_take_no_notice() -> None:
    import hybriddup

    assert hybriddup.dedupe([FIRST, NEARLY], config=BOTH).kept == hybriddup.dedupe([FIRST, NEARLY]).kept
