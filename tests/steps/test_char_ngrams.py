"""The `char_ngrams` tokenizer: its options, and texts that other tools make vanish."""

import pytest

from hybriddup.config import load_settings
from hybriddup.errors import ConfigError
from hybriddup.steps.tokenizers.char_ngrams import CharNgrams


def tokenize(texts: list[str], **sizes: tuple[int, int]) -> list[list[str]]:
    tokens = CharNgrams(CharNgrams.Options.model_validate(sizes)).tokenize_batch(texts)
    return [tokens.strings(text) for text in range(tokens.n_texts)]


def test_chinese_is_not_one_token() -> None:
    assert tokenize(["喊你回"], cjk=(1, 2)) == [["喊", "你", "回", "喊你", "你回"]]


def test_latin_is_cut_into_longer_ngrams() -> None:
    assert tokenize(["a cat"], other=(3, 4)) == [["a c", " ca", "cat", "a ca", " cat"]]


@pytest.mark.parametrize("sizes", [[2, 1], [0, 1], [1, 17], [1]])
def test_sizes_that_make_no_sense_are_refused(sizes: list[int]) -> None:
    with pytest.raises(ConfigError, match=r"tokenizer\.other"):
        load_settings({"tokenizer": {"other": sizes}})
