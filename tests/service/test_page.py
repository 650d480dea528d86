"""The page for people, in headless Chromium: Playwright's Python package, and the system's chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hybriddup.files.inputs import ReadOptions
from hybriddup.files.pairs import PairFields, read_pairs
from hybriddup.plugin.manager import create_plugin_manager
from tests.pages import LOW_CONTRAST, MARKUP, opened
from tests.service.support import NEARLY, OTHER, REPEATED, Served, serving

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")

ARABIC = "صباح الخير يا أصدقاء، كيف حالكم اليوم في هذا الطقس الجميل"
TOKEN = "0123456789abcdef"  # noqa: S105  of this test alone


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    posts = [
        {"id": "a", "text": REPEATED},
        {"id": "b", "text": NEARLY},
        {"id": 9007199254740993, "text": OTHER},
        {"id": "<b>bold</b>", "text": MARKUP},
        {"id": "arabic", "text": ARABIC},
        {"id": "again", "text": REPEATED},
    ]
    with serving(tmp_path_factory.mktemp("page") / "window", "--counts") as running:
        httpx.post(f"{running.address}/v1/posts", json=posts).raise_for_status()
        yield running


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """The page, opened; anything that it complains about, or asks elsewhere, fails the test."""
    with opened(browser, served.address, "data:", viewport={"width": 1000, "height": 900}, locale="en-GB") as page:
        yield page


def find(page: Any, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Find matches").click()
    page.locator("#find-status").filter(has_text="kept post").wait_for()


def explain(page: Any, text: str, which: str = " “a”") -> None:
    find(page, text)
    page.get_by_role("button", name=f"Explain match{which}").first.click()
    page.locator("#explanation").wait_for()


def test_a_text_is_found_and_explained(page: Any) -> None:
    explain(page, NEARLY)
    assert page.locator("#find-status").inner_text().startswith("Repeats 1 kept post")
    assert REPEATED in page.locator("#matches li").first.inner_text()
    assert page.locator("#verdict").inner_text().startswith("Your text repeats the kept post: the post score 0.7106")
    steps = page.locator("#steps").inner_text()
    assert REPEATED in steps
    assert NEARLY in steps
    assert page.locator("#steps .token.only").count() > 0


def test_markup_in_a_post_is_text(page: Any) -> None:
    explain(page, MARKUP, "")
    assert MARKUP in page.locator("#matches .post").first.inner_text()
    assert page.locator("main img, main script, main b").count() == 0
    assert page.title() == "hybriddup"


def test_text_from_right_to_left_stands_so(page: Any) -> None:
    find(page, ARABIC)
    direction = "element => getComputedStyle(element).direction"
    assert page.locator("#text").evaluate(direction) == "rtl"
    assert page.locator("#matches .post").first.evaluate(direction) == "rtl"
    assert page.locator("#matches .facts").first.evaluate(direction) == "ltr"


def test_large_numbers_are_explained_by_their_own_id(page: Any) -> None:
    """Though a browser's numbers end at 2**53."""
    explain(page, OTHER, " number 9007199254740993")
    assert "equal" in page.locator("#verdict").inner_text()


def test_counters_and_chart_follow_what_is_decided(page: Any, served: Served) -> None:
    counter = page.locator("#counts div", has=page.get_by_text("posts decided", exact=True)).locator("dd")
    counter.wait_for()
    before = int(counter.inner_text())
    httpx.post(f"{served.address}/v1/posts", json=[{"text": OTHER}] * 5).raise_for_status()
    playwright.expect(counter).to_have_text(str(before + 5), timeout=15_000)
    assert page.locator("#chart rect").count() >= 1
    assert page.locator("#chart-summary").inner_text().startswith(f"{before + 5} decisions")


def test_the_keyboard_is_enough(page: Any) -> None:
    page.locator("#counts dd").first.wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type(REPEATED)
    page.keyboard.press("Control+Enter")
    page.locator("#matches li").first.wait_for()
    page.get_by_role("button", name="Explain match “a”").focus()
    page.keyboard.press("Enter")
    page.locator("#explanation").wait_for()
    assert page.evaluate("document.activeElement.id") == "explanation"


def test_every_control_has_a_name_and_text_enough_contrast(page: Any) -> None:
    explain(page, NEARLY)
    for control in page.locator("button, input, textarea").all():
        assert control.evaluate("e => (e.labels && e.labels.length) || e.getAttribute('aria-label') || e.innerText")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(LOW_CONTRAST) == []


