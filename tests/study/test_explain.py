"""Explaining two texts: the same steps and the same verdict as a run."""

from __future__ import annotations

from typing import Any

import pytest

import hybriddup
from tests.builders import plugin_of
from tests.posts import load_sample

POSTS = [post["text"] for post in load_sample("posts.jsonl")]
NARROW = {"lengths": [{"max_hamming_distance": 12, "verifier": {"use": "edit", "threshold": 0.8}}]}


DROPPING = {"without_text": "drop"}


@pytest.mark.parametrize("config", ["weibo", "twitter", "sms", "headlines", "benchmark", NARROW, DROPPING], ids=str)
def test_corpus_makes_the_explanation_that_of_the_run(config: Any) -> None:
    """With the texts of the run, weights, distance, score and band are those by which each post was removed."""
    removed = hybriddup.dedupe(POSTS, config=config).removed
    near = [post for post in removed if post.reason == "near"]
    for post in near[:: max(len(near) // 15, 1)]:
        explained = hybriddup.explain(POSTS[post.keeper_row], post.text, config=config, corpus=POSTS)
        found = (explained.hamming_distance, explained.verifier, explained.score, explained.length_band)
        assert (explained.reason, explained.threshold) == ("near", post.threshold)
        assert found == (post.hamming_distance, post.verifier, pytest.approx(post.score), post.length_band)
    exact = next(post for post in removed if post.reason == "exact" and post.text)
    assert hybriddup.explain(POSTS[exact.keeper_row], exact.text, config=config).reason == "exact"


def test_verdict_on_distance_without_a_corpus_is_cautious() -> None:
    """A run, whose weights are fitted, can come to another distance."""
    texts = ("今天北京的天气真好，我们去公园走走", "完全是另外一句话，说的是别的事情而已")
    explained = hybriddup.explain(*texts)
    assert not explained.matches
    assert explained.verdict.startswith("B does not repeat A: ")
    assert "Without a corpus" in explained.verdict
    assert "Without a corpus" not in hybriddup.explain(*texts, corpus=POSTS).verdict
    assert "Without a corpus" not in hybriddup.explain(*texts, config={"weighter": {"use": "tf"}}).verdict


@pytest.mark.parametrize(("a", "b", "reason"), [("", "", "exact"), ("http://a.com/1", "http://b.org/2", "different")])
def test_texts_that_say_nothing_repeat_only_themselves(a: str, b: str, reason: str) -> None:
    """Also for a tokenizer that finds tokens in an empty text."""

    def ends_marked(text: str) -> list[str]:
        marked = f"^{text}$"
        return [marked[i : i + 2] for i in range(len(marked) - 1)]

    plugin = plugin_of(lambda registry: registry.add_tokenizer("ends_marked", ends_marked))
    config = {"without_text": "compare", "tokenizer": {"use": "ends_marked"}, **NARROW}
    assert hybriddup.explain(a, b, config=config, plugins=[plugin]).reason == reason
    assert [post.reason for post in hybriddup.dedupe([a, b], config=config, plugins=[plugin]).removed] == (
        [] if reason == "different" else [reason]
    )


def test_score_under_the_threshold_is_told_as_it_is() -> None:
    """Not as any number that is low enough to refuse."""
    explained = hybriddup.explain("abcdefghij" * 2, "abcdefghijklmnopqrst", config=NARROW)
    assert explained.score == pytest.approx(0.5)
    assert not explained.matches


EVERYTHING = {
    "fingerprint": {"bits": 64},
    "blocks": {"use": "shingles"},
    "lengths": [{"max_hamming_distance": 63, "verifier": {"use": "edit", "threshold": 0.0}}],
}
NUMBERS = {"lengths": [{**NARROW["lengths"][0], "max_hamming_distance": 40, "numbers_must_match": True}]}


@pytest.mark.parametrize(
    ("a", "b", "config", "verdict"),
    [
        ("", "  ", {"without_text": "keep"}, "posts without text are all kept."),
        ("", "  ", {"without_text": "drop"}, "posts without text are all left out."),
        ("abcdefgh", "ijklmnop", EVERYTHING, "they share none of the keys by which texts are found"),
        ("see you tomorrow at 5", "see you tomorrow at 6", NUMBERS, "their numbers differ, and numbers_must_match"),
    ],
)
def test_verdict_names_what_keeps_a_run_from_removing_one(a: str, b: str, config: Any, verdict: str) -> None:
    """Whatever the verifier would say."""
    explained = hybriddup.explain(a, b, config=config)
    assert verdict in explained.verdict
    assert not explained.matches
    assert list(hybriddup.dedupe([a, b], config=config).removed) == []
