"""Nothing is merged by accident: empty texts, emoji, texts without tokens, fingerprints that say nothing."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.config.load import open_session
from hybriddup.config.read import shipped_names
from hybriddup.records import Tokens
from hybriddup.result import Result

LENIENT = {"lengths": [{"max_hamming_distance": 44, "verifier": {"use": "edit", "threshold": 0.8}}]}
"""Near repeats at every length, so that no band of exact repeats hides an accident."""

SAYING_NOTHING = [
    "",
    " ",
    "\u3000",
    "\u200b",
    "!",
    "？",
    "。。。",
    "...",
    "——",
    "http://t.cn/abc",
    "@someone ",
    "转发微博",
]
EMOJI_ONLY = ["😀", "🎉", "👍👍", "☔", "❤️", "🇨🇳", "🇯🇵", "👨‍👩‍👧‍👦", "😀🎉👍☔"]
TOO_SHORT = ["a", "b", "ab", "cd", "好", "坏", "1", "2", "é", "ñ"]

TOKENIZERS: dict[str, dict[str, Any]] = {
    "short n-grams": {"use": "char_ngrams", "cjk": [1, 2], "other": [2, 3]},
    "long n-grams": {"use": "char_ngrams", "cjk": [4, 4], "other": [5, 5]},
    "words": {"use": "words"},
    "jieba": {"use": "jieba"},
}


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.parametrize("texts", [SAYING_NOTHING, EMOJI_ONLY, TOO_SHORT], ids=["nothing", "emoji", "short"])
def test_texts_that_differ_are_not_merged_by_accident(texts: list[str], tokenizer: str) -> None:
    """Empty after normalizing, emoji only, shorter than the n-gram, without any token: each stays."""
    config = {**LENIENT, "tokenizer": TOKENIZERS[tokenizer]}
    assert hybriddup.dedupe(texts, config=config).kept == list(range(len(texts)))


@pytest.mark.parametrize("config", shipped_names())
@pytest.mark.parametrize("texts", [SAYING_NOTHING, EMOJI_ONLY, TOO_SHORT], ids=["nothing", "emoji", "short"])
def test_shipped_configurations_merge_nothing_by_accident(texts: list[str], config: str) -> None:
    """The same under each of them."""
    assert hybriddup.dedupe(texts, config=config).kept == list(range(len(texts)))


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
def test_texts_that_say_nothing_repeat_what_is_equal_as_written(tokenizer: str) -> None:
    """Twice the same is an exact repeat, whatever it says."""
    texts = [*SAYING_NOTHING, *SAYING_NOTHING]
    result = hybriddup.dedupe(texts, config={**LENIENT, "tokenizer": TOKENIZERS[tokenizer]})
    n = len(SAYING_NOTHING)
    assert [(post.row, post.keeper_row, post.reason) for post in result.removed] == [
        (row + n, row, "exact") for row in range(n)
    ]


def test_punctuation_equal_after_normalizing_is_no_repeat_without_tokens() -> None:
    """``words`` finds no token in it, so that only what was written counts."""
    texts = ["？！", "?!", "？！"]
    config = {"tokenizer": {"use": "words"}}
    settings, manager = open_session(config, entry_points=False)
    normalizer = manager.registry.create("normalizer", settings.normalizer)
    assert len(set(normalizer.normalize_batch(texts))) == 1
    assert hybriddup.dedupe(texts, config=config).kept == [0, 1]


def test_empty_text_says_nothing_whatever_a_tokenizer_makes_of_it() -> None:
    """One that marks the ends of a text gives the empty text a token, which is none of its own."""
    plugin = types.ModuleType("ends_marked")

    @hybriddup.hookimpl
    def hybriddup_register(registry: Any) -> None:
        registry.add_tokenizer("ends_marked", lambda text: ["<", *text, ">"])

    plugin.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    config = {**LENIENT, "tokenizer": {"use": "ends_marked"}}
    assert hybriddup.dedupe(["", " ", "\u3000", ""], config=config, plugins=[plugin]).kept == [0, 1, 2]


def constant_hasher(value: int) -> Any:
    """A plugin whose hasher gives every token the same bits."""

    class Constant:
        def hash_batch(self, tokens: Tokens, words: int) -> np.ndarray:
            return np.full((len(tokens.starts), words), value, np.uint64)

    plugin = types.ModuleType("constant_hasher")

    @hybriddup.hookimpl
    def hybriddup_register(registry: Any) -> None:
        registry.add_hasher("constant", Constant())

    plugin.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    return plugin


def hamming_only(value: int) -> Result:
    """A run in which every fingerprint is the same and only fingerprints are looked at."""
    band = {"max_hamming_distance": 3, "verifier": {"use": "hamming", "threshold": 0.9}}
    config = {"hasher": {"use": "constant"}, "lengths": [band]}
    return hybriddup.dedupe(["今天天气真好", "明天下雨吗"], config=config, plugins=[constant_hasher(value)])


def test_all_zero_fingerprint_is_never_a_reason() -> None:
    """Not even where nothing but fingerprints is compared."""
    assert hamming_only(0).kept == [0, 1]


def test_equal_fingerprints_that_say_something_are_a_reason() -> None:
    """The same run with a single bit set."""
    assert hamming_only(1).kept == [0]
