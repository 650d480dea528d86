"""Windows over a store that others use: what any window promises, and the answers of a window of one's own."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import pytest

from hybriddup.errors import StoreError, UnsupportedError
from hybriddup.shared_windows import Change, Keyed, State, Taken
from hybriddup.shared_windows.opening import LEASE
from hybriddup.testing import ContractError, check_shared_store, check_window
from hybriddup.testing.window_posts import CONFIG, Windows, comparable, distinct_texts, nearly
from hybriddup.testing.windows import check_second
from hybriddup.window.window import Window
from tests.posts import generated_posts, load_sample
from tests.shared_windows.plain_store import UNDECIDED, LetsNamesGo, Opener, PlainContent, PlainStore
from tests.window.plugins import nothing, with_fault


def test_a_shared_window_keeps_the_contract() -> None:
    opener = Opener()
    check_window(opener, lasts=False, shared=True)
    with Windows(opener) as windows:
        check_second(windows, shared=True)


@pytest.mark.parametrize(
    ("config", "size"),
    [
        ("weibo", 7),
        ("benchmark", 256),
        ("articles", 7),
        *(pytest.param("weibo", size, marks=pytest.mark.slow) for size in (1, 256)),
        *(pytest.param("benchmark", size, marks=pytest.mark.slow) for size in (1, 7)),
        *(pytest.param("articles", size, marks=pytest.mark.slow) for size in (1, 256)),
    ],
)
def test_one_sender_gets_the_answers_of_a_window_of_its_own(config: str, size: int) -> None:
    texts = [post["text"] for post in load_sample("posts.jsonl")] + generated_posts(5, 300)
    own, shared = (opens(config=config, clock=lambda: 0.0) for opens in (Window.open, partial(Opener(), "sample")))
    for first in range(0, len(texts), size):
        some = texts[first : first + size]
        assert shared.add_many(some) == own.add_many(some)
    assert shared.match(texts[9]) == own.match(texts[9])
    counts = [(one.n_posts, one.n_kept, one.n_exact, one.n_near, one.by_band) for one in (own.stats(), shared.stats())]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("max_candidates", [1, 16])
def test_one_sender_gets_the_same_answers_in_a_flood(max_candidates: int) -> None:
    rng = np.random.default_rng(11)
    words = ["今天", "北京", "优惠", "大奖", "手机", "免费", "领取", "点击", "中奖", "速来"]
    texts = ["".join(rng.permutation(words)) for _ in range(800)]
    config = {
        "blocks": {"use": "shingles", "max_bucket_size": 10, "max_candidates": max_candidates},
        "lengths": [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 0.8}}],
    }
    own, shared = (opens(config=config, clock=lambda: 0.0) for opens in (Window.open, partial(Opener(), "flood")))
    for first in range(0, len(texts), 100):
        some = texts[first : first + 100]
        assert shared.add_many(some) == own.add_many(some)
    assert own.stats().limits_hit["max_bucket_size"]
    assert own.stats().limits_hit["max_candidates"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"config": {"window": {"renew": True}}}, r"window.renew.* Leave these out, or use a window in a directory"),
        (
            {"config": {"window": {"on_same_id": "replace"}}},
            r"window.on_same_id: replace.* Leave these out, or use a win",
        ),
        ({"authors": "user.id"}, r"authors .--authors.: it counts no copies"),
        ({"counts": True}, r"counts .--counts.: it counts no copies"),
    ],
)
def test_shared_windows_refuse_what_they_cannot_do(options: dict[str, Any], named: str) -> None:
    with pytest.raises(UnsupportedError, match=f"has no {named}"):
        Opener()("shared", **options)


@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "too old"])
@pytest.mark.parametrize("is_kept", [True, False], ids=["kept", "duplicate"])
def test_a_text_that_came_before_is_decided_in_the_order_of_the_batch(is_deleted: bool, is_kept: bool) -> None:
    text, now = distinct_texts(1)[0], [0.0]
    before = [{"id": 1, "text": text}] if is_kept else [{"id": 1, "text": f"{text}?"}, {"id": 2, "text": text}]
    batch = [{"id": "a", "text": text}, {"id": "b", "text": nearly(text)}, {"id": "c", "text": text}]

    def answers(opens: Callable[..., Any]) -> list[object]:
        now[0] = 0.0
        with opens(config=CONFIG, horizon=100.0, max_step=1000.0, clock=lambda: now[0]) as window:
            window.add_many(before)
            if is_deleted:
                window.delete(1)
            else:
                now[0] = 150.0
            return comparable(window.add_many(batch))

    own = answers(Window.open)
    assert own == [("a", "kept", None), ("b", "duplicate", ("a", "near")), ("c", "duplicate", ("a", "exact"))]
    assert answers(partial(Opener(), "window")) == own


def test_the_plain_store_keeps_the_contract_of_shared_stores() -> None:
    contents: dict[str, PlainContent] = defaultdict(PlainContent)
    check_shared_store(lambda name, needs: PlainStore(contents[name], needs.words))


def change_anything(right: Callable[..., list[State]], changes: Sequence[Change]) -> list[State]:
    return right([one._replace(expected=frozenset(State)) for one in changes])


class TimeGoesBack(PlainStore):
    """Takes any time."""

    def finish(self, first: int, read: float, watermark: float, kept: Sequence[float], leaving: Keyed) -> None:
        super().finish(first, read, watermark, kept, leaving)
        self.content.watermark = watermark


@pytest.mark.parametrize(
    ("broken", "clause"),
    [
        (with_fault(PlainStore, "take", lambda right, n: right(n)._replace(first=0)), "no position is given twice"),
        (with_fault(PlainStore, "change", change_anything), "only if it is as expected"),
        (LetsNamesGo, "the first to claim a name holds it"),
        (with_fault(PlainStore, "leave", nothing), "removed from the named buckets"),
        (TimeGoesBack, "never goes back by itself"),
    ],
)
def test_a_store_that_breaks_a_promise_fails_at_its_clause(broken: type[PlainStore], clause: str) -> None:
    contents: dict[str, PlainContent] = defaultdict(PlainContent)
    with pytest.raises(ContractError, match=clause):
        check_shared_store(lambda name, needs: broken(contents[name], needs.words))


class Stumbles(PlainStore):
    """Waits for a while with its first batch, and loses its answer when the posts of the second were decided."""

    go = threading.Event()
    n_changes = 0

    def take(self, n: int) -> Taken:
        self.go.wait(30)
        return super().take(n)

    def change(self, changes: Sequence[Change]) -> list[State]:
        states = super().change(changes)
        self.n_changes += 1
        if self.n_changes == 2:
            raise StoreError("the answer is lost")
        return states


def test_posts_that_may_have_been_decided_are_not_sent_again_unasked() -> None:
    """They would repeat themselves, and whoever sent them would be told that another one is kept."""
    texts = ["the first of all posts", "something else that is said", "今天的天气真的非常好啊"]

    def send(text: str) -> str:
        try:
            return window.add(text).decision
        except StoreError:
            return "error"

    with Opener(Stumbles)("stumbling") as window, ThreadPoolExecutor(3) as pool:
        answers = [pool.submit(send, text) for text in texts]
        time.sleep(0.3)  # so that the last two wait together
        Stumbles.go.set()
        told = [answer.result() for answer in answers]
    assert "error" in told
    assert "duplicate" not in told


def test_posts_of_a_process_that_ended_are_waited_for_once(clock: list[float]) -> None:
    posts = [text for text in generated_posts(5, 60) if len(text) > 20]
    opener = Opener(UNDECIDED)
    with opener("ended") as ended, pytest.raises(StoreError):
        ended.add_many(posts)
    opener.make = PlainStore
    with opener("ended") as window:
        assert window.add("this one comes before all of them are waited for").kept
        kept = [window.add(text).kept for text in posts]
    assert any(kept)
    assert LEASE < clock[0] < 2 * LEASE


@pytest.mark.usefixtures("clock")
def test_posts_of_a_process_that_ended_hide_no_kept_post() -> None:
    """Though they are nearer, and more than the candidates that a post is compared with."""
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 40)))
    opener = Opener()
    with opener("crowd", config=CONFIG) as window:
        assert window.add("乙乙" + text[2:-2] + "乙乙").kept
        opener.make = UNDECIDED
        with opener("crowd", config=CONFIG) as ended, pytest.raises(StoreError):
            ended.add_many([text[:-1] + chr(0x6000 + place) for place in range(300)])
        assert not window.add(text).kept
