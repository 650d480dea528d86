"""`hybriddup dedupe --report`: the page beside the other outputs."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import NEARLY, OTHER, REPEATED, Run, failed, names, write_posts


def test_report_appears_with_the_kept_posts(run: Run, tmp_path: Path) -> None:
    name = write_posts(tmp_path / "posts.jsonl", REPEATED, OTHER, NEARLY)
    assert run("dedupe", name, "--report", "report.html").code == 0
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "你妈妈<mark>叫</mark>你回家吃饭<mark>啦</mark>" in page
    assert "Posts by" not in page
    assert names(tmp_path) == ["posts.jsonl", "posts.kept.jsonl", "report.html"]


def test_report_counts_by_the_days_that_posts_name(run: Run, tmp_path: Path) -> None:
    posts = [{"text": REPEATED, "created_at": "2026-11-23 10:00"}, {"text": NEARLY, "created_at": "2026-11-24"}]
    name = write_posts(tmp_path / "posts.jsonl", *posts, {"text": OTHER})
    ran = run("dedupe", name, "--report", "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Posts by day" in page
    assert "2026-11-24" in page
    assert "Posts without a time: 1." in page
    assert "created_at" not in ran.err


@pytest.mark.parametrize("others", [[], [OTHER]])
def test_report_shows_when_and_by_whom_a_post_was_repeated(run: Run, tmp_path: Path, others: list[str]) -> None:
    posts = [{"text": f"{REPEATED}{'！' * n}", "created_at": f"2026-11-{20 + n}", "by": f"user {n}"} for n in range(7)]
    name = write_posts(tmp_path / "posts.jsonl", *posts)
    against = [option for text in others for option in ("--against", write_posts(tmp_path / "old.jsonl", text))]
    run("dedupe", name, "--authors", "by", "--report", "report.html", *against)
    page = (tmp_path / "report.html").read_text("utf-8")
    seen = "first seen 2026-11-20 · last seen 2026-11-26 · by user 0, user 1, user 2, user 3, user 4 and 2 more"
    assert seen in page


def test_report_is_the_same_as_that_of_python(run: Run, tmp_path: Path) -> None:
    import hybriddup

    texts = [REPEATED, OTHER, NEARLY]
    name = write_posts(tmp_path / "posts.jsonl", *texts)
    run("dedupe", name, "--report", "report.html")
    hybriddup.dedupe(texts).report(tmp_path / "python.html", name="posts.jsonl")
    assert (tmp_path / "report.html").read_bytes() == (tmp_path / "python.html").read_bytes()


def test_missing_packages_stop_the_run_before_it_begins(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr("hybriddup.run.report.page.find_spec", lambda name: None if name == "jinja2" else real(name))
    name = write_posts(tmp_path / "posts.jsonl", REPEATED)
    said = failed(run, "dedupe", name, "--report", "report.html")
    assert said == "error: a report needs jinja2, which is not installed; run: pip install 'hybriddup[report]'\n"
