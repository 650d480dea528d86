"""What a user of a window sees: decisions, matches, counts, errors, and the same answers when it is opened again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

import pytest

from hybriddup.errors import InputError, WindowError
from hybriddup.window import Decision, Window
from hybriddup.window.looking import FEWEST_SCORED
from tests.window.plugins import state_of
from tests.window.reference_window import CONFIG

FIRST = "你妈妈喊你回家吃饭哦，回家罗回家罗"
SECOND = "你妈妈叫你回家吃饭啦，回家罗回家罗"


def outcomes(decisions: list[Decision]) -> list[tuple[str, object]]:
    return [(decision.decision, decision.evidence and decision.evidence.duplicate_of) for decision in decisions]


def test_texts_that_say_nothing_are_equal_only_as_they_were_sent() -> None:
    """Both are empty after normalizing."""
    with Window.open(None, {"without_text": "compare"}) as window:
        decisions = window.add_many(["http://a.example/1", "http://a.example/2", "http://a.example/1"])
    assert outcomes(decisions) == [("kept", None), ("kept", None), ("duplicate", "#0")]


@pytest.mark.parametrize("text", ["", "http://a.example/1", "@someone"])
@pytest.mark.parametrize("without_text", ["keep", "drop"])
def test_posts_without_text_are_all_kept(text: str, without_text: str, tmp_path: Path) -> None:
    with Window.open(tmp_path / "store", {"without_text": without_text}) as window:
        assert [decision.kept for decision in window.add_many([text, text, {"text": text, "id": "x"}])] == [True] * 3
        assert window.add({"text": text, "id": "x"}).repeated
    with Window.open(tmp_path / "store") as window:
        assert window.add(text).kept
        assert window.add("http://b.example/2").kept
        assert not [match for match in window.match(text) if match.is_match]


def test_near_misses_are_shown_with_their_scores() -> None:
    with Window.open() as window:
        window.add_many([SECOND, "下周的例会改到三楼会议室，请大家带上周报"])
        near_miss = window.match("下周的例会取消了，三楼会议室有培训，请带上周报")
        assert [(match.id, match.is_match) for match in near_miss] == [("#1", False)]
        assert 0.1 < near_miss[0].score < near_miss[0].threshold
        assert window.match(SECOND)[0].score == 1.0
        assert window.match(SECOND, limit=0) == []
        with pytest.raises(InputError, match="at least 0"):
            window.match(SECOND, limit=-1)


def test_a_post_matches_until_it_is_as_old_as_the_horizon() -> None:
    now = [0.0]
    with Window.open(None, CONFIG, horizon=100, clock=lambda: now[0]) as window:
        answers = []
        for now[0] in (0.0, 99.9, 100.0):
            answers.append(window.add(FIRST).kept)
    assert answers == [True, False, True]


@pytest.mark.parametrize(
    ("post", "words"),
    [
        (5, "post 1: a post must be a text, or a mapping"),
        ({"id": 5}, "post 1: a post must be a text, or a mapping .*; it has no 'text'"),
        ({"text": "a", "id": 1.5}, r"post 1: 'id' must be text or a whole number of 64 bits; got 1\.5"),
        ({"text": "a", "id": "#7"}, "post 1: ids such as '#7' are reserved for posts without an id"),
        ({"text": "a", "id": "é" * 256 + "e"}, "post 1: 'id' has 513 bytes, and 512 are allowed"),
        ("a text", "post 1 .* has no created_at"),
        *(
            ({"text": "a", "created_at": written}, "post 1: 'created_at' must be seconds or milliseconds since 1970")
            for written in (10**400, 10**5000, float("nan"), "", "9" * 400, [1])
        ),
    ],
)
def test_what_is_no_post_is_named_and_nothing_of_the_batch_is_decided(post: object, words: str) -> None:
    right = {"text": "a text", "id": "é" * 256, "created_at": 1}
    with Window.open(None, CONFIG, time="event") as window:
        with pytest.raises(InputError, match=words) as caught:
            window.add_many([right, post])
        assert len(str(caught.value)) < 250
        assert window.stats().n_posts == 0
        assert window.add(right).kept


def test_created_at_is_not_looked_at_by_arrival_time() -> None:
    with Window.open(None, CONFIG) as window:
        assert window.add({"text": "a text", "created_at": "Thu Aug 16 13:42:54 +0800 2012"}).kept


@pytest.mark.parametrize("config", ["articles", "benchmark", "headlines", "sms", "twitter", "weibo"])
def test_every_shipped_configuration_serves_a_window(config: str, tmp_path: Path) -> None:
    text = 6 * "The council decided on Monday to close the old bridge over the river for repairs that take all summer. "
    other = 6 * "Nothing in this text is in the other one; it tells of a cat and its seven kittens. "
    with Window.open(tmp_path / "store", config) as window:
        assert window.add(text).kept
        assert not window.add(text.replace("summer", "Summer").replace("decided", "agreed", 1)).kept
        assert window.add(other).kept
    with Window.open(tmp_path / "store", config) as window:
        assert not window.add(text + " It said so.").kept


def test_store_of_another_recipe_is_refused(tmp_path: Path) -> None:
    Window.open(tmp_path / "store", CONFIG).close()
    with pytest.raises(WindowError, match=r"another recipe: hasher\.seed is 7 here and 0 in the store"):
        Window.open(tmp_path / "store", CONFIG | {"hasher": {"seed": 7}})


@contextmanager
def deciding(window: Window, post: object) -> Iterator[Future[Decision]]:
    """Have a post decided that is not yet written as long as the block takes."""
    began, go, append = Event(), Event(), state_of(window).store.append

    def hold(*given: Any) -> None:
        began.set()
        assert go.wait(60)
        append(*given)

    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patch:
        patch.setattr(state_of(window).store, "append", hold)
        adding = pool.submit(window.add, post)  # type: ignore[arg-type]
        assert began.wait(60)
        try:
            yield adding
        finally:
            go.set()
            adding.result()


def test_what_is_asked_waits_for_the_batch_that_is_decided() -> None:
    with Window.open(None, CONFIG) as window, ThreadPoolExecutor(1) as pool:
        with deciding(window, FIRST) as adding:
            asking = pool.submit(window.match, FIRST)
            assert not wait([asking], 0.2).done
        assert adding.result().kept
        assert [match.is_match for match in asking.result()] == [True]


def test_an_error_reaches_only_the_sender_whose_post_causes_it() -> None:
    with Window.open(None, CONFIG, time="event") as window, ThreadPoolExecutor(2) as pool:
        with deciding(window, {"text": FIRST, "created_at": 1}):
            without_time = pool.submit(window.add, SECOND)
            other = pool.submit(window.add, {"text": SECOND, "created_at": 2})
            while len(window._waiting) < 2:
                sleep(0.01)
        assert isinstance(without_time.exception(), InputError)
        assert other.result().decision == "duplicate"


def test_counts_say_what_became_of_posts() -> None:
    with Window.open(None, CONFIG) as window:
        window.add_many([{"text": FIRST, "id": 1}, FIRST, SECOND, "ab", {"text": "c", "id": 1}])
        stats = window.stats()
    assert (stats.n_posts, stats.n_kept, stats.n_exact, stats.n_near, stats.n_repeated_ids) == (4, 2, 1, 1, 1)
    assert stats.by_band == {"3-": {"kept": 1, "exact": 1, "near": 1}, "0-2": {"kept": 1}}
    assert stats.n_kept_in_window == 2
    assert stats.index_bytes > 0
    assert stats.store_bytes > 0


def test_as_many_matches_as_are_asked_for_are_found_unless_the_text_is_long() -> None:
    """Of a long text only the posts with the fewest differing bits are scored."""
    short = [f"{'今天天气很好' * 2}{n:02}" for n in range(30)]
    long = [f"{'abcdefghij' * 1600}{n:02}" for n in range(30)]
    lengths = [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 1.0}}]
    with Window.open(None, {"lengths": lengths}) as window:
        window.add_many([*short, *long])
        assert len(window.match(short[0], limit=25)) == 25
        assert 1 <= len(window.match(long[0], limit=25)) <= FEWEST_SCORED + 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_cannot_use_the_window_of_its_parent(tmp_path: Path) -> None:
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add(FIRST)
        child = os.fork()
        if child == 0:
            calls = (lambda: window.add(SECOND), lambda: window.match(FIRST), lambda: window.get("#0"), window.stats)
            os._exit(sum(not is_refused(call) for call in calls))
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        assert not window.add(FIRST).kept
    with Window.open(tmp_path / "store", CONFIG) as window:
        assert window.stats().n_kept_in_window == 1


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except WindowError as error:
        return "forked from it" in str(error) and "hybriddup serve" in str(error)
    return False
