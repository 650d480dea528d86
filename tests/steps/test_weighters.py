"""Weighters against their formulas, computed by hand or in plain Python."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.config import load_settings
from hybriddup.data.records import tokens_from_lists
from hybriddup.errors import ConfigError
from hybriddup.steps.hashers import Md5, Xxh3
from hybriddup.steps.weighters import Levels, TermFrequency, TfIdf, Uniform, Weighter, begin_with_keys

token_lists = st.lists(
    st.lists(st.sampled_from(["猫", "狗", "鸟", "cat", "dog", "一二三四五六"]), max_size=6), max_size=8
)


def weights_of(weighter: Weighter, texts: list[list[str]]) -> list[list[float]]:
    tokens = tokens_from_lists(texts)
    weights = weighter.weigh_batch(tokens)
    assert weights.dtype == np.float32
    return [weights[a:b].tolist() for a, b in zip(tokens.offsets[:-1], tokens.offsets[1:], strict=True)]


def make_tfidf(**options: object) -> TfIdf:
    return TfIdf(TfIdf.Options.model_validate(options))


@given(token_lists)
def test_term_frequency_weighs_every_occurrence_one(texts: list[list[str]]) -> None:
    """So that a token pulls as often as it stands in the text."""
    assert weights_of(TermFrequency(), texts) == [[1.0] * len(tokens) for tokens in texts]


@given(token_lists)
def test_uniform_weight_of_a_token_in_a_text_is_one(texts: list[list[str]]) -> None:
    expected = [[np.float32(1 / Counter(tokens)[token]) for token in tokens] for tokens in texts]
    assert weights_of(Uniform(), texts) == expected


@given(token_lists.filter(len), token_lists)
def test_tfidf_equals_its_formula(sample: list[list[str]], texts: list[list[str]]) -> None:
    weighter = make_tfidf(clip=[0.5, 1.5], other=None)
    weighter.fit(tokens_from_lists(sample))
    n_with = Counter(token for tokens in sample for token in set(tokens))

    def weigh(token: str) -> np.float32:
        frequency = math.log(len(sample) / n_with[token]) if n_with[token] else math.inf
        return np.float32(min(max(frequency, 0.5), 1.5))

    assert weights_of(weighter, texts) == [[pytest.approx(weigh(token)) for token in tokens] for tokens in texts]


def test_tfidf_gives_tokens_with_letters_one_weight() -> None:
    weighter = make_tfidf(clip=[2, 5], other=3.5)
    weighter.fit(tokens_from_lists([["cat", "猫"]] * 10))
    assert weights_of(weighter, [["cat", "dog", "猫", "狗"]]) == [[3.5, 3.5, 2.0, 5.0]]


@given(token_lists.filter(len), token_lists)
def test_levels_equal_their_formula(sample: list[list[str]], texts: list[list[str]]) -> None:
    weighter = Levels()
    weighter.fit(tokens_from_lists(sample))
    n_with = Counter(token for tokens in sample for token in set(tokens))

    def level(token: str) -> float:
        if n_with[token] == 0:
            return 5.0
        share = math.log(len(sample) / n_with[token]) / math.log(max(len(sample), 2))
        return float(min(max(math.ceil(share * 5), 1), 5))

    assert weights_of(weighter, texts) == [[level(token) for token in tokens] for tokens in texts]


@pytest.mark.parametrize("weighter", [make_tfidf(), Levels()], ids=["tfidf", "levels"])
def test_empty_sample_can_be_fitted(weighter: Weighter) -> None:
    weighter.fit(tokens_from_lists([]))
    assert weights_of(weighter, [["猫"]]) == [[5.0]]


@pytest.mark.parametrize("weighter", [make_tfidf(), Levels()], ids=["tfidf", "levels"])
def test_weighing_before_fitting_is_an_error(weighter: Weighter) -> None:
    """A weight made up would be a fingerprint made up."""
    with pytest.raises(RuntimeError, match="fit must be called before"):
        weighter.weigh_batch(tokens_from_lists([["猫"]]))


def test_recipe_tells_fitted_tables_apart() -> None:
    texts = [["猫", "狗"], ["狗"], ["鸟", "猫"], ["狗"]] * 20
    recipes = []
    for sample in (texts, texts[::-1], [["猫"]] * 50):
        weighter = make_tfidf(clip=[0.1, 5])
        weighter.fit(tokens_from_lists(sample))
        recipes.append(weighter.recipe())
    assert recipes[0] == recipes[1] != recipes[2]


@pytest.mark.parametrize("clip", [[5, 2], [0, 5], [2, 1001], [-1, 5]])
def test_clip_that_makes_no_sense_is_refused(clip: list[float]) -> None:
    with pytest.raises(ConfigError, match=r"weighter\.clip"):
        load_settings({"weighter": {"clip": clip}})


@given(token_lists, st.integers(1, 4))
def test_tokens_are_known_by_their_hashes_as_by_themselves(texts: list[list[str]], words: int) -> None:
    """Where the hasher's first word is what the weighter would make of a token."""
    weighter, tokens = make_tfidf(), tokens_from_lists(texts)
    weighter.fit(tokens_from_lists([["猫", "cat"], ["猫"], ["狗"], ["鸟", "一二三四五六"]]))
    hasher = Xxh3(Xxh3.Options())
    assert begin_with_keys(hasher)
    hashes = hasher.hash_batch(tokens, words)
    assert weighter.weigh_keys(tokens, hashes).tolist() == weighter.weigh_batch(tokens).tolist()


def test_other_hashes_are_no_keys() -> None:
    class Derived(Xxh3):
        pass

    hashers = (Xxh3(Xxh3.Options(seed=1)), Md5(), Derived(Xxh3.Options()))
    assert list(map(begin_with_keys, hashers)) == [False, False, False]
