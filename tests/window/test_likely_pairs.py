"""How many pairs of a post are verified."""

from __future__ import annotations

import numpy as np

from hybriddup.records import CandidatePairs
from hybriddup.steps.verifiers.edit import LONGEST_BY_KERNEL
from hybriddup.window import Window
from hybriddup.window.likely_pairs import CHARACTERS, CHARACTERS_OF_LONG, MOST_PAIRS, likeliest, most_pairs
from hybriddup.window.looking import FEWEST_SCORED


def pairs_of(counts: list[int], first: int) -> CandidatePairs:
    """Return so many pairs of each post of a batch, with falling distances."""
    later = np.repeat(np.arange(first, first + len(counts)), counts)
    distances = np.concatenate([np.arange(n, 0, -1) for n in counts] or [np.zeros(0)]).astype(np.int32)
    return CandidatePairs(np.arange(len(later)), later, distances)


def test_pairs_within_the_limit_are_left_alone() -> None:
    """The limit is inclusive, and no post at all is fine."""
    pairs = pairs_of([MOST_PAIRS, 0, 3], 1000)
    assert likeliest(pairs, 1000, np.full(3, 20, np.int32)) == (pairs, 0)
    nothing = pairs_of([], 0)
    assert likeliest(nothing, 0, np.zeros(0, np.int32)) == (nothing, 0)


def test_of_more_the_nearest_are_left() -> None:
    """Of each post by itself; those cut are counted."""
    chosen, n_cut = likeliest(pairs_of([MOST_PAIRS + 5, 2, 2 * MOST_PAIRS], 7), 7, np.full(3, 20, np.int32))
    assert n_cut == 2
    assert np.bincount(chosen.later - 7).tolist() == [MOST_PAIRS, 2, MOST_PAIRS]
    for row in (0, 2):
        assert sorted(chosen.hamming_distances[chosen.later == 7 + row]) == list(range(1, MOST_PAIRS + 1))


def test_longer_texts_are_compared_with_fewer() -> None:
    """Down to one."""
    lengths = np.array(
        [0, 1, CHARACTERS // MOST_PAIRS, CHARACTERS // 40, LONGEST_BY_KERNEL + 1, CHARACTERS * 2], np.int32
    )
    expected = [MOST_PAIRS, MOST_PAIRS, MOST_PAIRS, 40, CHARACTERS_OF_LONG // (LONGEST_BY_KERNEL + 1), 1]
    assert most_pairs(lengths).tolist() == expected


def test_as_many_matches_as_are_asked_for_are_found_unless_the_text_is_long() -> None:
    """Of a long text only the posts with the fewest differing bits are scored."""
    short = [f"{'今天天气很好' * 2}{n:02}" for n in range(30)]
    long = [f"{'abcdefghij' * 1600}{n:02}" for n in range(30)]
    with Window.open(
        None, {"lengths": [{"max_hamming_distance": 40, "verifier": {"use": "edit", "threshold": 1.0}}]}
    ) as window:
        window.add_many([*short, *long])
        assert len(window.match(short[0], limit=25)) == 25
        assert 1 <= len(window.match(long[0], limit=25)) <= FEWEST_SCORED + 1
