"""Posting lists against lists of Python: every block and page is in one place, whatever is added and forgotten."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.live import lists, table
from hybriddup.kernels.live.changes import add_texts
from hybriddup.kernels.live.lists import ANY_LENGTH, FREE_BLOCKS, FREE_PAGE, FRESH_BLOCK, FRESH_PAGE, Age, Postings
from hybriddup.kernels.live.table import IS_LIST, PAGE_BITS, sweep_shards
from hybriddup.kernels.search.key_groups import NO_KEY
from tests.inner_kernels import from_python

class_for, is_dead, read_header = map(from_python, (lists.class_for, lists.is_dead, lists.read_header))
number_at, word_of = map(from_python, (lists.number_at, lists.word_of))
find_slot, mixed_half = map(from_python, (table.find_slot, table.mixed_half))
tag_of, value_of = map(from_python, (table.tag_of, table.value_of))
CLASSES = (4, 8, 12, 20)
BITS = int(lists.BLOCK_BITS)


def empty_postings(
    n_shards: int = 2, n_pages: int = 300, n_words: int = 60_000, most: int = 18, wide: bool = False
) -> Postings:
    """Nothing but room; of a key, the newest ``most`` texts are read."""
    book = np.zeros(lists.N_BOOK, np.int64)
    book[FRESH_PAGE] = book[FRESH_BLOCK] = 1
    ring_size = most + 1
    words = [each for each in CLASSES if each < ring_size] + [-(-(ring_size + 1) // 4) * 4]
    return Postings(
        np.zeros(n_pages << PAGE_BITS, np.uint64),
        np.zeros((n_pages << PAGE_BITS) * wide, np.uint32),
        np.zeros((100, n_shards), np.uint32),
        np.zeros(n_shards, np.int32),
        np.zeros(n_shards, np.int32),
        np.zeros(n_words, np.uint32),
        np.zeros(n_words, np.uint8),
        book,
        np.array(sorted(set(words)), np.int64),
        ring_size,
    )


def numbers_of(postings: Postings, key: int) -> list[int]:
    """The numbers of a key, the oldest first."""
    value = value_of(postings, np.uint64(key))
    if not value & IS_LIST:
        return [int(value)] if value else []
    start, places = list_at(postings, value)
    return [int(number_at(postings.words, start, place, postings.ring_size)) for place in places]


def list_at(postings: Postings, value: int) -> tuple[np.uint64, list[np.uint64]]:
    """Where a list starts, and the places in it, the oldest first."""
    start = np.uint64(value ^ IS_LIST) << lists.BLOCK_BITS
    _, n, oldest = read_header(postings.words, start, postings.ring_size)
    return start, [np.uint64(oldest) + np.uint64(i) for i in range(int(n))]


def lengths_of(numbers: np.ndarray) -> np.ndarray:
    return np.asarray(numbers % 30, np.int32)


def check_classes(postings: Postings, key: int) -> None:
    """In a list, each number has the class of its length; the first may have none."""
    value = value_of(postings, np.uint64(key))
    if value & IS_LIST:
        start, places = list_at(postings, value)
        words = [word_of(start, place, postings.ring_size) for place in places]
        got = postings.length_classes[words].tolist()
        expected = lengths_of(postings.words[words]).tolist()
        assert got[1:] == expected[1:]
        assert got[0] in (expected[0], int(ANY_LENGTH))


def check_blocks(postings: Postings) -> None:
    """Every block is a key's or free, none both."""
    spans = list[tuple[int, int]]()
    for slot in slots_in_use(postings):
        if slot & int(IS_LIST):
            block = slot & int(IS_LIST) - 1
            its_class = int(postings.words[block << BITS]) >> 26
            spans.append((block << BITS, int(postings.class_words[its_class])))
    for its_class, n_words in enumerate(postings.class_words.tolist()):
        block = int(postings.book[FREE_BLOCKS + its_class])
        while block:
            spans.append((block << BITS, n_words))
            block = int(postings.words[block << BITS])
    spans.sort()
    following = [1 << BITS, *(start + n for start, n in spans)]
    assert [start for start, _ in spans] == following[:-1]
    assert following[-1] == postings.book[FRESH_BLOCK] << BITS


def slots_in_use(postings: Postings) -> list[int]:
    slots = list[int]()
    for shard, n_pages in enumerate(postings.n_pages.tolist()):
        for page in postings.pages[:n_pages, shard].tolist():
            slots += postings.slots[page << PAGE_BITS : (page + 1) << PAGE_BITS].tolist()
    return [slot for slot in slots if slot]


def check_pages(postings: Postings) -> None:
    """Every page is a shard's or free, none both, and shards count their keys."""
    used = list[int]()
    for shard, n_pages in enumerate(postings.n_pages.tolist()):
        pages = postings.pages[:n_pages, shard].tolist()
        used += pages
        slots = [postings.slots[page << PAGE_BITS : (page + 1) << PAGE_BITS] for page in pages]
        assert sum(int(np.count_nonzero(each)) for each in slots) == postings.n_keys[shard]
    page, free = int(postings.book[FREE_PAGE]), list[int]()
    while page:
        free.append(page)
        page = int(postings.slots[page << PAGE_BITS])
    assert sorted(used + free) == list(range(1, int(postings.book[FRESH_PAGE])))


