"""The time of a window: where posts get theirs, and what one wrong time can do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hybriddup.errors import ConfigError, InputError, WindowError
from hybriddup.window import Post, Window
from hybriddup.window.event_time import parse_length, parse_timing
from tests.window.reference_window import CONFIG

DAY = 86400.0
SEVENTY_YEARS = 70 * 365 * DAY
NOW = 1_700_000_000.0
TEXTS = [3 * (3 * letter + 2 * chr(ord(letter) + 30)) for letter in "abcde"]
"""None is similar to another."""


@pytest.fixture
def clock() -> list[float]:
    return [NOW]


@pytest.fixture
def open_window(tmp_path: Path, clock: list[float]) -> Callable[..., Window]:
    return lambda **options: Window.open(tmp_path / "store", CONFIG, workers=1, clock=lambda: clock[0], **options)


@pytest.mark.parametrize(("horizon", "seconds"), [("90s", 90), ("1.5h", 5400), ("2 D", 172_800), (7, 7), (0.5, 0.5)])
def test_horizon_is_read_in_seconds(horizon: str | float, seconds: float) -> None:
    assert parse_length("horizon", horizon) == seconds


@pytest.mark.parametrize("length", [10**400, 1e300, 0, -1, float("nan"), "", "2 weeks", "9" * 400 + "d", True])
@pytest.mark.parametrize("name", ["horizon", "max_step"])
def test_what_is_no_length_of_time_is_refused(name: str, length: Any) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be a length of time above 0") as caught:
        Window.open(None, CONFIG, **{name: length})
    assert len(str(caught.value)) < 200


def test_one_post_moves_the_watermark_by_a_step() -> None:
    """By event time each post; by arrival time each batch, which comes at one moment."""
    posts = [Post("a", 1, 500.0), Post("b", 2, 500.0), Post("c", 3, 130.0)]
    by_event = parse_timing("event", 100, 10, lambda: 0.0).of_posts(posts, 1000.0, 100.0)
    assert by_event.times.tolist() == [500.0, 500.0, 130.0]
    assert by_event.watermarks.tolist() == [110.0, 120.0, 130.0]
    by_arrival = parse_timing("arrival", 100, 10, lambda: 0.0).of_posts(posts, 1000.0, 100.0)
    assert by_arrival.times.tolist() == [1000.0] * 3
    assert by_arrival.watermarks.tolist() == [110.0] * 3


@pytest.mark.parametrize("now", [float("nan"), float("inf"), -1e300, 10**400])
def test_a_clock_that_does_not_say_the_time_is_refused(now: float) -> None:
    moment = [5.0]
    with Window.open(None, CONFIG, clock=lambda: moment[0]) as window:
        window.add("a post")
        moment[0] = now
        with pytest.raises(WindowError, match="the clock must return seconds since 1970"):
            window.add("another post")
        moment[0] = 6.0
        assert window.add("a post").evidence is not None
        assert window.stats().n_posts == 2


def test_a_clock_that_was_ahead_once_does_little(open_window: Callable[..., Window], clock: list[float]) -> None:
    with open_window() as window:
        window.add({"text": TEXTS[0], "id": "first"})
        clock[0] += SEVENTY_YEARS
        window.add(TEXTS[1])
    clock[0] = NOW + 60
    with open_window() as window:
        assert window.stats().seconds_ahead < 3600
        assert window.add(TEXTS[0]).evidence is not None
        assert window.add({"text": TEXTS[2], "id": "first"}).repeated
    with open_window() as window:
        window.add(TEXTS[3])
        clock[0] = NOW + 2.5 * DAY
        assert [window.add(text).decision for text in (TEXTS[0], TEXTS[3], TEXTS[3])] == ["kept", "kept", "duplicate"]
        clock[0] += 4 * DAY
        for _ in range(200):
            window.add(TEXTS[4])
        assert window.stats().n_kept_in_window == 1
        assert window.stats().n_expired == 5


@pytest.mark.parametrize("gap", [1 * DAY, 3 * DAY, 30 * DAY, 400 * DAY])
def test_after_a_pause_posts_are_decided_as_they_should_be(
    gap: float, open_window: Callable[..., Window], clock: list[float]
) -> None:
    with open_window() as window:
        window.add(TEXTS[0])
        clock[0] += gap
        decisions = [window.add(text).decision for text in (TEXTS[0], TEXTS[1], TEXTS[0], TEXTS[1])]
        assert decisions == ["duplicate" if gap <= 2 * DAY else "kept", "kept", "duplicate", "duplicate"]
        assert {match.time > NOW for match in window.match(TEXTS[0]) if match.is_match} == {gap > 2 * DAY}


def test_a_clock_that_was_ahead_for_long_is_put_right(
    open_window: Callable[..., Window], clock: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    with open_window(max_step="30000d") as window:
        window.add(TEXTS[0])
        clock[0] += SEVENTY_YEARS
        window.add_many(TEXTS[1:3])
        clock[0] = NOW + 60
        with caplog.at_level("WARNING", "hybriddup"):
            assert [window.add(text).decision for text in TEXTS[1:3]] == ["duplicate"] * 2
        assert len([record for record in caplog.records if "ahead of the clock" in record.message]) == 1
        assert window.stats().seconds_ahead == pytest.approx(SEVENTY_YEARS - 60)
        assert window.rewind() == pytest.approx(SEVENTY_YEARS - 60)
        assert (window.stats().seconds_ahead, window.rewind()) == (0.0, 0.0)
    with open_window() as window:
        assert window.stats().watermark == NOW + 60
        assert window.add(TEXTS[3]).decision == "kept"
        window.add(TEXTS[4])
        clock[0] = NOW + 60 + 5 * DAY
        for _ in range(200):
            window.add(TEXTS[4])
        assert [window.add(text).decision for text in TEXTS[1:4] * 2] == ["kept"] * 3 + ["duplicate"] * 3
        assert window.stats().n_kept_in_window == 4
        assert window.get("#5") is None


def test_a_post_that_reaches_farther_back_than_its_copy_repeats_the_copy() -> None:
    """The copy came too late for what both resemble, and was kept; the post was made before it and is not too late."""
    with Window.open(None, CONFIG, horizon=100, time="event", workers=1, clock=lambda: NOW) as window:
        window.add_many([Post("abcdefgx", "resembled", NOW - 100)])
        copies = [Post("abcdefgh", "copy", NOW), Post("abcdefgh", "earlier", NOW - 1), Post("abcdefgh", "other", NOW)]
        decisions = window.add_many(copies)
    assert [(at.id, at.evidence and at.evidence.duplicate_of) for at in decisions] == [
        ("copy", None),
        ("earlier", "copy"),
        ("other", "copy"),
    ]


@pytest.mark.parametrize("to", [float("nan"), 1e300, "now", True])
def test_a_window_is_not_put_back_to_what_is_no_time(to: object) -> None:
    with Window.open(None, CONFIG) as window, pytest.raises(InputError, match="`to` must be seconds since 1970"):
        window.rewind(to)  # type: ignore[arg-type]
