"""Fingerprints and keys are made of words: emoji, links and mentions count only where there is nothing else."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hybriddup
from hybriddup.steps.posts.parts import words_of

PARTS = (
    "we won", "赢了", "#final", "👍🏽", "🇮🇪", "[太阳]", "https://t.co/a1", "@ann", "12", "!", "(", "https", "[1]", "h",
    "a@b.de",
)  # fmt: skip


@pytest.mark.parametrize(
    ("post", "words"),
    [
        ("what a day 🎉🎉", "what a day"),
        ("🇮🇪 lets go conor 👊🏻 #fight", "lets go conor #fight"),
        ("thanks @ann for the lift", "thanks for the lift"),
        ("今天[太阳]真好", "今天真好"),
        ("new post: https://t.co/a1", "new post:"),
        ("#final 🎉", "#final"),
        ("12 🎉", "12"),
        ("🎉 @ann https://t.co/a1", "🎉 @ann https://t.co/a1"),
        ("🎉!", "🎉!"),
        ("[1] hand, http and @ alone", "[1] hand, http and @ alone"),
        ("", ""),
    ],
)
def test_words_are_left(post: str, words: str) -> None:
    assert words_of([post]) == [words]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map(" ".join), max_size=5))
def test_posts_do_not_depend_on_one_another(posts: list[str]) -> None:
    words = list(words_of(posts))
    assert words == [words_of([post])[0] for post in posts]
    assert list(words_of(words)) == words


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Let's go Conor 🇮🇪👊🏻🇮🇪 #MayweatherMcGregor", "Let's go Conor 💪🏼💪🏼💪🏼 #MayweatherMcGregor"),
        ("早安 [太阳][太阳] #日常#", "早安 😊😊😊 #日常#"),
        ("New post on my blog: https://example.org/2024/some-long-title", "New post on my blog:"),
        ("thanks @ann_from_the_office for the lift home", "thanks @bo for the lift home"),
    ],
)
def test_what_is_not_a_word_takes_no_part_in_a_fingerprint(a: str, b: str) -> None:
    """Nor in keys, so that short posts with other emoji are candidates; what is decided is up to the verifier."""
    bits = hybriddup.fingerprint([a, b])
    explained = hybriddup.explain(a, b)
    assert np.array_equal(bits[0], bits[1])
    assert (explained.hamming_distance, explained.keys_in_common) == (0, explained.n_keys)


@pytest.mark.parametrize("config", ["benchmark", {"compare": "all"}])
def test_all_is_fingerprinted_if_all_is_compared(config: Any) -> None:
    bits = hybriddup.fingerprint(["early 🎉🎉", "early 😭😭"], config=config)
    assert not np.array_equal(bits[0], bits[1])