@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(1, 60), st.integers(0, 100)), min_size=1, max_size=10),
    st.sampled_from([1, 5, 200, 10**6]),
    st.sampled_from([1, 2, 4, 18]),
    st.booleans(),
)
def test_lists_hold_the_newest_live_numbers(
    seed: int, batches: list[tuple[int, int]], n_different: int, most: int, wide: bool
) -> None:
    rng, number, first_live = np.random.default_rng(seed), 1, 1
    postings, added = empty_postings(most=most, wide=wide), dict[int, list[int]]()
    for n, n_forgotten in batches:
        keys = rng.integers(0, n_different, (n, 1), np.uint64) * np.uint64(2**33 + 1 if wide else 1)
        numbers, kept = np.arange(number, number + n), rng.random(n) < 0.9
        done, n_crowded = add_texts(postings, keys, numbers, lengths_of(numbers), kept, first_live, 0)
        expected = 0
        for key, each, is_kept in zip(keys[:, 0].tolist(), numbers.tolist(), kept.tolist(), strict=True):
            held = added.setdefault(key, [])
            expected += sum(other >= first_live for other in held) > most
            held += [each] * is_kept
        assert (done, n_crowded) == (n, expected)
        number += n
        first_live = min(first_live + n_forgotten, number)
        swept = int(rng.integers(0, 3))
        sweep_shards(postings, 0, swept, number, first_live)
        for key, held in added.items():
            live = [each for each in held if each >= first_live][-most:]
            got = numbers_of(postings, key)
            check_classes(postings, key)
            assert [each for each in got if each >= first_live][-most:] == live
            if swept == 2 and not live:
                assert got == []
        check_pages(postings)
        check_blocks(postings)


def test_nothing_is_done_where_there_is_no_room() -> None:
    for postings in (empty_postings(n_pages=2), empty_postings(n_words=12)):
        keys = np.repeat(np.arange(500, dtype=np.uint64), 2).reshape(1000, 1)
        numbers, kept = np.arange(1, 1001), np.ones(1000, np.bool_)
        done, n_crowded = add_texts(postings, keys, numbers, lengths_of(numbers), kept, 1, 0)
        assert 0 < done < 1000
        assert n_crowded == 0
        assert numbers_of(postings, int(keys[done, 0])) == [done] * (done % 2)
        larger = empty_postings()
        larger.slots[: len(postings.slots)] = postings.slots
        larger.words[: len(postings.words)] = postings.words
        larger.length_classes[: len(postings.length_classes)] = postings.length_classes
        larger = postings._replace(slots=larger.slots, words=larger.words, length_classes=larger.length_classes)
        assert add_texts(larger, keys, numbers, lengths_of(numbers), kept, 1, done) == (1000, 0)
        assert [numbers_of(larger, key) for key in range(500)] == [[2 * key + 1, 2 * key + 2] for key in range(500)]


def test_mixing_is_a_bijection_on_samples() -> None:
    halves = np.unique(np.random.default_rng(0).integers(0, 2**32, 5000, np.uint64))
    assert len({int(mixed_half(half)) for half in halves}) == len(halves)
    assert len({int(tag_of(half)) for half in halves}) == len(halves)


def test_keys_of_one_tag_are_told_apart_by_their_upper_halves() -> None:
    uppers = np.arange(6, dtype=np.uint64)
    keys = np.array([[upper << np.uint64(32) | mixed_half(upper) ^ np.uint64(5)] for upper in uppers], np.uint64)
    assert len({int(tag_of(key)) for key in keys[:, 0]}) == 1
    postings = empty_postings(wide=True)
    add_texts(postings, keys, np.arange(1, 7), np.ones(6, np.int32), np.ones(6, np.bool_), 1, 0)
    sweep_shards(postings, 0, 2, 7, 2)
    assert [numbers_of(postings, int(key)) for key in keys[:, 0]] == [[], [2], [3], [4], [5], [6]]


def test_a_key_that_is_not_there_has_an_empty_slot() -> None:
    postings = empty_postings()
    assert postings.slots[find_slot(postings, np.uint64(7))] == 0
    add_texts(postings, np.full((1, 1), NO_KEY), np.array([1]), np.ones(1, np.int32), np.ones(1, np.bool_), 1, 0)
    assert postings.n_pages.sum() == 0


def test_the_last_class_is_for_what_no_other_holds() -> None:
    words = np.array([4, 8, 16, 260], np.int64)
    assert [int(class_for(words, np.uint64(n))) for n in (1, 3, 4, 7, 8, 14, 15, 256)] == [0, 0, 1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize("next_number", [100, 2**31 + 50, 2**33 + 7])
def test_a_number_is_dead_beyond_the_span(next_number: int) -> None:
    """Also where its low bits began anew since."""
    age = Age(np.uint64(next_number), np.uint64(60))
    low_bits = [np.uint64((next_number - back) & 2**31 - 1) for back in (1, 60, 61, 99)]
    assert [bool(is_dead(number, age)) for number in low_bits] == [False, False, True, True]
