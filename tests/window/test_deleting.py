"""Posts that are deleted: what a window decides then is what one decides that never got them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.window import AnyWindow, Window
from hybriddup.window.derived.logged_texts import LoggedTexts

SAMPLES = Path(__file__).parents[1] / "samples" / "posts.jsonl"


def some_posts(rng: Random, n: int, name: str) -> list[dict[str, Any]]:
    """Posts that repeat each other in whole and in part."""
    texts = [text for line in SAMPLES.read_text("utf-8").splitlines() if (text := json.loads(line)["text"])]

    def made() -> str:
        one, other = rng.sample(texts, 2)
        mixed = one[: rng.randrange(len(one))] + other[rng.randrange(len(other)) :]
        return rng.choice([one, mixed, one + other])

    return [{"id": f"{name} {place}", "text": made()} for place in range(n)]


def answers_of(window: AnyWindow, posts: list[dict[str, Any]]) -> list[Any]:
    """What a window finds and decides, without positions."""
    found = [[(one.id, one.score) for one in window.match(post["text"])] for post in posts[:50]]
    decided = [
        (one.id, one.evidence and (one.evidence.of, one.evidence.reason, one.evidence.score))
        for one in window.add_many(posts)
    ]
    return [found, decided]


@pytest.mark.parametrize("reopened", [False, True])
@pytest.mark.parametrize(
    ("config", "share"),
    [("weibo", 4), ({"blocks": {"max_bucket_size": 6}}, None)],
    ids=["a quarter", "one, from crowded keys"],
)
def test_after_deletions_a_window_decides_as_if_the_posts_had_not_come(
    tmp_path: Path, config: Any, share: int | None, reopened: bool
) -> None:
    """With the rule as it is shipped; in memory and from what is on disk."""
    rng = Random(3)  # noqa: S311  posts, not secrets
    first, later = some_posts(rng, 900, "first"), some_posts(rng, 700, "later")
    with Window.open(None, config, workers=1) as other, Window.open(tmp_path / "w", config, workers=1) as window:
        kept = [post for post, decision in zip(first, window.add_many(first), strict=True) if decision.kept]
        gone = rng.sample(kept, len(kept) // share if share else 1)
        assert all(window.delete(post["id"]) for post in gone)
        other.add_many([post for post in kept if post not in gone])
        if not reopened:
            assert answers_of(window, later) == answers_of(other, later)
            return
        window.close()
        with Window.open(tmp_path / "w", config, workers=1) as again:
            assert answers_of(again, later) == answers_of(other, later)


@pytest.mark.parametrize("is_killed", [False, True])
def test_nothing_is_left_of_the_text_of_a_deleted_post(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_killed: bool
) -> None:
    """In no file, once the window is closed; where the process ended first, once it is opened again."""
    text, others = "这是一条谁也不该再看到的微博 secret", ["早上好，今天天气真不错", "大家晚安，明天再见"]
    with Window.open(tmp_path / "w", "weibo") as window:
        window.add_many([others[0], {"id": "gone", "text": text}, others[1]])
        if is_killed:
            with monkeypatch.context() as patched:
                patched.setattr(LoggedTexts, "erase", lambda *_: None)
                window.delete("gone")
        else:
            window.delete("gone")
    if is_killed:
        assert holds(tmp_path / "w", "不该再看到")
        Window.open(tmp_path / "w", "weibo").close()
    assert not holds(tmp_path / "w", "不该再看到")
    assert not holds(tmp_path / "w", "secret")
    assert all(holds(tmp_path / "w", other) for other in others)


def holds(folder: Path, text: str) -> bool:
    """Whether a file in a directory has a text, in one of the forms in which texts are written."""
    forms = (text.encode(), text.encode("utf-16-le"))
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return any(form in content for form in forms for content in contents)