def test_a_narrow_screen_can_be_read(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    page.reload()
    explain(page, NEARLY)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    lines = "e => e.clientHeight / parseFloat(getComputedStyle(e).lineHeight)"
    assert all(name.evaluate(lines) < 2.5 for name in page.locator("#steps tbody th").all())
    assert all(text.evaluate("e => e.clientWidth") > 250 for text in page.locator("#steps td").all())
    assert page.locator("#steps mark").all_inner_texts()[:4] == ["喊", "哦", "叫", "啦"]
    page.locator("#chart text").first.wait_for()
    scale = page.evaluate("document.querySelector('#chart').getScreenCTM().a")
    assert 12 * scale >= 11.9


def test_posts_are_searched_and_deleted(page: Any, served: Served) -> None:
    text = "this one was sent by mistake, sorry"
    httpx.post(f"{served.address}/v1/posts", json=[{"id": "x&y", "text": text}, {"id": 5, "text": f"{text}!"}])
    page.get_by_label("Words in the text").fill("BY MISTAKE")
    page.get_by_role("button", name="Search", exact=True).click()
    playwright.expect(page.locator("#search-status")).to_have_text("2 posts.")
    playwright.expect(page.locator("#found .facts").last).to_contain_text("1 copy, first seen")
    page.get_by_role("button", name="What repeats it: post “x&y”").click()
    playwright.expect(page.locator("#search-status")).to_have_text("1 post that repeats x&y.")
    assert page.locator("#found .post").all_inner_texts() == [f"{text}!", text]
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete: post number 5").click()
    playwright.expect(page.locator("#search-status")).to_have_text("Post number 5 is deleted.")
    assert httpx.get(f"{served.address}/v1/posts/5?type=int").status_code == 404
    page.get_by_role("button", name="Search", exact=True).click()
    playwright.expect(page.locator("#search-status")).to_have_text("1 post.")


def test_what_requests_there_are_is_told_without_a_network(page: Any, served: Served) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    page.get_by_role("link", name="HTTP service").click()
    page.locator("#types section").first.wait_for()
    schema = httpx.get(f"{served.address}/openapi.json").json()
    told = page.locator("#requests h2").all_inner_texts()
    assert told == [f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods]
    assert page.locator("#types h2").all_inner_texts() == list(schema["components"]["schemas"])
    assert page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].every((a) => document.querySelector(a.hash))"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(LOW_CONTRAST) == []


def test_the_latest_decisions_come_by_themselves(page: Any, served: Served) -> None:
    text = "你妈妈叫你回家吃饭咯，回家罗回家罗"
    httpx.post(f"{served.address}/v1/posts", json=[{"text": text}]).raise_for_status()
    newest = page.locator("#latest li").first
    playwright.expect(newest).to_contain_text("near repeat of “a”", timeout=15_000)
    assert newest.locator(".post").all_inner_texts() == [text, REPEATED]
    assert newest.locator("mark").all_inner_texts() == ["叫", "咯", "喊", "哦"]
    page.get_by_label("Show").select_option("exact")
    playwright.expect(newest).to_contain_text("exact repeat of", timeout=15_000)
    assert "near repeat" not in page.locator("#latest").inner_text()


def test_pairs_are_judged_and_saved_for_tuning(page: Any, tmp_path: Path) -> None:
    page.get_by_role("button", name="Show a pair").click()
    page.locator("#pair-to-judge mark").first.wait_for()
    first = page.locator("#pair-to-judge dd").all_inner_texts()
    page.keyboard.press("n")
    playwright.expect(page.locator("#judge-status")).to_contain_text("1 answer")
    page.keyboard.press("b")
    assert page.locator("#pair-to-judge dd").all_inner_texts() == first
    page.get_by_role("button", name="Yes, the same").click()
    playwright.expect(page.locator("#judge-status")).to_contain_text("1 answer")
    page.reload()
    playwright.expect(page.locator("#judge-status")).to_have_text("1 answer.")
    with page.expect_download() as saved:
        page.get_by_role("link", name="Save the answers").click()
    saved.value.save_as(tmp_path / "pairs.jsonl")
    registry = create_plugin_manager(entry_points=False).registry
    read, _ = read_pairs(str(tmp_path / "pairs.jsonl"), registry, ReadOptions(), PairFields())
    assert ([*read.a, *read.b], read.labels.tolist()) == (first, [True])
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete them here").click()
    playwright.expect(page.get_by_role("link", name="Save the answers")).to_be_hidden()


def test_a_token_is_asked_for_and_kept_in_the_tab(browser: Any, tmp_path: Path) -> None:
    with serving(tmp_path / "window", HYBRIDDUP_TOKEN=TOKEN) as guarded:
        page = browser.new_page()
        page.goto(guarded.address)
        for token in ("wrong", TOKEN):
            page.get_by_label("This service asks for a token.").fill(token)
            page.get_by_role("button", name="Use token").click()
        page.locator("#status").filter(has_text="Ready").wait_for()
        playwright.expect(page.locator("#token-section")).to_be_hidden()
        playwright.expect(page.locator("#counts dd").first).to_have_text("0", timeout=15_000)
        page.close()
