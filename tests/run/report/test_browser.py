"""The report in headless Chromium: Playwright's Python package, and the system's chromium."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import regex

import hybriddup
from tests.pages import LOW_CONTRAST, MARKUP, opened
from tests.posts import load_sample

POSTS = load_sample("posts.jsonl")
SIZES = {"desktop": (1200, 900), "phone": (390, 844)}
VIEWS = [
    ("desktop", "light"),
    ("phone", "dark"),
    *(pytest.param(view, marks=pytest.mark.slow) for view in (("desktop", "dark"), ("phone", "light"))),
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on the samples, and on posts that try to be more than text."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    posts = [*POSTS, {"id": "<b>bold</b>", "text": MARKUP}, {"id": "again", "text": f"{MARKUP} !"}]
    hybriddup.dedupe(posts).report(path, times=[f"2026-11-{1 + row % 30:02}" for row in range(len(posts))])
    return path


@pytest.fixture(params=VIEWS, ids="-".join)
def page(request: pytest.FixtureRequest, browser: Any, report: Path) -> Iterator[Any]:
    """The report, opened; anything that it complains about, or asks for, fails the test."""
    size, scheme = request.param
    width, height = SIZES[size]
    with opened(browser, report.as_uri(), viewport={"width": width, "height": height}, color_scheme=scheme) as page:
        yield page


def test_report_fits_the_screen_and_can_be_read(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(LOW_CONTRAST) == []


def test_charts_have_bars_of_the_colors_of_their_legends(page: Any) -> None:
    assert page.locator("svg").count() == 4
    for chart in page.locator("svg").all():
        assert chart.locator(".series rect").count() > 1
        assert chart.locator(".axis.y text").first.inner_html() == "0"
    color = "(element, name) => getComputedStyle(element)[name]"
    legend = page.locator(".legend .near-repeats").first.evaluate(color, "backgroundColor")
    assert legend == page.locator(".series.near-repeats rect").first.evaluate(color, "fill")
    assert legend != page.locator(".legend .exact-repeats").first.evaluate(color, "backgroundColor")


def test_charts_can_be_read_by_programs_and_on_phones(page: Any) -> None:
    for name in ("Removed posts by length", "Posts by day", "Scores", "Distances"):
        assert page.get_by_role("img", name=name, exact=True).count() == 1
    for axis in page.locator("svg .axis.x").all():
        boxes = [text.bounding_box() for text in axis.locator("text").all()]
        assert all(box["height"] >= 9 for box in boxes)
        assert all(left["x"] + left["width"] < right["x"] for left, right in pairwise(boxes))


def test_pairs_are_found_by_their_words_and_ids(page: Any) -> None:
    everything = page.locator("#pairs > li").count()
    page.get_by_label("Search").fill("多云 杭州")
    shown = page.locator("#pairs > li:visible")
    assert 0 < shown.count() < everything
    assert page.locator("#found").inner_text() == f"{shown.count()} found"
    assert all({"杭州", "多云"} <= set(regex.findall("杭州|多云", one.text_content())) for one in shown.all())
    page.get_by_label("Search").fill("YORK WEATHER P011")
    assert shown.count() == 1
    page.get_by_label("Search").fill("no such words in any post")
    assert shown.count() == 0
    page.get_by_label("Search").fill("")
    page.get_by_label("Which").select_option("exact")
    assert 0 < shown.count() < everything
    assert {one.get_attribute("data-reason") for one in shown.all()} == {"exact"}


def test_markup_in_posts_is_text(page: Any) -> None:
    found = page.locator("#pairs > li", has_text="<b>bold</b>")
    assert MARKUP in found.locator(".post").last.text_content()
    assert found.locator("mark").text_content().strip() == "!"
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title().startswith("Repeated posts: ")


def test_settings_are_printed_though_they_are_folded(page: Any) -> None:
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("pre").is_visible()
    assert not page.locator("#search").is_visible()
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
