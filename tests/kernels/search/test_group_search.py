"""Texts in groups, looked up in rings of the newest and within a batch, against lists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Int32s, Int64s, NearPairs, UInt32s, UInts
from hybriddup.kernels.search.batch_groups import count_before, count_keys, number_batch, number_shared
from hybriddup.kernels.search.group_search import Queries, search_rings
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.kernels.search.pair_limits import LookUpCounts, TextColumns, text_columns
from hybriddup.kernels.search.rings import (
    MOST_NARROW,
    Rings,
    add_kept,
    depths_in_rings,
    make_rings,
    place_of,
    row_of,
    word_of,
)
from tests import reference
from tests.builders import clustered_numbers, make_limits, numbers_of, words_of
from tests.inner_kernels import from_python

NONE = int(NO_GROUP)
N_TEXTS = 40
N_GROUPS = 4
ALL = np.zeros((0, 0), np.int32)
"""In the place of ranks: all texts of each ring are looked at."""
seeds = st.integers(0, 2**32)
Pair = tuple[int, int, int, int]
"""Earlier and later text, differing bits, depth."""


def make_texts(rng: np.random.Generator, words: int) -> TextColumns:
    """Texts of three lengths around two patterns; the limits are by length."""
    kinds = rng.integers(0, 3, N_TEXTS)
    lengths, distances, reaches = np.array([(48, 3, 100), (92, 5, 150), (150, 7, 150)])[kinds].T
    limits = make_limits(N_TEXTS, lengths=lengths, max_hamming_distances=distances, max_partner_lengths=reaches)
    return text_columns(words_of(clustered_numbers(rng, N_TEXTS, 64 * words, 4, n_patterns=2), words), limits)


def make_groups(rng: np.random.Generator) -> UInt32s:
    """Up to three of the groups for each text, `NO_GROUP` between them."""
    groups = np.full((N_TEXTS, 3), NO_GROUP, np.uint32)
    for row in groups:
        some = rng.permutation(N_GROUPS)[: int(rng.integers(0, 4))]
        row[rng.permutation(3)[: len(some)]] = some
    return groups


def empty_rings(room: int, most_narrow: int = MOST_NARROW, n_texts: int = N_TEXTS) -> tuple[Rings, UInt32s]:
    """Empty rings of so many places each, one a group."""
    return make_rings(np.full(N_GROUPS, room, np.uint32), n_texts, most_narrow=most_narrow)


def starts_of(groups: UInt32s, starts: UInt32s) -> UInt32s:
    return np.append(starts, NO_GROUP)[np.minimum(groups, N_GROUPS)]


def search(
    texts: TextColumns, rows: Int64s, starts: UInt32s, rings: Rings, ranks: Int32s = ALL
) -> tuple[NearPairs, LookUpCounts]:
    """What is found within the widest limit of any text, the later text by its row."""
    near: NearPairs
    near, counts = search_rings(texts, texts.widest, Queries(rows, starts, ranks), rings)
    return near._replace(later=rows[near.later]), counts


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


@pytest.mark.parametrize("words", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("room", [1, 2, 9, *(pytest.param(room, marks=pytest.mark.slow) for room in (5, 40))])
@given(seed=seeds, most_narrow=st.sampled_from([0, MOST_NARROW]), n_texts=st.sampled_from([N_TEXTS, 2**30, 2**32]))
def test_the_newest_of_each_group_are_found_with_their_depths(
    words: int, room: int, seed: int, most_narrow: int, n_texts: int
) -> None:
    rng = np.random.default_rng(seed)
    texts, own, probed, is_kept = make_texts(rng, words), make_groups(rng), make_groups(rng), rng.random(N_TEXTS) < 0.8
    rings, starts = empty_rings(room, most_narrow, n_texts)
    members = {group: list[int]() for group in range(N_GROUPS)}
    own_starts, probed_starts = starts_of(own, starts), starts_of(probed, starts)
    for row in range(N_TEXTS):
        newest = {group: texts_[-room:] for group, texts_ in members.items()}
        looked_into, rows, one = groups_of(probed[row]), np.array([row]), slice(row, row + 1)
        found, counts = search(texts, rows, probed_starts[one], rings)
        expected = plain_pairs(texts, row, newest, looked_into)
        assert as_pairs(found) == expected
        sizes = [len(newest[group]) for group in looked_into]
        largest = max((len(members[group]) for group in looked_into), default=0)
        assert tuple(counts) == (sum(sizes), len(sizes), largest)
        others = np.array([*range(row), N_TEXTS + row])
        depths = depths_in_rings(np.full(len(others), row), others, probed_starts, rings)
        asked = [[newest.get(group, []) for group in probed[row].tolist()] for _ in others]
        assert depths.tolist() == [
            [depth_in(group, other) for group in groups] for other, groups in zip(others.tolist(), asked, strict=True)
        ]
        chosen = np.array([is_kept[row]])
        n_crowded = add_kept(texts, rows, chosen, probed_starts[one], own_starts[one], rings, room)
        assert n_crowded == sum(len(members[group]) > room for group in looked_into)
        for group in groups_of(own[row]) if is_kept[row] else []:
            members[group].append(row)
    rows, newest_two = np.arange(N_TEXTS), np.array([N_TEXTS - 2, N_TEXTS - 1])
    together = depths_in_rings(np.repeat(rows, 2), np.tile(newest_two, N_TEXTS), probed_starts, rings)
    alone = [depths_in_rings(np.full(2, row), newest_two, probed_starts, rings) for row in rows]
    assert together.tolist() == np.concatenate(alone).tolist()


@pytest.mark.parametrize("most_narrow", [0, 2000])
@pytest.mark.parametrize("n", [1023, 1024, 1025, 1100])
def test_one_text_may_have_any_number_of_hits(n: int, most_narrow: int) -> None:
    limits = make_limits(n + 1, lengths=48, max_hamming_distances=0, max_partner_lengths=100)
    texts, rows = text_columns(np.zeros((n + 1, 2), np.uint64), limits), np.arange(n)
    rings, starts = make_rings(np.array([n], np.uint32), n + 1, most_narrow=most_narrow)
    own = np.tile(starts, (n, 1))
    add_kept(texts, rows, np.ones(n, np.bool_), own, own, rings, 0)
    found, _ = search(texts, np.array([n]), starts[None], rings)
    assert found.earlier.tolist() == rows.tolist()
    assert found.depths.tolist() == (n - rows).tolist()


@pytest.mark.parametrize(
    ("n_texts", "class_bits"), [(1, 8), (2**24, 8), (2**24 + 1, 7), (2**31, 1), (2**31 + 1, 0), (2**32, 0)]
)
def test_words_of_rings_have_room_for_every_row(n_texts: int, class_bits: int) -> None:
    rings, _ = make_rings(np.array([1], np.uint32), n_texts)
    one = make_texts(np.random.default_rng(0), 1)
    many = np.lib.stride_tricks.as_strided(one.facts, (n_texts,), (0,))
    word = np.uint64(from_python(word_of)(rings, one._replace(facts=many), n_texts - 1))
    assert int(from_python(row_of)(rings, word)) == n_texts - 1
    assert int(rings.class_bits) == class_bits


def test_starts_of_rings_reach_through_all_of_the_memory() -> None:
    """In units of two words, up to 32 GiB; more is refused, as starts would begin anew."""
    assert from_python(place_of)(np.uint32(2**32 - 1)) == 2**33 - 2
    with pytest.raises(MemoryError, match="32 GiB or more"):
        make_rings(np.full(4, 2**31 - 1, np.uint32), N_TEXTS, most_narrow=2**31)


def depth_in(texts: list[int], text: int) -> int:
    """Which number from the end a text has, 0 where it is not there."""
    return len(texts) - texts.index(text) if text in texts else 0


@given(seeds)
def test_groups_of_a_batch_are_counted(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own, probed = make_groups(rng), make_groups(rng)
    n_texts = count_keys(own, N_GROUPS)[:-1]
    members = {group: [row for row in range(N_TEXTS) if group in own[row].tolist()] for group in range(N_GROUPS)}
    assert n_texts.tolist() == list(map(len, members.values()))
    n_before = [
        [sum(other < row for other in members[group]) for group in groups_of(probed[row])] for row in range(N_TEXTS)
    ]
    before, places, most, n_comparisons = count_before(own, probed, N_GROUPS)
    assert [row[probed[i] != NONE].tolist() for i, row in enumerate(before)] == n_before
    assert [row[own[i] != NONE].tolist() for i, row in enumerate(places)] == [
        [members[group].index(row) for group in groups_of(own[row])] for row in range(N_TEXTS)
    ]
    assert most.tolist() == [max(some, default=0) for some in n_before]
    assert n_comparisons == sum(map(sum, n_before))


def test_no_texts_are_no_special_case() -> None:
    texts = make_texts(np.random.default_rng(0), 1).take(slice(0, 0))
    nothing, no_groups = np.zeros(0, np.int64), np.zeros((0, 2), np.uint32)
    rings, _ = empty_rings(1)
    assert as_pairs(search(texts, nothing, no_groups, rings)[0]) == []


@given(seed=seeds, width=st.sampled_from([np.uint32, np.uint64]))
def test_numbers_of_a_batch_are_those_of_keys_that_texts_share(seed: int, width: type[np.unsignedinteger]) -> None:
    """Equal keys have equal numbers, from 0 on, if they stand there twice; so too where some texts are left out."""
    rng = np.random.default_rng(seed)
    keys: UInts = rng.integers(0, 12, (9, 3)).astype(width)
    keys[rng.random(keys.shape) < 0.2] = np.iinfo(width).max
    chosen = np.flatnonzero(rng.random(len(keys)) < 0.5)
    numbers, n = number_batch(keys)
    check_numbers(keys, numbers, n)
    some = numbers[chosen]
    check_numbers(keys[chosen], some, number_shared(some, n))


def check_numbers(keys: UInts, numbers: UInt32s, n: int) -> None:
    """Fail unless the numbers are those of the keys that stand there several times."""
    flat, none = keys.ravel().tolist(), np.iinfo(keys.dtype).max
    shared = {key for key in flat if key != none and flat.count(key) > 1}
    number_of = dict(zip(flat, numbers.ravel().tolist(), strict=True))
    assert sorted(number_of[key] for key in shared) == list(range(n))
    assert all(
        number == (number_of[key] if key in shared else NONE) for key, number in zip(flat, numbers.ravel(), strict=True)
    )
