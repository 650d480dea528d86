"""The guarantee of every run: what was removed matches a post that was kept, by its own score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from rapidfuzz.distance import Indel, LCSseq, Levenshtein

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.config.read import shipped_names
from hybriddup.config.settings import LengthBand, Settings
from hybriddup.records import Removed
from hybriddup.result import Result
from tests.posts import generated_posts, load_sample

SAMPLE = [post["text"] for post in load_sample("posts.jsonl")]
GENERATED = generated_posts(3, 1500)
CORPORA = {"samples": SAMPLE, "generated": GENERATED}
BY_EDITS = ["benchmark", "headlines", "sms", "twitter", "weibo"]
"""Configurations whose pairs are judged by the edit similarity."""

corpora = pytest.mark.parametrize("corpus", CORPORA)


@cache
def run(config: str, corpus: str) -> Result:
    """A run over one of the corpora under a shipped configuration."""
    return hybriddup.dedupe(CORPORA[corpus], config=config)


@cache
def settings_of(config: str) -> Settings:
    """The resolved settings of a shipped configuration."""
    return open_session(config, entry_points=False)[0]


def normalized(config: Any, texts: Sequence[str]) -> list[str]:
    """The texts as the verifier saw them."""
    settings, manager = open_session(config, entry_points=False)
    return list(manager.registry.create("normalizer", settings.normalizer).normalize_batch(list(texts)))


def compared(config: Any, posts: Sequence[str], removed: Sequence[Removed]) -> list[tuple[str, str]]:
    """Each removed post and its keeper, normalized."""
    later = normalized(config, [posts[post.row] for post in removed])
    earlier = normalized(config, [posts[post.keeper_row] for post in removed])
    return list(zip(earlier, later, strict=True))


@corpora
@pytest.mark.parametrize("config", shipped_names())
def test_keeper_of_every_removed_post_is_kept(config: str, corpus: str) -> None:
    """Nothing is lost by chains."""
    result = run(config, corpus)
    assert result.removed
    assert {post.keeper_row for post in result.removed} <= set(result.kept)


@corpora
@pytest.mark.parametrize("config", shipped_names())
def test_keeper_of_every_removed_post_comes_before_it(config: str, corpus: str) -> None:
    """Posts are decided in input order."""
    assert all(post.keeper_row < post.row for post in run(config, corpus).removed)


def score_anew(verifier: dict[str, Any], a: str, b: str) -> float:
    """The score of a verifier as a configuration writes it, by rapidfuzz alone."""
    if verifier["use"] == "lcs":
        lengths = (len(a), len(b))
        total = min(lengths) if verifier["relative_to"] == "shorter" else max(lengths)
        return LCSseq.similarity(a, b) / total
    scorer = {"indel": Indel, "levenshtein": Levenshtein}[verifier.get("distance", "indel")]
    return scorer.normalized_similarity(a, b)


def band_of(config: str, a: str, b: str) -> tuple[int, LengthBand]:
    """The length band of the shorter text, with the shortest length that belongs to it."""
    shorter = min(len(a), len(b))
    return next(item for item in settings_of(config).bands() if item[1].up_to is None or shorter <= item[1].up_to)


def verifiers_of(config: str, a: str, b: str) -> list[dict[str, Any]]:
    """The verifiers that must all accept a pair, as the configuration writes them, by the shorter text."""
    _, band = band_of(config, a, b)
    assert band.verifier is not None
    written = band.verifier.to_dict()
    assert "any" not in written
    return written.get("all", [written])


@corpora
@pytest.mark.parametrize("config", BY_EDITS)
def test_reported_score_is_that_of_rapidfuzz(config: str, corpus: str) -> None:
    """Computed anew from the two texts alone, for every near removal, for the verifier that it names."""
    near = [post for post in run(config, corpus).removed if post.reason == "near"]
    assert near
    for post, (a, b) in zip(near, compared(config, CORPORA[corpus], near), strict=True):
        anew = {(v["use"], v["threshold"]): score_anew(v, a, b) for v in verifiers_of(config, a, b)}
        assert anew[post.verifier, post.threshold] == pytest.approx(post.score, abs=1e-12)


@corpora
@pytest.mark.parametrize("config", BY_EDITS)
def test_every_removed_post_reaches_every_threshold_of_its_length(config: str, corpus: str) -> None:
    """By scores computed anew; where verifiers are combined by ``all``, by each of them."""
    removed = run(config, corpus).removed
    for post, (a, b) in zip(removed, compared(config, CORPORA[corpus], removed), strict=True):
        if post.reason == "near":
            assert all(score_anew(v, a, b) >= v["threshold"] - 1e-12 for v in verifiers_of(config, a, b))
            assert post.score >= post.threshold


@corpora
@pytest.mark.parametrize("config", shipped_names())
def test_exact_repeats_are_equal_after_normalizing(config: str, corpus: str) -> None:
    """And only they are called exact."""
    removed = run(config, corpus).removed
    for post, (a, b) in zip(removed, compared(config, CORPORA[corpus], removed), strict=True):
        assert (a == b) == (post.reason == "exact")


@corpora
@pytest.mark.parametrize("config", shipped_names())
def test_band_is_that_of_the_shorter_text(config: str, corpus: str) -> None:
    """And its Hamming limit holds."""
    removed = run(config, corpus).removed
    for post, (a, b) in zip(removed, compared(config, CORPORA[corpus], removed), strict=True):
        lower, band = band_of(config, a, b)
        assert post.length_band == band.name(lower)
        if post.reason == "near":
            assert band.max_hamming_distance is not None
            assert post.hamming_distance <= band.max_hamming_distance


@corpora
def test_reported_distance_is_that_of_the_fingerprints(corpus: str) -> None:
    """Of weights that learn nothing, so that the two texts alone have the fingerprints that they had in the run."""
    config = {"weighter": {"use": "tf"}}
    posts = CORPORA[corpus]
    removed = [post for post in hybriddup.dedupe(posts, config=config).removed if post.reason == "near"][::7]
    for post in removed:
        bits = hybriddup.fingerprint([posts[post.row], posts[post.keeper_row]], config=config)
        assert int(np.bitwise_count(bits[0] ^ bits[1]).sum()) == post.hamming_distance


def test_levenshtein_scores_are_those_of_rapidfuzz() -> None:
    """The other edit distance."""
    band = {"max_hamming_distance": 40, "verifier": {"use": "edit", "distance": "levenshtein", "threshold": 0.8}}
    config = {"lengths": [band]}
    near = [post for post in hybriddup.dedupe(SAMPLE, config=config).removed if post.reason == "near"]
    assert near
    for post, (a, b) in zip(near, compared(config, SAMPLE, near), strict=True):
        assert Levenshtein.normalized_similarity(a, b) == pytest.approx(post.score, abs=1e-12)


@pytest.mark.parametrize("keep", ["last", "longest"])
def test_keepers_are_kept_under_every_policy(keep: str) -> None:
    """Policies change the order, not the rule."""
    result = hybriddup.dedupe(GENERATED, config={"keep": keep})
    assert {post.keeper_row for post in result.removed} <= set(result.kept)


def test_chain_does_not_drag_posts_along() -> None:
    """A matches B, B matches C, A does not match C: B goes, C stays, for no kept post matches it."""
    base = "今天早上九点我们在学校门口集合一起坐车去海边"
    chain = [base, base[:16] + "出发去看海边", base[:10] + "大门口等你出发去看海边"]
    scores = [Indel.normalized_similarity(chain[a], chain[b]) for a, b in ((0, 1), (1, 2), (0, 2))]
    assert min(scores[:2]) >= 0.8 > scores[2]
    band = {"max_hamming_distance": 60, "verifier": {"use": "edit", "threshold": 0.8}}
    assert hybriddup.dedupe(chain, config={"lengths": [band]}).kept == [0, 2]


@pytest.mark.parametrize(
    ("posts", "expected"),
    [
        (["abcdefgh", "abcdefghijkl"], [0]),
        (["abcdefgh", "abcdefghijklm"], [0, 1]),
    ],
)
def test_pair_exactly_on_the_threshold_is_removed(posts: list[str], expected: list[int]) -> None:
    """8 of 12 characters are exactly .8; from end to end, where rapidfuzz with a cutoff says 0."""
    band = {"max_hamming_distance": 100, "verifier": {"use": "edit", "threshold": 0.8}}
    assert hybriddup.dedupe(posts, config={"lengths": [band]}).kept == expected


# --- pairs that every short-text configuration must find ---

SIMPLIFIED = ["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"]
TRADITIONAL = ["你媽媽喊你回家吃飯哦，回家囉回家囉", "你媽媽叫你回家吃飯啦，回家囉回家囉"]


@pytest.mark.parametrize("pair", [SIMPLIFIED, TRADITIONAL], ids=["simplified", "traditional"])
@pytest.mark.parametrize("config", ["headlines", "sms", "twitter", "weibo"])
def test_sentences_of_the_design_are_duplicates(config: str, pair: list[str]) -> None:
    """15 of 17 characters in common, a score of .882; in both character sets."""
    assert hybriddup.dedupe(pair, config=config).kept == [0]


@pytest.mark.parametrize("config", BY_EDITS)
def test_text_between_its_own_copies_is_found_again(config: str) -> None:
    """Equal fingerprints are paired, however many share them."""
    text = "明天早上九点在学校门口集合，请带好水和午饭"
    posts = [text, *(text + "！" * i for i in range(1, 4)), text]
    result = hybriddup.dedupe(posts, config=config)
    assert result.kept == [0]
