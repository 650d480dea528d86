"""Exact repeats: equal after normalizing, but texts that say nothing any more equal only what they were."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.steps.exact import EqualTexts, find_equal_texts, part_without_tokens

raw_texts = st.lists(st.sampled_from(["a", "A", "b", "!", "！", " ", "", "\ud800", "猫"]), max_size=12)


def fold(text: str) -> str:
    """A normalizer in one line: case, width of the exclamation mark and white space go."""
    return text.lower().replace("！", "!").strip()


def plain_firsts(keys: list[tuple[str, str]]) -> list[int]:
    """The first place of each key, by looking through the list."""
    return [keys.index(key) for key in keys]


@given(raw_texts)
def test_first_equal_text_is_found(raw: list[str]) -> None:
    normalized = [fold(text) for text in raw]
    keys = [(text, "" if text else before) for text, before in zip(normalized, raw, strict=True)]
    equal = find_equal_texts(normalized, raw)
    assert equal.first_of.tolist() == plain_firsts(keys)
    assert equal.distinct.tolist() == sorted(set(plain_firsts(keys)))


@given(raw_texts)
def test_texts_without_tokens_are_parted_by_what_they_were(raw: list[str]) -> None:
    normalized = [fold(text) for text in raw]
    equal = find_equal_texts(normalized, raw)
    has_tokens = np.array([normalized[place].isalnum() for place in equal.distinct], np.bool_)
    parted = part_without_tokens(equal, has_tokens, raw)
    keys = [(text, "" if text.isalnum() else before) for text, before in zip(normalized, raw, strict=True)]
    assert parted.first_of.tolist() == plain_firsts(keys)
    assert parted.distinct.tolist() == sorted(set(plain_firsts(keys)))


def test_nothing_is_parted_where_every_text_has_tokens() -> None:
    equal = EqualTexts.of(np.array([0, 0, 2]))
    assert part_without_tokens(equal, np.array([True, True]), ["a", "A", "b"]) is equal
