"""Explaining two posts of a run: what the run did with them, and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.config import open_session
from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.errors import HybriddupError, InputError
from hybriddup.steps.blocks import BlockIndex
from hybriddup.study.explain import explain_texts
from hybriddup.study.explanation import KnownRun
from hybriddup.study.known_runs import posts_of_run
from tests.builders import plugin_of
from tests.posts import load_sample

POSTS = [post["text"] for post in load_sample("posts.jsonl")]
FERRY = "the ferry to the island is cancelled because of the storm"


class RareWords(BlockIndex):
    """The words of a text that few others have: copies with an end of their own share none."""

    learns = True

    def __init__(self) -> None:
        self.common = np.zeros(0, np.uint64)

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (the text alone)
        keys = np.full((len(texts), 32), NO_KEY, np.uint64)
        for row, text in enumerate(texts):
            words = np.unique(numbers_of(text))
            words = words[~np.isin(words, self.common)]
            keys[row, : len(words)] = words
        return keys

    def learn(self, texts: Sequence[str]) -> None:
        counts = Counter(number for text in texts for number in set(numbers_of(text).tolist()))
        self.common = np.array([number for number, n in counts.items() if n > 1], np.uint64)

    def learned(self) -> Mapping[str, Any]:
        return {"common": self.common}

    def use_learned(self, learned: Mapping[str, Any]) -> None:
        self.common = learned["common"]


def numbers_of(text: str) -> UInt64s:
    """Return a number for each word."""
    return np.array([int.from_bytes(word.encode()[:7], "big") for word in text.split()], np.uint64)


RARE_WORDS = plugin_of(lambda registry: registry.add_block_index("rare_words", RareWords))
BY_RARE_WORDS: Any = {"blocks": {"use": "rare_words"}, "must_agree": []}


@pytest.mark.parametrize("verifier", ["post", "cosine"])
def test_removed_row_was_compared_with_its_keeper(verifier: str) -> None:
    lengths = [{"max_hamming_distance": 40, "verifier": {"use": verifier, "threshold": 0.6}}]
    result = hybriddup.dedupe(POSTS, config={"lengths": lengths})
    for post in [post for post in result.removed if post.reason == "near"][::5]:
        explained = hybriddup.explain(post.keeper_row, post.row, run=result)
        assert (explained.outcome, explained.is_candidate, explained.is_certain) == ("removed", True, True)
        found = (explained.a.text, explained.b.text, explained.hamming_distance, explained.score)
        assert found == (post.keeper_text, post.text, post.hamming_distance, pytest.approx(post.score))
        assert explained.keys_in_common > 0
        assert hybriddup.explain(post.row, post.keeper_row, run=result) == explained


def test_row_removed_for_another_one_is_explained_with_its_keeper() -> None:
    """And two rows that were both removed were never compared: posts are compared with kept ones."""
    result = hybriddup.dedupe([FERRY, f"{FERRY}!", f"{FERRY} today", "nothing like it at all"])
    assert result.labels.tolist() == [0, 0, 0, 3]
    other = hybriddup.explain(3, 2, run=result)
    assert (other.outcome, other.reason) == ("other", "different")
    assert other.verdict.endswith("The run removed B as a repeat of row 0.")
    both = hybriddup.explain(1, 2, run=result)
    assert (both.outcome, both.matches, both.is_candidate) == ("other", False, False)
    assert "the run removed A as a repeat of row 0, and posts are compared with kept posts only" in both.verdict


def test_kept_rows_that_share_no_key_were_never_compared() -> None:
    posts = [f"{FERRY} {end}" for end in ("copper", "marble", "window")]
    result = hybriddup.dedupe(posts, config=BY_RARE_WORDS, plugins=[RARE_WORDS])
    assert result.kept == [0, 1, 2]
    explained = hybriddup.explain(0, 1, run=result)
    assert (explained.outcome, explained.is_candidate, explained.shared_keys) == ("kept", False, [])
    assert "they share none of the keys" in explained.verdict
    assert ("candidate", "no, they share no key") in explained.facts()
    far = hybriddup.explain("这是一句话，说的是天气很好", "Something else entirely", corpus=posts).verdict
    assert "share none of the keys by which texts are found, and their fingerprints differ in" in far


def test_without_what_a_run_learned_it_may_not_look_at_the_pair() -> None:
    """Which the verdict says; whether they are candidates is not known, and which keys they could share is."""
    posts = [f"{FERRY} {end}" for end in ("today", "again")]
    explained = hybriddup.explain(*posts, config=BY_RARE_WORDS, plugins=[RARE_WORDS])
    assert (explained.outcome, explained.is_candidate, explained.is_certain) == (None, None, False)
    assert "A run might not compare this pair." in explained.verdict
    assert ("candidate", "not known: a run might not compare this pair") in explained.facts()
    assert {"ferry", "island", "the"} < set(explained.shared_keys)


def test_repeats_that_the_run_kept_were_not_verified() -> None:
    """By its own keys they are candidates, so that a limit cut its search short."""
    settings, manager = open_session("posts")
    posts = [FERRY, f"{FERRY} today"]
    explained = explain_texts(*posts, settings, manager.registry, posts, run=KnownRun("kept"))
    assert (explained.outcome, explained.is_candidate, explained.matches) == ("kept", True, True)
    assert "The run kept both, so it did not verify this pair. If very many posts share keys" in explained.verdict
    unknown = explain_texts(*posts, settings, manager.registry, run=KnownRun("kept"))
    assert "The run kept both, so it did not verify this pair. A run learns from its posts" in unknown.verdict


def test_rows_of_two_scopes_are_never_compared() -> None:
    posts = [{"text": FERRY, "user": user} for user in ("ann", "bo", "ann")]
    result = hybriddup.dedupe(posts, per="user")
    explained = hybriddup.explain(0, 1, run=result)
    assert (explained.outcome, explained.matches, explained.is_candidate) == ("kept", False, False)
    assert "user is 'ann' and 'bo', and the run compared only posts with the same user" in explained.verdict
    assert hybriddup.explain(0, 2, run=result).reason == "exact"


def test_rows_of_a_run_against_another_corpus_are_its_own() -> None:
    result = hybriddup.dedupe([FERRY, "nothing like it at all"], against=["no repeat of anything", f"{FERRY}!"])
    explained = hybriddup.explain(1, 0, run=result)
    assert (explained.a.text, explained.b.text) == ("nothing like it at all", FERRY)
    assert explained.verdict.endswith("The run removed B as a repeat of a post of another corpus.")


@pytest.mark.parametrize("row", [3, -1, True, "text", 1.0, None], ids=str)
def test_what_is_no_row_of_the_run_is_refused(row: Any) -> None:
    """Also a post without text that was left out."""
    result = hybriddup.dedupe([FERRY, "", "nothing like it at all"], config={"without_text": "drop"})
    for wrong in (row, 1):
        with pytest.raises(InputError, match="b must be a row of the run with a post, 0 to 2; got"):
            hybriddup.explain(0, wrong, run=result)


def test_result_brings_its_own_configuration() -> None:
    """One beside it could only contradict it, and a result that no run made has none."""
    result = hybriddup.dedupe([FERRY, f"{FERRY}!"], config="twitter")
    assert hybriddup.explain(0, 1, run=result).recipe_id == result.summary.recipe_id
    with pytest.raises(InputError, match="must be left out with run"):
        hybriddup.explain(0, 1, run=result, config="twitter")
    with pytest.raises(HybriddupError, match="not made by a run"):
        posts_of_run(replace(result, origin=None), 0, 1)
