"""The `char_ngrams` tokenizer: its options, and texts that other tools make vanish."""

from __future__ import annotations

import pickle

import pytest

from hybriddup.config import load_settings
from hybriddup.errors import ConfigError
from hybriddup.steps.tokenizers.char_ngrams import CharNgrams


def tokenize(texts: list[str], **sizes: tuple[int, int]) -> list[list[str]]:
    """The tokens of each text."""
    tokens = CharNgrams(CharNgrams.Options.model_validate(sizes)).tokenize_batch(texts)
    return [tokens.strings(text) for text in range(tokens.n_texts)]


def test_chinese_is_not_one_token() -> None:
    """Without spaces, characters and pairs of characters are the tokens."""
    assert tokenize(["喊你回"], cjk=(1, 2)) == [["喊", "你", "回", "喊你", "你回"]]


def test_latin_is_cut_into_longer_ngrams() -> None:
    """Spaces and punctuation belong to the text."""
    assert tokenize(["a cat"], other=(3, 4)) == [["a c", " ca", "cat", "a ca", " cat"]]


@pytest.mark.parametrize("text", ["a", "好", "ab", "😀", "7"])
def test_text_shorter_than_the_ngram_keeps_a_token_of_its_own(text: str) -> None:
    """Texts without tokens would all be alike."""
    assert tokenize([text], cjk=(2, 3), other=(3, 4)) == [[text]]


def test_emoji_are_tokens() -> None:
    """Emoji-only posts have something to tell them apart by."""
    assert tokenize(["😀🎉"], cjk=(1, 1)) == [["😀", "🎉"]]


def test_lone_surrogate_is_a_character_like_others() -> None:
    """Half of a pair that was cut in two neither fails nor changes."""
    assert tokenize(["\ud83d"], other=(1, 1)) == [["\ud83d"]]


@pytest.mark.parametrize("texts", [[], [""], ["", ""]])
def test_nothing_gives_no_tokens(texts: list[str]) -> None:
    """No texts, and empty ones."""
    assert tokenize(texts) == [[]] * len(texts)


def test_tokenizer_survives_pickling() -> None:
    """Workers get a copy that does the same."""
    tokenizer = CharNgrams(CharNgrams.Options(cjk=(1, 3), other=(2, 2)))
    copy = pickle.loads(pickle.dumps(tokenizer))  # noqa: S301  we made it
    assert copy.tokenize_batch(["猫狗 cat"]).strings(0) == tokenizer.tokenize_batch(["猫狗 cat"]).strings(0)


@pytest.mark.parametrize("sizes", [[2, 1], [0, 1], [1, 17], [1]])
def test_sizes_that_make_no_sense_are_refused(sizes: list[int]) -> None:
    """With the key that is wrong."""
    with pytest.raises(ConfigError, match=r"tokenizer\.other"):
        load_settings({"tokenizer": {"other": sizes}})
