"""Posts that are parsed once for all pairs that they are in."""

from __future__ import annotations

import numpy as np
import pytest

from hybriddup.data.records import EncodedTexts
from hybriddup.kernels.post_parsing import ParsedPosts
from hybriddup.steps.posts import parsed_once
from hybriddup.steps.posts.parsed_once import PostsParsedOnce
from hybriddup.steps.verifiers.post.features import features_of, pair_features
from tests.posts import generated_posts

POSTS = [*generated_posts(3, 1200), "", "😀", "#a", "今天 3 点 <repost>好", "via @ann https://t.co/a"]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("most", [2**20, 500])
def test_features_are_those_of_posts_parsed_for_each_pair(
    workers: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Call after call, also when posts are forgotten in between."""
    monkeypatch.setattr(parsed_once, "MOST_TOKENS", most)
    posts, rng = PostsParsedOnce(POSTS, workers), np.random.default_rng(5)
    for n in (1, 40, 700, 0, 40):
        earlier, later = rng.integers(0, len(POSTS), (2, n))
        needed, ranks = np.unique(np.concatenate([earlier, later]), return_inverse=True)
        places = posts.places_of(needed)
        found = features_of(posts.parsed, places[ranks[:n]], places[ranks[n:]])
        assert found.tolist() == pair_features(POSTS, earlier, later).tolist()


def test_a_post_is_parsed_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not again."""
    posts, n_parsed, parse = PostsParsedOnce(POSTS, 1), [0], parsed_once.parse

    def count_and_parse(texts: EncodedTexts) -> ParsedPosts:
        n_parsed[0] += texts.n_texts
        return parse(texts)

    monkeypatch.setattr(parsed_once, "parse", count_and_parse)
    first = posts.places_of(np.array([2, 5, 9]))
    again = posts.places_of(np.array([2, 3, 9]))
    assert n_parsed == [4]
    assert (again[[0, 2]] == first[[0, 2]]).all()
