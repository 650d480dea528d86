"""The report of a run: what it holds, its bars by day, that posts are text in it, and that it is the same each time."""

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import regex

import hybriddup
from hybriddup.errors import HybriddupError, InputError, OutputError
from hybriddup.run.report.contents import days_of, evenly_by_score
from hybriddup.run.result import Result
from tests.posts import load_sample

POSTS = load_sample("posts.jsonl")
TIMES = [f"2026-11-{1 + row % 30:02}" for row in range(len(POSTS))]
PAIR = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]


def page_of(result: Result, **options: Any) -> str:
    target = BytesIO()
    result.report(target, **options)
    return target.getvalue().decode()


def bars_by_day(page: str) -> list[str]:
    chart = regex.search("<title>Posts by day</title>(.*?)</svg>", page, flags=regex.DOTALL)
    return list(regex.findall("<title>(.*?)</title>", chart[1]))


@pytest.fixture(scope="module")
def page() -> str:
    return page_of(hybriddup.dedupe(POSTS), times=TIMES)


def test_report_shows_counts_charts_pairs_and_settings(page: str) -> None:
    for words in ("382", "near repeats", "Removed posts by length", "Posts by day", "Scores", "Distances"):
        assert words in page
    assert page.count("<svg") == 4
    assert 'class="post" dir="auto">【天气】杭州今天多云转小雨，' in page
    assert "Nearest misses" in page
    assert "use: post" in page
    assert hybriddup.dedupe(POSTS).summary.recipe_id in page


def test_report_is_the_same_for_the_same_posts(page: str, tmp_path: Path) -> None:
    again = hybriddup.dedupe(POSTS, workers=1)
    again.report(tmp_path / "report.html", times=TIMES)
    assert (tmp_path / "report.html").read_text("utf-8") == page == page_of(again, times=TIMES)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_report_asks_for_nothing_else(page: str) -> None:
    without_posts = regex.sub(r"<(p|td|pre|code)\b[^>]*>.*?</\1>", "", page, flags=regex.DOTALL)
    assert regex.findall(r"https?://[^\"'\s<]+", without_posts) == []
    assert not regex.search(r"<(?:link|img|script)[^>]+(?:src|href)=\"(?!data:,)", page)


HOSTILE = (
    "</p></style><script>document.title='owned'</script><img src=x onerror=alert(1)>{{ 1234 * 4321 }}{% raw %}&lt;\"'"
)


@pytest.mark.parametrize("extra", ["", "\u202e\u0000\u001b[31m\ud800", "啊" * 700])
def test_what_posts_hold_is_text_in_the_report(extra: str) -> None:
    posts = [{"id": f"{HOSTILE}{row}", "text": f"{HOSTILE} {extra} number {row}"} for row in range(3)]
    config = {"must_agree": [], "lengths": [{"verifier": {"use": "edit", "threshold": 0.9}}]}
    result = hybriddup.dedupe(posts, config=config)
    result.summary.config = HOSTILE
    result.summary.notes.append(HOSTILE)
    page = page_of(result)
    assert len(result.removed) == 2
    assert page.count("<script>") == 1
    assert "<img" not in page
    assert "5332114" not in page
    assert "</p></style>" not in page


@pytest.mark.parametrize(
    "posts", [[], ["one post alone"], ["", ""], ["ab", "ab"]], ids=["none", "one", "without text", "exact only"]
)
def test_report_of_little_is_a_page_too(posts: list[str]) -> None:
    page = page_of(hybriddup.dedupe(posts))
    assert f"{len(posts)} removed" in page or "of " in page
    assert "Nearest misses" in page
    assert page.count("<svg") == int(posts == ["ab", "ab"])


def test_differences_are_marked_and_misses_shown() -> None:
    page = page_of(hybriddup.dedupe(PAIR))
    assert "你妈妈<mark>叫</mark>你回家吃饭<mark>啦</mark>，回家罗回家罗" in page
    config = {"lengths": [{"verifier": {"use": "edit", "threshold": 0.9}}]}
    page = page_of(hybriddup.dedupe(PAIR, config=config))
    assert "edit score 0.8750, threshold 0.9" in page
    assert "你妈妈<mark>叫</mark>你" in page


