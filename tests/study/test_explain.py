"""Explaining two texts: the same steps and the same verdict as a run."""

from pathlib import Path
from typing import Any

import pytest

import hybriddup
from hybriddup.errors import ConfigError
from tests.builders import plugin_of
from tests.posts import load_sample

POSTS = [post["text"] for post in load_sample("posts.jsonl")]
NARROW = {"lengths": [{"max_hamming_distance": 12, "verifier": {"use": "edit", "threshold": 0.8}}]}


DROPPING = {"without_text": "drop"}
COSINE = {"lengths": [{"max_hamming_distance": 40, "verifier": {"use": "cosine", "threshold": 0.6}}]}


@pytest.mark.parametrize(
    "config", ["weibo", "twitter", "sms", "headlines", "benchmark", NARROW, DROPPING, COSINE], ids=str
)
def test_corpus_makes_the_explanation_that_of_the_run(config: Any) -> None:
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
    texts = ("今天北京的天气真好，我们去公园走走", "完全是另外一句话，说的是别的事情而已")
    explained = hybriddup.explain(*texts)
    assert not explained.matches
    assert explained.verdict.startswith("B does not repeat A: ")
    assert "learns from its posts" in explained.verdict
    assert "learns from its posts" not in hybriddup.explain(*texts, corpus=POSTS).verdict
    assert "learns from its posts" not in hybriddup.explain(*texts, config={"weighter": {"use": "tf"}}).verdict


NOTICE = (
    "The ferry to the island is cancelled until further notice because of the storm, and everybody who has a ticket "
    "for today gets the money back at the harbor"
)
ENDS = (
    ("copper", "violin", "pepper"), ("marble", "timber", "velvet"), ("window", "market", "garden"),
    ("basket", "harbor", "candle"), ("pillow", "ladder", "mirror"), ("cotton", "button", "saddle"),
    ("bridge", "castle", "feather"), ("hammer", "needle", "thimble"), ("walnut", "cherry", "almond"),
    ("turtle", "rabbit", "pigeon"), ("orange", "purple", "silver"), ("doctor", "lawyer", "farmer"),
)  # fmt: skip
FLOOD = [f"{NOTICE} {one}{two}{three}" for one, two, three in ENDS]
"""Copies of one text, each with a rare end of its own."""
OTHERS = [f"{one} {NOTICE[at : at + 12]} {two}" for at in range(0, len(NOTICE), 6) for one, two, _ in ENDS]
"""Other posts with parts of it, so that all of these are common."""
TWO_KEYS: Any = {"blocks": {"n_shingles": 2, "n_dense_shingles": 2}}
"""So few that copies have none but those of their ends."""


def test_explanation_says_that_a_run_may_not_compare_the_two(tmp_path: Path) -> None:
    posts = FLOOD[:2] + OTHERS
    result = hybriddup.dedupe(posts, config=TWO_KEYS)
    a, b = (posts[row] for row in result.kept[:2])
    alone = hybriddup.explain(a, b, config=TWO_KEYS)
    assert alone.verdict.startswith("B repeats A if a run compares the two: the post score ")
    assert "--recipe" in alone.verdict
    assert not alone.is_certain
    result.recipe.save(tmp_path / "recipe.npz")
    known: list[dict[str, Any]] = [
        {"corpus": posts},
        {"recipe": result.recipe},
        {"recipe": tmp_path / "recipe.npz"},
        {"config": {**TWO_KEYS, "recipe": str(tmp_path / "recipe.npz")}},
    ]
    for options in known:
        explained = hybriddup.explain(a, b, **{"config": TWO_KEYS, **options})
        never = "they share none of the keys by which texts are found, so they are never compared."
        assert explained.verdict.endswith(never)
        assert (explained.matches, explained.is_certain) == (False, True)


