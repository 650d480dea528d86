"""A crowd is verified in few turns: each takes a millisecond, however few its pairs."""

from random import Random
from typing import Any

import pytest

import hybriddup
from hybriddup.run.bands import Bands

LETTERS = "天地玄黄宇宙洪荒日月"


def hashtags_and_noise(n: int) -> list[str]:
    """Posts of two hashtags of few letters, and emoji: each is near hundreds of others."""
    random = Random(7)  # noqa: S311  posts, not secrets

    def letters(k: int) -> str:
        return "".join(random.choices(LETTERS, k=k))

    return [f"#{letters(6)}#{letters(3)}" + "[doge]" * random.randint(0, 9) for _ in range(n)]


def test_posts_that_wait_for_one_another_are_verified_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of a batch decides which candidates the next posts have; they are not verified post by post."""
    turns, verify = list[int](), Bands.verify

    def counted(self: Bands, pairs: Any, *others: Any) -> Any:
        turns.append(len(pairs))
        return verify(self, pairs, *others)

    monkeypatch.setattr(Bands, "verify", counted)
    posts = hashtags_and_noise(8000)
    result = hybriddup.dedupe(posts, config={"threshold": 0.4}, workers=1)
    assert len(result.removed) > 4000
    assert len(turns) < len(posts) / 16