def test_clusters_show_their_most_frequent_texts_once() -> None:
    texts = [PAIR[0], *[PAIR[1]] * 3, *[f"{PAIR[0]}{mark}" for mark in "!?"], PAIR[0]]
    page = page_of(hybriddup.dedupe(texts))
    assert "<strong>6 removed</strong> for row 0" in page
    assert "3 times" in page
    assert "1 more, the same text or others" in page


@pytest.mark.parametrize("against", [[], ["good morning", "nothing like it", "see you at lunch"]])
def test_times_may_be_a_column_of_a_data_frame(against: list[str]) -> None:
    times = pd.Series(pd.to_datetime(["2026-11-23", "2026-11-24"]), index=[1, 0])
    page = page_of(hybriddup.dedupe(PAIR, against=against), times=times)
    assert bars_by_day(page) == ["2026-11-23: 1 kept", "2026-11-24: 1 near repeats"]


def test_times_are_as_many_as_rows() -> None:
    """Otherwise it is not known whose they are."""
    with pytest.raises(InputError, match="times must have one entry per row, 2; got 1"):
        hybriddup.dedupe(PAIR).report(BytesIO(), times=["2026-11-24"])


def test_posts_that_were_left_out_are_not_counted_as_kept() -> None:
    result = hybriddup.dedupe([*PAIR, "", ""], config={"without_text": "drop"})
    page = page_of(result, times=["2026-11-24"] * 4)
    assert [bar.removeprefix("2026-11-24: ") for bar in bars_by_day(page)] == ["1 kept", "1 near repeats", "2 left out"]


def test_lengths_and_times_are_of_the_right_posts_after_one_that_is_dropped() -> None:
    texts = ["", PAIR[0], f"{PAIR[0]}!!"]
    result = hybriddup.dedupe(texts, config={"without_text": "drop"})
    page = page_of(result, times=["2026-11-24", "2026-11-25", "2026-11-26"])
    assert f"{len(texts[2])}: 1 near repeats" in page
    assert "first seen 2026-11-25 · last seen 2026-11-26" in page


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr("hybriddup.run.report.page.find_spec", lambda name: None if name == "jinja2" else real(name))
    message = r"a report needs jinja2, which is not installed; run: pip install 'hybriddup\[report\]'"
    with pytest.raises(HybriddupError, match=message):
        hybriddup.dedupe(PAIR).report(BytesIO())


def test_report_is_the_same_if_lxml_is_loaded(tmp_path: Path) -> None:
    program = "import sys, lxml.etree, hybriddup; finders = list(sys.meta_path)\n"
    program += f"hybriddup.dedupe({PAIR!r}).report(sys.argv[1]); assert sys.meta_path == finders"
    target = tmp_path / "report.html"
    subprocess.run([sys.executable, "-c", program, target], check=True)
    assert target.read_text("utf-8") == page_of(hybriddup.dedupe(PAIR))


