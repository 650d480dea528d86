"""Texts in groups, looked up in rings of the newest and within a batch, against lists."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import UInt32s
from hybriddup.kernels.batch_groups import count_kept_before, gather_groups, most_in_groups, search_batch
from hybriddup.kernels.group_search import (
    HEAD,
    Heads,
    Places,
    TextColumns,
    add_kept,
    depths_in_groups,
    hold_texts,
    pack_facts,
    search_kept,
)
from hybriddup.kernels.key_groups import NO_GROUP
from hybriddup.kernels.vectors import N_LANES
from tests import reference
from tests.builders import clustered_numbers, numbers_of, words_of

NONE = int(NO_GROUP)
N_TEXTS = 40
N_GROUPS = 4
seeds = st.integers(0, 2**32)
Pair = tuple[int, int, int, int]
"""Earlier and later text, differing bits, depth."""


def make_texts(rng: np.random.Generator, words: int) -> TextColumns:
    """Texts of three lengths around two patterns; the limits are by length."""
    lengths = rng.integers(1, 4, N_TEXTS).astype(np.int32)
    return TextColumns(
        words_of(clustered_numbers(rng, N_TEXTS, 64 * words, 4, n_patterns=2), words),
        lengths,
        np.array([-1, 3, 5, 7], np.int32)[lengths],
        np.array([0, 2, 3, 3], np.int32)[lengths],
        np.zeros(N_TEXTS, np.float32),
        np.zeros(N_TEXTS, np.float32),
        np.zeros((0, 2), np.uint64),
    )


def make_groups(rng: np.random.Generator) -> UInt32s:
    """Up to three of the groups for each text, `NO_GROUP` between them."""
    groups = np.full((N_TEXTS, 3), NO_GROUP, np.uint32)
    for row in groups:
        some = rng.permutation(N_GROUPS)[: int(rng.integers(0, 4))]
        row[rng.permutation(3)[: len(some)]] = some
    return groups


def make_rings(room: int) -> tuple[Heads, Places]:
    """Empty rings of so many places each."""
    heads, n = np.zeros(N_GROUPS, HEAD), N_GROUPS * room + N_LANES
    heads["start"], heads["room"] = room * np.arange(N_GROUPS), room
    return heads, Places(np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint32))


def groups_of(row: UInt32s) -> list[int]:
    return [group for group in row.tolist() if group != NONE]


def plain_pairs(texts: TextColumns, row: int, members: dict[int, list[int]], looked_into: list[int]) -> list[Pair]:
    """The pairs of a text with those of the groups that it looks into, oldest first in each."""
    numbers, lengths = numbers_of(texts.bits), texts.lengths.tolist()
    depths = dict[int, int]()
    for group in looked_into:
        for depth, other in enumerate(reversed(members[group]), 1):
            depths[other] = min(depth, depths.get(other, depth))
    pairs = []
    for other in sorted(depths):
        shorter, longer = sorted((other, row), key=lambda text: lengths[text])
        distance = reference.hamming_distance(numbers[other], numbers[row])
        is_near = distance <= texts.max_distances[shorter]
        if other != row and is_near and lengths[longer] <= texts.max_partner_lengths[shorter]:
            pairs.append((other, row, distance, depths[other]))
    return pairs


def as_pairs(found: tuple[np.ndarray, ...]) -> list[Pair]:
    return list(zip(*(column.tolist() for column in found), strict=True))


@pytest.mark.parametrize("words", [1, 2, 3])
@pytest.mark.parametrize("room", [1, 2, 5, 9, 40])
@given(seed=seeds)
def test_the_newest_of_each_group_are_found_with_their_depths(words: int, room: int, seed: int) -> None:
    """Rings that wrap; each text looks up what was kept before it, and depths are those in the lists."""
    rng = np.random.default_rng(seed)
    texts, own, probed, is_kept = make_texts(rng, words), make_groups(rng), make_groups(rng), rng.random(N_TEXTS) < 0.8
    (heads, places), members = make_rings(room), {group: list[int]() for group in range(N_GROUPS)}
    for row in range(N_TEXTS):
        newest = {group: texts_[-room:] for group, texts_ in members.items()}
        looked_into, rows = groups_of(probed[row]), np.array([row])
        found, counts = search_kept(texts, pack_facts(texts), rows, probed[row : row + 1], heads, places, 7)
        expected = plain_pairs(texts, row, newest, looked_into)
        assert as_pairs(found) == expected
        sizes = [len(newest[group]) for group in looked_into]
        largest = max((len(members[group]) for group in looked_into), default=0)
        assert tuple(counts) == (len(sizes), sum(sizes), largest)
        for other, *_ in expected:
            wanted = probed[row : row + 1]
            depths = depths_in_groups(np.array([other]), own[other : other + 1], wanted, heads, places)[0]
            assert depths.tolist() == [depth_in(newest.get(group, []), other) for group in probed[row].tolist()]
        chosen = np.array([is_kept[row]])
        n_crowded = add_kept(texts.bits, rows, chosen, probed[row : row + 1], own[row : row + 1], heads, places, room)
        assert n_crowded == sum(len(members[group]) > room for group in looked_into)
        for group in groups_of(own[row]) if is_kept[row] else []:
            members[group].append(row)


def depth_in(texts: list[int], text: int) -> int:
    """Which number from the end a text has, 0 where it is not there."""
    return len(texts) - texts.index(text) if text in texts else 0


@given(seeds)
def test_adding_at_once_is_adding_one_by_one(seed: int) -> None:
    """Rings, and the look-ups that met a crowded group; without a limit none is."""
    rng = np.random.default_rng(seed)
    texts, own, is_kept = make_texts(rng, 2), make_groups(rng), rng.random(N_TEXTS) < 0.8
    rows, (heads, places), (others, other_places) = np.arange(N_TEXTS), make_rings(3), make_rings(3)
    at_once = add_kept(texts.bits, rows, is_kept, own, own, heads, places, 3)
    parts = [slice(row, row + 1) for row in rows]
    one_by_one = [
        add_kept(texts.bits, rows[one], is_kept[one], own[one], own[one], others, other_places, 3) for one in parts
    ]
    assert at_once == sum(one_by_one)
    assert heads.tolist() == others.tolist()
    assert all((a == b).all() for a, b in zip(places, other_places, strict=True))
    assert add_kept(texts.bits, rows, is_kept, own, own, heads, places, 0) == 0


@pytest.mark.parametrize("words", [1, 2])
@given(seed=seeds)
def test_held_texts_are_one_group(words: int, seed: int) -> None:
    """All of them, in the order given."""
    rng = np.random.default_rng(seed)
    texts, rows = make_texts(rng, words), np.flatnonzero(rng.random(N_TEXTS) < 0.7)
    head = np.zeros(1, HEAD)
    head["n_kept"] = head["room"] = len(rows)
    groups = np.zeros((N_TEXTS, 1), np.uint32)
    found, _ = search_kept(texts, pack_facts(texts), np.arange(N_TEXTS), groups, head, hold_texts(texts.bits, rows), 7)
    members = {0: rows.tolist()}
    assert as_pairs(found) == [pair for row in range(N_TEXTS) for pair in plain_pairs(texts, row, members, [0])]


@pytest.mark.parametrize("words", [1, 2, 3])
@given(seed=seeds)
def test_texts_of_a_batch_find_those_before_them(words: int, seed: int) -> None:
    """As if each had been added before the next came."""
    rng = np.random.default_rng(seed)
    texts, own, probed = make_texts(rng, words), make_groups(rng), make_groups(rng)
    groups = gather_groups(texts, own, probed, N_GROUPS)
    rows = np.flatnonzero(rng.random(N_TEXTS) < 0.8)
    found, counts = search_batch(texts, pack_facts(texts), rows, probed, groups, 7)
    expected, n_comparisons = list[Pair](), 0
    for row in rows.tolist():
        before = {group: [r for r in range(row) if group in own[r].tolist()] for group in range(N_GROUPS)}
        expected += plain_pairs(texts, row, before, groups_of(probed[row]))
        n_comparisons += sum(len(before[group]) for group in groups_of(probed[row]))
    assert as_pairs(found) == expected
    assert counts.n_comparisons == n_comparisons


@given(seeds)
def test_groups_of_a_batch_are_counted(seed: int) -> None:
    """The largest that each text looks into, about half of all comparisons, and kept texts before each."""
    rng = np.random.default_rng(seed)
    own, probed, is_kept = make_groups(rng), make_groups(rng), rng.random(N_TEXTS) < 0.5
    groups = gather_groups(make_texts(rng, 1), own, probed, N_GROUPS)
    members = {group: [row for row in range(N_TEXTS) if group in own[row].tolist()] for group in range(N_GROUPS)}
    sizes = [[len(members[group]) for group in groups_of(row)] for row in probed]
    assert [last - first for first, last in pairwise(groups.starts.tolist())] == list(map(len, members.values()))
    most, n_comparisons = most_in_groups(probed, groups.starts)
    assert most.tolist() == [max(some, default=0) for some in sizes]
    assert n_comparisons == sum(size // 2 for some in sizes for size in some)
    assert count_kept_before(own, probed, is_kept, N_GROUPS).tolist() == [
        sum(is_kept[other] for group in groups_of(probed[row]) for other in members[group] if other < row)
        for row in range(N_TEXTS)
    ]


def test_no_texts_are_no_special_case() -> None:
    """Nothing to look up, and nothing to find."""
    texts = TextColumns(*(column[:0] for column in make_texts(np.random.default_rng(0), 1)))
    nothing, no_groups = np.zeros(0, np.int64), np.zeros((0, 2), np.uint32)
    heads, places = make_rings(1)
    assert as_pairs(search_kept(texts, pack_facts(texts), nothing, no_groups, heads, places, -1)[0]) == []
    groups = gather_groups(texts, no_groups, no_groups, 0)
    assert as_pairs(search_batch(texts, pack_facts(texts), nothing, no_groups, groups, -1)[0]) == []
