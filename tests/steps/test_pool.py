"""Parsed posts that are kept from call to call are those that parsing gives anew."""

from __future__ import annotations

import numpy as np
import pytest

from hybriddup.data.records import CandidatePairs, encode_texts
from hybriddup.kernels.posts.features import FEATURES
from hybriddup.kernels.posts.parsing import N_SETS
from hybriddup.steps.posts import pool
from hybriddup.steps.posts.parts import parse
from hybriddup.steps.posts.pool import ParsedPool
from hybriddup.steps.tokenizers.words import Words
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.post import verifier
from hybriddup.steps.verifiers.post.features import pair_features
from hybriddup.steps.verifiers.post.verifier import Post

WORDS = ("今天", "weather", "12", "#sea", "@you", "18:30", "rain", "…", "北京", "http://t.cn/a1", "😀", "snow")


def made_up(n: int, seed: int) -> list[str]:
    """Posts of a few words."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(0, 9))) for _ in range(n)]


@pytest.mark.parametrize("most_letters", [2**20, 40])
def test_kept_posts_are_those_of_a_new_reading(most_letters: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_LETTERS", most_letters)
    posts, rng = made_up(200, 1), np.random.default_rng(2)
    kept = ParsedPool(posts)
    for _ in range(30):
        positions = np.unique(rng.integers(0, 200, rng.integers(0, 40)))
        parsed, numbers = kept.parsed(positions)
        alone = parse(encode_texts([posts[position] for position in positions.tolist()]))
        for place, number in enumerate(numbers.tolist()):
            ours, theirs = slice(*parsed.offsets[number : number + 2]), slice(*alone.offsets[place : place + 2])
            assert parsed.keys[ours].tolist() == alone.keys[theirs].tolist()
            assert parsed.weights[ours].tolist() == alone.weights[theirs].tolist()
            assert parsed.is_cut[number] == alone.is_cut[place]
            letters = parsed.letters[parsed.starts[ours.start] : parsed.starts[ours.stop]]
            assert letters.tolist() == alone.letters[alone.starts[theirs.start] : alone.starts[theirs.stop]].tolist()
            for which in range(N_SETS):
                of, at = N_SETS * number + which, N_SETS * place + which
                keys = parsed.set_keys[parsed.set_offsets[of] : parsed.set_offsets[of + 1]]
                assert keys.tolist() == alone.set_keys[alone.set_offsets[at] : alone.set_offsets[at + 1]].tolist()


def test_scores_of_few_and_of_many_pairs_are_those_of_all_features() -> None:
    posts = [post or "nothing" for post in made_up(150, 3)]
    one, other = np.triu_indices(150, 1)
    pairs = CandidatePairs(one.astype(np.int64), other.astype(np.int64), np.zeros(len(one), np.int32))
    post = Post(Post.Options())
    post.prepare(VerifierContext(posts, Words(), 128, 1))
    thresholds = np.full(len(pairs), 1e-300)
    slices = [slice(start, start + 1000) for start in range(0, len(pairs), 1000)]
    few = np.concatenate([post.score_pairs(pairs.take(some), thresholds[some]) for some in slices])
    many = post.score_pairs(pairs, thresholds)
    expected = post.score_features(pair_features(posts, pairs.earlier, pairs.later))
    texts = encode_texts(posts)
    is_compared = verifier.contained(texts, pairs.earlier, pairs.later) >= verifier.LEAST_CONTAINED
    is_compared &= verifier.are_paired(texts, pairs.earlier, pairs.later)
    assert few.tolist() == many.tolist() == np.where(is_compared, expected, 0.0).tolist()
    differ = pair_features(posts, pairs.earlier, pairs.later)[:, FEATURES.index("numbers_differ")] == 1.0
    assert (differ & is_compared).sum() > 100
