"""What is near in buckets, and which number from the newest each entry has."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.bucket_entries import near_entries, numbers_in_buckets

BUCKETS = st.lists(st.lists(st.integers(-3, 60), unique=True, max_size=9), max_size=6)


@given(BUCKETS, st.data())
def test_a_number_says_how_many_are_newer(buckets: list[list[int]], data: st.DataObject) -> None:
    """In whatever order a bucket is; negative positions are nobody's."""
    places = [(number, place) for number, bucket in enumerate(buckets) for place in range(len(bucket))]
    chosen = data.draw(st.lists(st.sampled_from(places))) if places else []
    begins = np.cumsum([0, *(len(bucket) for bucket in buckets)])
    found = numbers_in_buckets(
        np.array([one for bucket in buckets for one in bucket], np.int64),
        np.array([begins[number] for number, _ in chosen], np.int64),
        np.array([begins[number + 1] for number, _ in chosen], np.int64),
        np.array([begins[number] + place for number, place in chosen], np.int64),
    )
    expected = [sorted(buckets[number], reverse=True).index(buckets[number][place]) + 1 for number, place in chosen]
    assert found.tolist() == expected


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.sampled_from([1, 2]), st.integers(0, 2**32))
def test_what_is_near_is_found_bucket_by_bucket(sizes: list[int], n_words: int, seed: int) -> None:
    """Of each bucket the entries that differ in few enough bits from the text that looks into it."""
    rng = np.random.default_rng(seed)
    texts = rng.integers(0, 2**64, (3, n_words), np.uint64)
    rows, ends = rng.integers(0, 3, len(sizes)), np.cumsum(sizes)
    flips = rng.integers(0, 2, (sum(sizes), n_words, 64)) & rng.integers(0, 2, (sum(sizes), n_words, 64))
    masks = np.packbits(flips.astype(np.uint8), axis=-1).view(np.uint64)[..., 0]
    bits = texts[np.repeat(rows, sizes)] ^ masks
    most = 16 * n_words
    entries, buckets = near_entries(ends - sizes, ends, rows, texts, bits, most)
    distances = flips.sum((1, 2))
    assert entries.tolist() == np.flatnonzero(distances <= most).tolist()
    assert buckets.tolist() == np.repeat(np.arange(len(sizes)), sizes)[distances <= most].tolist()