def test_unwritable_reports_leave_what_was_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        hybriddup.dedupe(PAIR).report(tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_samples_come_from_all_scores() -> None:
    """Though nearly all are alike; by rising score, and never more than asked for."""
    rare = np.linspace(0.5, 0.9, 9)
    scores = np.concatenate([np.full(1000, 0.99), rare])
    chosen = scores[evenly_by_score(scores, 40)]
    assert len(chosen) == 40
    assert (np.diff(chosen) >= 0).all()
    assert set(rare) <= set(chosen)
    assert evenly_by_score(scores[:3], 40).tolist() == [0, 1, 2]
    assert len(evenly_by_score(scores[:1000], 40)) == 40


def test_notebooks_show_counts_and_removed_posts_with_differences() -> None:
    """As HTML without styles, in which posts are text."""
    shown = hybriddup.dedupe([*PAIR, "<b>bold</b> statement", "<b>bold</b> statement!"])._repr_html_()
    assert shown.startswith("<p>Result: kept 2 of 4, removed 2 (0 exact, 2 near)</p><table>")
    assert "你妈妈<mark>叫</mark>你回家吃饭<mark>啦</mark>，" in shown
    assert "&lt;b&gt;bold&lt;/b&gt; statement<mark>!</mark>" in shown
    assert "<table>" not in hybriddup.dedupe(["a"])._repr_html_()


def test_notebooks_show_explanations_with_differences() -> None:
    shown = hybriddup.explain(*PAIR)._repr_html_()
    assert shown.startswith("<p>B repeats A if a run compares the two: the post score 0.7106")
    assert "你妈妈<mark>喊</mark>你" in shown
    assert "bits differ, at most 40" in shown


NAMES = ("kept", "removed")


def days(times: list[Any], groups: list[int]) -> Any:
    """What the bars of posts with these times show."""
    return days_of(times, np.array(groups), NAMES)


@pytest.mark.parametrize(
    "time",
    [
        date(2026, 11, 24),
        datetime(2026, 11, 24, 23, 59, tzinfo=timezone(timedelta(hours=8))),
        pd.Timestamp("2026-11-24 12:00"),
        np.datetime64("2026-11-24T12:00"),
        datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp(),
        int(datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp() * 1000),
        str(int(datetime(2026, 11, 24, 12, tzinfo=UTC).timestamp())),
        "2026-11-24",
        " 2026-11-24 08:00",
        "2026-11-24T23:59:00+08:00",
        "Tue Nov 24 23:59:00 +0800 2026",
    ],
    ids=repr,
)
def test_times_of_any_form_have_their_day(time: Any) -> None:
    """As text has it, in whatever zone; numbers by UTC."""
    found = days([time], [1])
    assert (found.unit, found.names, found.counts) == ("day", ["2026-11-24"], {"kept": [0], "removed": [1]})


@pytest.mark.parametrize(
    "time", [None, "", "soon", "2026-02-30", float("nan"), pd.NaT, True, [], 10**30, "1e400", pd.NA]
)
def test_what_is_no_time_is_counted_apart(time: Any) -> None:
    assert days_of([time], np.array([0]), NAMES) is None
    found = days([time, "2026-11-24"], [0, 0])
    assert (found.names, found.n_without) == (["2026-11-24"], 1)


def test_days_without_posts_have_a_bar_too() -> None:
    """So that distances in time are seen."""
    found = days(["2026-11-24", "2026-11-22"], [1, 0])
    assert found.names == ["2026-11-22", "2026-11-23", "2026-11-24"]
    assert found.counts == {"kept": [1, 0, 0], "removed": [0, 0, 1]}


@pytest.mark.parametrize(
    ("times", "unit", "n"),
    [
        (["2026-01-01", "2026-03-03"], "day", 62),
        (["2026-01-01", "2026-03-04"], "month", 3),
        (["2020-01-01", "2025-02-28"], "month", 62),
        (["2020-01-01", "2025-03-01"], "year", 6),
        (["0001-01-01", "2026-11-24"], "year", 2),
    ],
)
def test_many_days_are_counted_by_month_or_year(times: list[str], unit: str, n: int) -> None:
    """There are never more than 62 bars, but for years that have posts."""
    found = days(times, [0, 0])
    assert (found.unit, len(found.names), sum(found.counts["kept"])) == (unit, n, 2)


def test_the_head_names_what_was_deduplicated_and_what_was_found() -> None:
    """The posts, their dates, the configuration and the estimated recall, with links to each part."""
    posts = [
        f"{text} number {chr(97 + n)}" for text in ("the early train was late", "what is for lunch") for n in range(9)
    ]
    times = [f"2026-01-{n + 1:02}" for n in range(18)]
    page = page_of(hybriddup.dedupe(posts), times=times, name="posts.jsonl")
    assert "hybriddup · posts.jsonl · 2026-01-01 to 2026-01-18 · configuration posts" in page
    links = regex.findall(r'<a href="#([\w-]+)"', page)
    assert links == ["counts-heading", "clusters-heading", "pairs-heading", "misses-heading", "run-heading"]
    assert all(f'id="{link}"' in page for link in links)
    assert "hybriddup explain --config posts -- &#39;" in page