def test_explanation_is_certain_where_nothing_is_to_be_learned() -> None:
    a, b = FLOOD[:2]
    scan: Any = {"weighter": {"use": "tf"}, "blocks": {"use": "scan"}}
    assert hybriddup.explain(a, a).is_certain
    assert hybriddup.explain(a, b, config=scan).is_certain
    assert not hybriddup.explain(a, b, config={"blocks": {"use": "scan"}}).is_certain
    refused = hybriddup.explain("今天新增确诊病例12例，累计330例", "今天新增确诊病例15例，累计345例")
    assert "is under the threshold" in refused.verdict
    assert refused.is_certain


def test_score_that_a_run_learns_is_uncertain_without_it() -> None:
    texts = "the ferry is late again today, so take the bus", "the ferry is late again today, so take the train"
    for threshold in (0.3, 0.95):
        config: Any = {"lengths": [{"max_hamming_distance": 60, "verifier": {"use": "cosine", "threshold": threshold}}]}
        alone = hybriddup.explain(*texts, config=config)
        assert not alone.is_certain
        assert "distance, keys and score can differ" in alone.verdict
        result = hybriddup.dedupe([*POSTS, texts[0]], config=config)
        known = hybriddup.explain(*texts, config=config, recipe=result.recipe)
        assert known.is_certain
        assert known.score != alone.score


def test_verdict_on_distance_without_a_corpus_has_the_second_look() -> None:
    narrow: Any = {"lengths": [{"max_hamming_distance": 1, "verifier": {"use": "post", "threshold": 0.5}}]}
    explained = hybriddup.explain(*FLOOD[:2], config=narrow)
    assert explained.verdict.startswith("B does not repeat A: their fingerprints differ in ")
    assert "If a run compares them, B repeats A: the post score " in explained.verdict
    assert not explained.is_certain
    known = hybriddup.explain(*FLOOD[:2], config=narrow, corpus=FLOOD)
    assert known.verdict.endswith("so the texts are not looked at.")
    assert known.is_certain


def test_recipe_of_another_configuration_is_refused() -> None:
    """Its keys would be those of no run."""
    recipe = hybriddup.dedupe(FLOOD).recipe
    with pytest.raises(ConfigError, match="it was learned with another configuration"):
        hybriddup.explain(*FLOOD[:2], config="benchmark", recipe=recipe)


@pytest.mark.parametrize(("a", "b", "reason"), [("", "", "exact"), ("http://a.com/1", "http://b.org/2", "different")])
def test_texts_that_say_nothing_repeat_only_themselves(a: str, b: str, reason: str) -> None:
    def ends_marked(text: str) -> list[str]:
        marked = f"^{text}$"
        return [marked[i : i + 2] for i in range(len(marked) - 1)]

    plugin = plugin_of(lambda registry: registry.add_tokenizer("ends_marked", ends_marked))
    config = {"without_text": "compare", "tokenizer": {"use": "ends_marked"}, **NARROW}
    assert hybriddup.explain(a, b, config=config, plugins=[plugin]).reason == reason
    removed = hybriddup.dedupe([a, b], config=config, plugins=[plugin]).removed
    assert [post.reason for post in removed] == ([] if reason == "different" else [reason])


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
NUMBERS = {"lengths": [{**NARROW["lengths"][0], "max_hamming_distance": 40, "must_agree": ["numbers"]}]}


@pytest.mark.parametrize(
    ("a", "b", "config", "verdict"),
    [
        ("", "  ", {"without_text": "keep"}, "posts without text are all kept."),
        ("", "  ", {"without_text": "drop"}, "posts without text are all left out."),
        ("abcdefgh", "ijklmnop", EVERYTHING, "they share none of the keys by which texts are found"),
        ("see you tomorrow at 5", "see you tomorrow at 6", NUMBERS, "kept apart: numbers 5 / 6"),
    ],
)
def test_verdict_names_what_keeps_a_run_from_removing_one(a: str, b: str, config: Any, verdict: str) -> None:
    explained = hybriddup.explain(a, b, config=config)
    assert verdict in explained.verdict
    assert not explained.matches
    assert list(hybriddup.dedupe([a, b], config=config).removed) == []
