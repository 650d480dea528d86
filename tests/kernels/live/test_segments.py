"""Segments against lists of Python: which there are, what is in their buckets, and the tags of entries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.live.segments import (
    PLACE_MASK,
    BucketKeys,
    Segments,
    build_segments,
    list_buckets,
    list_segments,
    tag_of,
)
from hybriddup.window.index.text_ring import TextRing
from tests.builders import make_prints, words_of
from tests.inner_kernels import from_python

SMALLEST, LARGEST, N_LARGEST = 4, 32, 5
KEYS = BucketKeys(np.array([0, 1, 2, 4, 65, 6]), np.array([0, 3, 6]), np.zeros(2, np.uint32), np.array([0, 1, 2]), 3)


def empty_segments() -> Segments:
    """Two tables of eight buckets."""
    starts = np.zeros((N_LARGEST + 3, 17), np.uint32)
    return Segments(np.zeros(2 * LARGEST * N_LARGEST, np.uint32), starts, SMALLEST, LARGEST)


@given(st.integers(0, 2**40), st.integers(0, LARGEST * (N_LARGEST - 1)))
def test_segments_follow_one_another_and_share_no_room(first: int, span: int) -> None:
    """As many of the largest as are full, one at most of each smaller size, and fewer texts than the smallest after."""
    numbers, rows, places = list_segments(empty_segments(), first, first + span, 2)
    sizes = np.diff(numbers).tolist()
    assert numbers[0] <= first or not sizes
    assert 0 <= first + span - numbers[-1] < SMALLEST
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes) <= {LARGEST, 16, 8, 4}
    assert all(sizes.count(size) == 1 for size in set(sizes) - {LARGEST})
    assert all(number % size == 0 for number, size in zip(numbers.tolist(), sizes, strict=False))
    assert len(set(rows.tolist())) == len(rows)
    taken = [
        place for start, size in zip(places.tolist(), sizes, strict=True) for place in range(start, start + 2 * size)
    ]
    assert len(set(taken)) == len(taken)
    assert all(0 <= place < 2 * LARGEST * N_LARGEST for place in taken)


@given(st.integers(0, 2**32), st.integers(0, 500), st.lists(st.integers(1, 40), max_size=12))
def test_the_buckets_of_segments_hold_the_live_texts(seed: int, first: int, sizes: list[int]) -> None:
    rng, segments, number = np.random.default_rng(seed), empty_segments(), first
    empty = TextRing(128, 64, sketched=False)
    capacity, ring = empty.capacity, empty.columns.bits
    for size in sizes:
        before, number = number, number + size
        first = max(first, number - 100)
        numbered = (np.uint64(number), np.uint64(number - first), np.uint64(first % capacity))
        live = empty.live._replace(**dict(zip(("next_number", "span", "first_slot"), numbered, strict=True)))
        ring[np.arange(before, number) % capacity] = rng.integers(0, 2**64, (size, 2), np.uint64)
        build_segments(segments, KEYS, live, before)

        numbers, rows, places = list_segments(segments, first, number, 2)
        for start, end, row, place in zip(numbers, numbers[1:], rows, places, strict=False):
            bits = {each: ring[each % capacity] for each in range(max(int(start), first), int(end))}
            listed = list_buckets(np.array(list(bits.values())).reshape(-1, 2), KEYS).tolist()
            for bucket in range(16):
                first_entry, last_entry = segments.starts[row, bucket : bucket + 2].tolist()
                entries = segments.entries[place + first_entry : place + last_entry].tolist()
                held = [int(start) + (entry & int(PLACE_MASK)) for entry in entries]
                assert [each for each in held if each >= first] == [
                    each for each, own in zip(bits, listed, strict=True) if bucket in own
                ]
                for entry, each in zip(entries, held, strict=True):
                    assert each < first or entry >> 20 == from_python(tag_of)(bits[each][None], 0)


@given(st.integers(0, 2**128 - 1), st.lists(st.integers(0, 127), unique=True))
def test_tags_differ_in_no_more_bits_than_fingerprints(number: int, flipped: list[int]) -> None:
    other = number ^ sum(1 << bit for bit in flipped)
    tag, other_tag = (int(from_python(tag_of)(words_of([each], 2), 0)) for each in (number, other))
    assert (tag ^ other_tag).bit_count() <= len(flipped)
    assert (tag ^ other_tag).bit_count() % 2 == len(flipped) % 2
    assert max(tag, other_tag) < 2**12


def test_texts_look_into_the_buckets_of_their_keys_and_neighbors() -> None:
    keys = BucketKeys(
        np.array([0, 1, 2, 4, 5, 6]), np.array([0, 3, 6]), np.array([0, 0b100, 0], np.uint32), np.array([0, 2, 3]), 3
    )
    assert list_buckets(make_prints([0b0101_0010]).bits, keys).tolist() == [[0b0_010, 0b0_110, 0b1_101]]
