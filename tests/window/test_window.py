"""What a user of a window sees: decisions, matches, counts, errors, and the same answers when it is opened again."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Barrier, Thread

import numpy as np
import pytest

import hybriddup
from hybriddup.errors import InputError, StoreError, WindowError
from hybriddup.window import Decision, Post, Window
from hybriddup.window.state import WindowState
from tests.window.reference_window import CONFIG

FIRST = "你妈妈喊你回家吃饭哦，回家罗回家罗"
SECOND = "你妈妈叫你回家吃饭啦，回家罗回家罗"


def outcomes(decisions: list[Decision]) -> list[tuple[str, object]]:
    """The decisions and the keepers."""
    return [(decision.decision, decision.evidence and decision.evidence.of) for decision in decisions]


def test_repeat_names_the_post_that_it_matches_and_the_evidence() -> None:
    """The pair's own score reaches the threshold of its length."""
    with Window.open() as window:
        kept, repeat = window.add_many([{"text": FIRST, "id": "a"}, {"text": SECOND, "id": "b"}])
    assert kept.kept
    assert repeat.evidence is not None
    assert (repeat.evidence.of, repeat.evidence.reason, repeat.evidence.verifier) == ("a", "near", "post")
    assert repeat.evidence.score >= repeat.evidence.threshold == 0.5
    assert (
        repeat.to_dict()
        == {
            "id": "b",
            "position": 1,
            "decision": "duplicate",
            "repeated": False,
        }
        | repeat.evidence._asdict()
    )


@pytest.mark.parametrize("text", ["", "😀😀😀", "\ud800", "a\0b", "ُِّ", "שלום עולם", "x" * 100_000])
def test_text_of_any_kind_repeats_itself_only(text: str, tmp_path: Path) -> None:
    """Empty, emoji only, a lone surrogate, NUL, combining marks, right to left, long: stored and found again."""
    config = {"without_text": "compare"}
    with Window.open(tmp_path / "store", config) as window:
        decisions = window.add_many([text, text + "", "something else altogether"])
    assert outcomes(decisions) == [("kept", None), ("duplicate", "#0"), ("kept", None)]
    with Window.open(tmp_path / "store", config) as window:
        assert outcomes([window.add(text)]) == [("duplicate", "#0")]
        stored = window.get("#0")
    assert stored is not None
    assert stored.text == text


def test_texts_that_say_nothing_are_equal_only_as_they_were_sent() -> None:
    """Both are empty after normalizing."""
    with Window.open(None, {"without_text": "compare"}) as window:
        decisions = window.add_many(["http://a.example/1", "http://a.example/2", "http://a.example/1"])
    assert outcomes(decisions) == [("kept", None), ("kept", None), ("duplicate", "#0")]


@pytest.mark.parametrize("text", ["", "http://a.example/1", "@someone"])
@pytest.mark.parametrize("without_text", ["keep", "drop"])
def test_posts_without_text_are_all_kept(text: str, without_text: str, tmp_path: Path) -> None:
    """Pictures and bare links repeat nothing; an id that is sent again gets its answer all the same."""
    with Window.open(tmp_path / "store", {"without_text": without_text}) as window:
        assert [decision.kept for decision in window.add_many([text, text, {"text": text, "id": "x"}])] == [True] * 3
        assert window.add({"text": text, "id": "x"}).repeated
    with Window.open(tmp_path / "store") as window:
        assert window.add(text).kept
        assert window.add("http://b.example/2").kept
        assert not [match for match in window.match(text) if match.is_match]


def test_an_id_gets_its_first_answer_again_whatever_the_text(tmp_path: Path) -> None:
    """In one batch, in the next, and after opening again; ``"1"`` is not ``1``."""
    posts = [{"text": FIRST, "id": 1}, {"text": "another", "id": 1}, {"text": "another", "id": "1"}]
    with Window.open(tmp_path / "store") as window:
        first, again, other = window.add_many(posts)
        third = window.add({"text": SECOND, "id": 1})
    with Window.open(tmp_path / "store") as window:
        fourth = window.add({"text": "yet another", "id": 1})
    assert [decision.repeated for decision in (first, again, other, third, fourth)] == [False, True, False, True, True]
    assert first.position == again.position == third.position == fourth.position == 0
    assert other.kept


