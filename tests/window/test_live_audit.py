"""The audit of a window: what it says of the index is the truth, what it costs is bounded, and it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hybriddup.data.records import NearPairs
from hybriddup.run.audit import wilson_interval
from hybriddup.steps.candidates import Batch
from hybriddup.window import AuditCounts, Decision, Post, Window
from hybriddup.window.deciding import WindowIndex
from hybriddup.window.live_audit import Comparison, LiveAudit, sampled_places
from hybriddup.window.preparing import Steps
from tests.window.plugins import plugin, state_of
from tests.window.reference_window import CONFIG, matches

HORIZON = 100.0
EVERYTHING = {"texts_per_post": 2**20, "pairs_per_part": 2**40}
"""So much at a time that a comparison is done with the batch that it begins with."""
texts = st.text(alphabet="ab", max_size=8) | st.sampled_from(["abcdefgh", "abcdefgx", "xbcdefgx", "妈妈喊你回家"])
posts = st.builds(Post, text=texts, id=st.none(), author=st.none(), created_at=st.floats(0, 250, width=16))


@pytest.fixture(autouse=True)
def index_that_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the window not find every third of the pairs that its index gives."""
    find = WindowIndex.look_up

    def find_some(index: WindowIndex, batch: Batch) -> NearPairs:
        near = find(index, batch)
        return near.take((near.earlier + batch.positions[near.later]) % 3 > 0)

    monkeypatch.setattr(WindowIndex, "look_up", find_some)


@contextmanager
def window_with(audit: LiveAudit, config: Any = CONFIG, **options: Any) -> Iterator[Window]:
    with Window.open(None, config, horizon=HORIZON, workers=1, **options) as window:
        state_of(window).live_audit = audit
        yield window


