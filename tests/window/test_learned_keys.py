"""Keys that a window learns: which shingles are common, once, and for good."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hybriddup.window import Window
from hybriddup.window.derived import DerivedState
from hybriddup.window.derived.kept_log import FOLDER
from hybriddup.window.derived.kept_posts import KeptColumns
from hybriddup.window.looking import FEWEST_SCORED

FIT_AT = 200


@pytest.fixture
def learn_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have windows learn after a few posts."""
    for module in ("state", "learning"):
        monkeypatch.setattr(f"hybriddup.window.{module}.FIT_AT", FIT_AT)


def greetings(n: int) -> list[str]:
    """Texts that begin alike."""
    random = Random(5)  # noqa: S311
    return [
        "每天早上都要说一遍的话" + "".join(chr(random.randrange(0x4E00, 0x9000)) for _ in range(40)) for _ in range(n)
    ]


def state_of(window: Window) -> Any:
    """What is behind a window."""
    return window._state


def learned(window: Window) -> Mapping[str, list[int]]:
    """What the block index of a window learned."""
    return {name: array.tolist() for name, array in state_of(window).steps.components.block_index.learned().items()}


def is_empty(what: Mapping[str, list[int]]) -> bool:
    """Whether no shingle is common."""
    return not any(any(words) for words in what.values())


@pytest.mark.usefixtures("learn_early")
def test_common_shingles_are_learned_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that is opened again has the keys that it had, from the log as from the posts."""
    texts = greetings(FIT_AT + 60)
    with Window.open(tmp_path, "weibo") as window:
        window.add_many(texts[: FIT_AT - 1])
        assert is_empty(learned(window))
        window.add_many(texts[FIT_AT - 1 : FIT_AT + 30])
        common = learned(window)
        assert not is_empty(common)
        window.add_many(texts[FIT_AT + 30 :])
        assert learned(window) == common
        state = state_of(window)
        kept = state.steps.normalize([post.text for posts in state.store.kept_since(0) for post in posts])
    held, add = list[list[int]](), DerivedState.add

    def noted(derived: DerivedState, columns: KeptColumns, *looked_up: Any) -> None:
        held.extend(columns.texts.keys.tolist())
        add(derived, columns, *looked_up)

    monkeypatch.setattr(DerivedState, "add", noted)
    for has_log in (True, False):
        if not has_log:
            shutil.rmtree(tmp_path / FOLDER)
        held.clear()
        with Window.open(tmp_path, "weibo") as window:
            assert learned(window) == common
            index = state_of(window).steps.components.block_index
            assert held == index.keys(kept, None).tolist()
            assert not any(window.add(text).kept for text in texts[::20])


@pytest.mark.usefixtures("learn_early")
def test_limits_hit_are_counted_on_when_the_index_is_made_anew() -> None:
    """What an index counted that is given up is not forgotten with it."""
    texts = greetings(FIT_AT)
    with Window.open(None, {"blocks": {"use": "shingles", "max_bucket_size": 5}}) as window:
        window.add_many(texts[:-1])
        before, index = window.stats().limits_hit["max_bucket_size"], state_of(window).derived.index
        window.add(texts[-1])
        assert state_of(window).derived.index is not index
        assert window.stats().limits_hit["max_bucket_size"] >= before > 0


def test_a_window_by_shingles_finds_what_a_scan_finds() -> None:
    """Decisions about texts and edited copies of them."""
    random = Random(4)  # noqa: S311
    letters = [chr(0x4E00 + number) for number in range(3000)]
    texts = ["".join(random.choices(letters, k=random.randint(12, 60))) for _ in range(1500)]
    copies = [text[:5] + random.choice(letters) + text[6:] for text in texts]
    with Window.open(None, "weibo") as window, Window.open(None, {"blocks": {"use": "scan"}}) as truth:
        posts = [text for pair in zip(texts, copies, strict=True) for text in pair]
        found = [window.add_many(posts[first : first + 100]) for first in range(0, len(posts), 100)]
        expected = [truth.add_many(posts[first : first + 100]) for first in range(0, len(posts), 100)]
        assert window.stats().index.startswith("shingles: ")
    assert found == expected
    assert sum(not decision.kept for batch in found for decision in batch) > 1000


def test_as_many_matches_as_are_asked_for_are_found_unless_the_text_is_long() -> None:
    """Of a long text only the posts with the fewest differing bits are scored."""
    short = [f"{'今天天气很好' * 2}{n:02}" for n in range(30)]
    long = [f"{'abcdefghij' * 1600}{n:02}" for n in range(30)]
    lengths = [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 1.0}}]
    with Window.open(None, {"lengths": lengths}) as window:
        window.add_many([*short, *long])
        assert len(window.match(short[0], limit=25)) == 25
        assert 1 <= len(window.match(long[0], limit=25)) <= FEWEST_SCORED + 1