def test_one_of_matching_posts_sent_at_the_same_moment_is_kept(tmp_path: Path) -> None:
    """64 threads send the same posts, each in another order, some twice, by ids of their own."""
    texts = [f"{word} concert in the park this winter evening" for word in ("a big", "the small", "one more")] * 2
    texts += ["nothing of the kind, ever", "no price was closed on number nine"]
    decisions: list[Decision] = []
    with Window.open(tmp_path / "store", CONFIG) as window:
        run_clients(window, texts, decisions)
    kept = Counter(decision.position for decision in decisions if decision.kept)
    with Window.open(tmp_path / "store", CONFIG) as window:
        n_posts = len({decision.position for decision in decisions})
        stored = window._state.store.posts(np.arange(n_posts))  # type: ignore[union-attr]
    run = hybriddup.dedupe([post.text for post in stored], config=CONFIG)
    assert sorted(kept) == run.kept
    assert len(run.kept) == 3


def run_clients(window: Window, texts: list[str], decisions: list[Decision]) -> None:
    """Have many threads send the texts at once, and once more a part of them."""
    n_clients = 64
    barrier = Barrier(n_clients)

    def send(client: int) -> None:
        random = Random(client)  # noqa: S311
        posts = [{"text": text, "id": f"{client}-{place}"} for place, text in enumerate(texts)]
        barrier.wait()
        decisions.extend(map(window.add, random.sample(posts, len(posts)) + random.sample(posts, 2)))

    threads = [Thread(target=send, args=(client,)) for client in range(n_clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_similar_posts_come_best_first_and_nothing_changes() -> None:
    """A near miss is shown with its score."""
    with Window.open() as window:
        window.add_many([SECOND, "下周的例会改到三楼会议室，请大家带上周报"])
        before = window.stats()
        found = window.match(FIRST)
        assert [(match.id, match.is_match) for match in found] == [("#0", True)]
        near_miss = window.match("下周的例会取消了，三楼会议室有培训，请带上周报")
        assert [(match.id, match.is_match) for match in near_miss] == [("#1", False)]
        assert 0.1 < near_miss[0].score < near_miss[0].threshold
        assert window.match(SECOND)[0].score == 1.0
        assert window.match(SECOND, limit=0) == []
        assert window.stats().n_posts == before.n_posts == 2


def test_posts_leave_when_they_are_older_than_the_horizon(tmp_path: Path) -> None:
    """Not a moment earlier; memory and disk stop growing. Only a closed store has nothing left to be moved in it."""
    now = [0.0]
    random = Random(3)  # noqa: S311
    with Window.open(tmp_path / "store", CONFIG, horizon=100, clock=lambda: now[0]) as window:
        assert window.add(FIRST).kept
        now[0] = 99.9
        assert not window.add(FIRST).kept
        now[0] = 100.0
        assert window.add(FIRST).kept
    derived, disk = [], []
    for rounds in (8, 4):
        with Window.open(tmp_path / "store", CONFIG, horizon=100, clock=lambda: now[0]) as window:
            for _ in range(rounds):
                for _ in range(10):
                    now[0] += 5
                    window.add_many(["".join(random.choices("abcdefghijklmnop", k=60)) for _ in range(50)])
                assert window.stats().n_kept_in_window <= 50 * 20
                derived.append(window.stats().index_bytes)
            assert window.stats().n_expired > 350 * rounds - 300
        disk.append((tmp_path / "store" / "posts.sqlite3").stat().st_size)
    assert max(derived[4:8]) <= max(derived[:4])
    assert disk[1] <= 1.2 * disk[0]


def test_late_posts_are_decided_and_match_no_later_one() -> None:
    """By event time."""
    with Window.open(None, CONFIG, horizon="1m", time="event") as window:
        window.add(Post("a text that came in time", 1, 1000.0))
        late = window.add(Post("quite another, behind its time", 2, 900.0))
        again = window.add(Post("quite another, behind its time", 3, 1001.0))
        ahead = window.add(Post("a text that came in time", 4, 1e11))
    assert late.kept
    assert again.kept
    assert ahead.kept
    assert window_is_closed(window)


def window_is_closed(window: Window) -> bool:
    """Whether the window says so."""
    with pytest.raises(WindowError, match="the window is closed"):
        window.add("anything")
    return True


@pytest.mark.parametrize(
    ("post", "words"),
    [
        (5, "post 1: a post must be a text, or a mapping"),
        ({"id": 5}, "post 1: a post must be a text, or a mapping .*; its 'text' is NoneType"),
        ({"text": "a", "id": 1.5}, r"post 1: 'id' must be text or a whole number of 64 bits; got 1\.5"),
        ({"text": "a", "id": "#7"}, "post 1: ids such as '#7' are those of posts that came without one"),
    ],
)
def test_what_is_no_post_is_named_and_nothing_of_the_batch_is_decided(post: object, words: str) -> None:
    """Where, what was given, what is allowed."""
    with Window.open(None, CONFIG) as window:
        with pytest.raises(InputError, match=words):
            window.add_many(["a text", post])  # type: ignore[list-item]
        assert window.stats().n_posts == 0


def test_event_time_needs_created_at() -> None:
    """The message says what to do instead."""
    with Window.open(None, CONFIG, time="event") as window:
        with pytest.raises(InputError, match="has no created_at"):
            window.add("a text")
        with pytest.raises(
            InputError, match="post 0: 'created_at' must be seconds or milliseconds since 1970, or text such as"
        ):
            window.add({"text": "a", "created_at": "soon"})


def test_created_at_is_not_looked_at_by_arrival_time() -> None:
    """It may be in any form."""
    with Window.open(None, CONFIG) as window:
        assert window.add({"text": "a text", "created_at": "Thu Aug 16 13:42:54 +0800 2012"}).kept


@pytest.mark.parametrize("config", ["articles", "benchmark", "headlines", "sms", "twitter", "weibo"])
def test_every_shipped_configuration_serves_a_window(config: str, tmp_path: Path) -> None:
    """Also when it is opened again."""
    text = (
        "The council decided on Monday to close the old bridge over the river for repairs that will take all summer. "
        * 6
    )
    with Window.open(tmp_path / "store", config) as window:
        assert window.add(text).kept
        repeat = window.add(text.replace("summer", "Summer").replace("Monday", "Tuesday", 1))
        assert repeat.evidence is not None
        assert not window.add(
            "Nothing in this text is in the other one; it tells of a cat and its seven kittens. " * 6
        ).evidence
    with Window.open(tmp_path / "store", config) as window:
        assert window.add(text + " It said so.").evidence is not None


def test_store_of_another_recipe_is_refused(tmp_path: Path) -> None:
    """The message says which part differs; the store is as it was."""
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add(FIRST)
    with pytest.raises(WindowError, match=r"another recipe: hasher\.seed is 0 in the store and 7 here"):
        Window.open(tmp_path / "store", CONFIG | {"hasher": {"seed": 7}})
    with Window.open(tmp_path / "store", CONFIG) as window:
        assert not window.add(FIRST).kept


def test_batch_that_cannot_be_written_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on disk nor in memory, and the window goes on."""
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add("the first post of all")
        store = window._state.store  # type: ignore[union-attr]

        def fail(*_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(store, "append", fail)
            with pytest.raises(StoreError, match="the disk is full"):
                window.add({"text": FIRST, "id": "a"})
        assert not any(match.is_match for match in window.match(FIRST))
        assert window.add({"text": FIRST, "id": "a"}).kept
        assert window.stats().n_posts == 2


def test_counts_say_what_became_of_posts() -> None:
    """By kind and by length band."""
    with Window.open(None, CONFIG) as window:
        window.add_many([{"text": FIRST, "id": 1}, FIRST, SECOND, "ab", {"text": "c", "id": 1}])
        stats = window.stats()
    assert (stats.n_posts, stats.n_kept, stats.n_exact, stats.n_near, stats.n_repeated_ids) == (4, 2, 1, 1, 1)
    assert stats.by_band == {"3-": {"kept": 1, "exact": 1, "near": 1}, "0-2": {"kept": 1}}
    assert stats.n_kept_in_window == 2
    assert stats.index_bytes > 0
    assert stats.store_bytes > 0


def test_interrupt_after_writing_is_caught_up_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C came before the window took note of what was written: the posts count all the same."""
    with Window.open(tmp_path / "store", CONFIG) as window:
        window.add("the first post of all")

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(WindowState, "remember", interrupt)
            with pytest.raises(KeyboardInterrupt):
                window.add({"text": FIRST, "id": "a"})
        assert outcomes([window.add(SECOND)]) == [("duplicate", "a")]
        assert window.add({"text": FIRST, "id": "a"}).repeated


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_cannot_use_the_window_of_its_parent(tmp_path: Path) -> None:
    """It is told so, whatever it asks; and the window goes on as if nothing had happened."""
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
    """Whether a call in a forked process is told what to do instead."""
    try:
        call()
    except WindowError as error:
        return "forked from it" in str(error) and "hybriddup serve" in str(error)
    return False