class Truth:
    """Counts what was found and what was missed, by comparing each post with every kept one in plain Python."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, float]] = []
        self.watermark = float("-inf")
        self.n_found = self.n_missed = 0

    def add(self, post: Post, decision: Decision) -> None:
        before = post.created_at if self.watermark == float("-inf") else self.watermark
        self.watermark = max(before, min(post.created_at, before + HORIZON / 2))
        if decision.evidence is not None:
            self.n_found += decision.evidence.reason == "near"
            return
        in_window = [text for text, time in self.kept if time > max(self.watermark, post.created_at) - HORIZON]
        self.n_missed += any(matches(text, post.text) for text in in_window if text != post.text)
        self.kept.append((post.text, post.created_at))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(posts, min_size=1, max_size=8), max_size=15))
def test_with_every_post_sampled_the_estimate_is_the_recall(batches: list[list[Post]]) -> None:
    truth = Truth()
    with window_with(LiveAudit(one_in=1, **EVERYTHING), time="event") as window:
        for batch in batches:
            for post, decision in zip(batch, window.add_many(batch), strict=True):
                truth.add(post, decision)
            # posts that are over a horizon ahead of all others may be forgotten before those
            assume(all(time <= truth.watermark + HORIZON for _, time in truth.kept))
        stats = window.stats()
    assert (stats.audit.n_found, stats.audit.n_missed, stats.audit.n_skipped) == (truth.n_found, truth.n_missed, 0)
    n_duplicates = truth.n_found + truth.n_missed
    assert stats.estimated_recall == (truth.n_found / n_duplicates if n_duplicates else None)
    assert (stats.recall_interval is None) == (n_duplicates == 0)


def some_texts(n: int, seed: int = 1) -> list[str]:
    """Texts of which many are near repeats."""
    random = Random(seed)  # noqa: S311
    stems = ["".join(random.choices("abcdefghijklmnop", k=30)) for _ in range(n // 2)]
    return [edited(random.choice(stems), random.randrange(30)) for _ in range(n)]


def edited(text: str, place: int) -> str:
    return text[:place] + "xy" + text[place + 1 :]


def pieces(text: str) -> list[int]:
    return [int.from_bytes(text[first : first + 4].encode(), "little") for first in range(max(len(text) - 3, 1))]


@pytest.mark.parametrize("use", ["own", pytest.param("scan", marks=pytest.mark.slow)])
def test_a_part_at_a_time_comes_to_the_same(use: str) -> None:
    audit = LiveAudit(one_in=1, texts_per_post=100, posts_per_part=1, pairs_per_part=25, most_comparisons=1)
    truth, n_seen, is_missed, n_missed = Truth(), 0, False, 0
    with window_with(audit, CONFIG | {"blocks": {"use": use}}, plugins=[plugin(pieces)]) as window:
        for post in (Post(text, created_at=0.0) for text in some_texts(900)):
            was_idle, decision = not audit.comparisons, window.add(post)
            before = truth.n_missed
            truth.add(post, decision)
            if was_idle and decision.kept:  # its comparison has begun
                is_missed = truth.n_missed > before
            n_seen += decision.evidence is None or decision.evidence.reason == "near"
            if not audit.comparisons and (decision.kept or not was_idle):  # and is done
                n_missed += is_missed
                assert audit.counts().n_missed == n_missed
    counts, under_way = audit.counts(), bool(audit.comparisons)
    assert counts.n_compared + counts.n_skipped + under_way == n_seen
    assert counts.n_skipped > counts.n_compared > 40
    assert 0 < counts.n_missed < counts.n_found


def test_a_part_is_no_larger_than_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    scans, verified = list[int](), list[int]()
    audit = LiveAudit(one_in=1, texts_per_post=2, posts_per_part=32, pairs_per_part=4)
    with window_with(audit) as window:
        for start in range(0, 320, 8):
            window.add_many(some_texts(320)[start : start + 8])
        index, verify, compare = state_of(window).derived.index, Steps.verify, Comparison.verify

        def scan_from(position: int, n_texts: int, later: Any) -> Any:
            scans.append(n_texts * len(later))
            return type(index).scan_from(index, position, n_texts, later)

        def verify_some(steps: Steps, pairs: Any, *rest: Any) -> Any:
            verified.append(len(pairs))
            return verify(steps, pairs, *rest)

        def verify_for_audit(comparison: Comparison, *parts: Any) -> None:
            with monkeypatch.context() as patch:
                patch.setattr(Steps, "verify", verify_some)
                compare(comparison, *parts)

        monkeypatch.setattr(index, "scan_from", scan_from)
        for text in some_texts(400, seed=2):
            scans.clear()
            verified.clear()
            with monkeypatch.context() as patch:
                patch.setattr(Comparison, "verify", verify_for_audit)
                window.add(text)
            assert len(scans) <= 1
            assert sum(scans) <= 32 * 2 + 8
            assert sum(verified) <= 4
    assert audit.counts().n_compared > 0


def unlike(n: int, seed: int = 0) -> list[str]:
    random = Random(seed)  # noqa: S311
    return ["".join(random.choices("qrstuvwxyz", k=40)) for _ in range(n)]


def test_a_text_forgotten_before_it_is_compared_makes_the_comparison_skipped() -> None:
    now = [0.0]
    audit = LiveAudit(one_in=2**60, texts_per_post=1, posts_per_part=2, most_comparisons=1)
    with window_with(audit, clock=lambda: now[0], max_step=2 * HORIZON) as window:
        window.add_many(unlike(60))
        audit.one_in = 1
        window.add("a post that is compared with two texts at a time")
        assert bool(audit.comparisons)
        now[0] = HORIZON + 1
        window.add_many(["this comes when all others are gone", "and this so too, and says another thing"])
        assert audit.counts() == AuditCounts(n_skipped=2)
        window.add("once more a post that is compared with all that there is")
        assert audit.counts() == AuditCounts(n_compared=1, n_skipped=3, n_unknown=1)


def test_the_interval_allows_for_posts_that_take_too_long() -> None:
    """Those with many candidates, of which just these may have been missed."""
    audit = LiveAudit(one_in=5, texts_per_post=10**6, posts_per_part=1, pairs_per_part=1, most_comparisons=4)
    with window_with(audit) as window:
        window.add_many([edited("abcdefghijklmnopqrstuvwxyz012345", place) for place in range(30)])
        quick = window.stats()
        for text in unlike(400):
            window.add(text)
        slow = window.stats()
    assert (quick.audit.n_unknown, slow.audit.n_unknown, slow.audit.n_missed) == (0, 4, 0)
    assert slow.recall_interval[0] < slow.audit.n_found / (slow.audit.n_found + 4) < quick.recall_interval[1] == 1.0


def test_exact_repeats_and_texts_too_short_are_left_out() -> None:
    """They are found by the hash of their text, or compared with none."""
    with window_with(LiveAudit(one_in=1, **EVERYTHING)) as window:
        window.add_many(["ab", "ab", "a text of more than two characters"])
        window.add("a text of more than two characters")
        assert window.stats().audit == AuditCounts(n_compared=1)


def test_auditing_changes_no_decision() -> None:
    decisions = []
    for audit in (LiveAudit(one_in=1, texts_per_post=3, posts_per_part=5), LiveAudit(one_in=2**60)):
        with window_with(audit) as window:
            decisions.append([decision for text in some_texts(300) for decision in window.add_many([text])])
    assert decisions[0] == decisions[1]


@pytest.mark.parametrize("sample", [0, 3000])
def test_a_configuration_without_audit_has_none(sample: int) -> None:
    with window_with(LiveAudit(one_in=1, **EVERYTHING), CONFIG | {"audit": {"sample": sample}}) as window:
        window.add_many(some_texts(40))
        stats = window.stats()
    assert (stats.audit.n_compared > 0) == (sample > 0)
    assert ("audit" in stats.seconds) == (sample > 0)


def test_what_goes_wrong_with_a_comparison_fails_no_post(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with window_with(LiveAudit(one_in=1, **EVERYTHING)) as window, caplog.at_level("WARNING", "hybriddup"):
        window.add("the first text, which is compared with nothing")
        index = state_of(window).derived.index
        monkeypatch.setattr(index, "scan_from", lambda *_: 1 / 0)
        assert window.add("a second one, and quite different").kept
        assert window.add("a third, that tells about something else").kept
        assert window.stats().audit == AuditCounts(n_compared=1, n_skipped=2, n_unknown=2)
    assert caplog.messages == ["a sampled post could not be compared: ZeroDivisionError: division by zero"] * 2


def test_nothing_is_sampled_before_the_weights_are_fitted() -> None:
    """Fingerprints change then, and are compared with those of after."""
    with window_with(LiveAudit(one_in=1, **EVERYTHING), "weibo") as window:
        window.add_many(some_texts(30))
        assert window.stats().audit == AuditCounts()


def test_one_of_every_thousand_posts_is_sampled() -> None:
    sampled = np.array(sampled_places(0, 2_000_000, 1000))
    assert (sampled // 1000).tolist() == list(range(2000))
    assert 400 < len(np.unique(sampled % 1000 // 2)) < 500  # of 2,000 random places, 491 of 500 pairs come up
    random, first, cut = Random(5), 0, list[int]()  # noqa: S311
    while first < 2_000_000:
        n_posts = random.choice([1, 256, 5000])
        cut += [first + place for place in sampled_places(first, n_posts, 1000)]
        first += n_posts
    assert cut[:2000] == sampled.tolist()
    assert sampled_places(17, 5, 1) == [0, 1, 2, 3, 4]


@given(st.integers(1, 10**6), st.floats(0, 1))
def test_interval_is_around_the_share(n: int, share: float) -> None:
    n_hits = int(share * n)
    low, high = wilson_interval(n_hits, n)
    assert 0 <= low <= n_hits / n <= high <= 1
    assert low < high
