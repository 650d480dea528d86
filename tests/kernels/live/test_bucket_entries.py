"""Entries of buckets that are near the texts that look into them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.live.bucket_entries import near_entries


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.sampled_from([1, 2]), st.integers(0, 2**32), st.data())
def test_what_is_near_is_found_look_by_look(sizes: list[int], n_words: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    looks = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=9))
    texts, bits = (rng.integers(0, 2**64, (n, n_words), np.uint64) for n in (3, sum(sizes)))
    near = rng.random(len(bits)) < 0.5
    bits[near] = texts[rng.integers(0, 3, near.sum())] ^ np.uint64(rng.integers(0, 2**16))
    rows, most = rng.integers(0, 3, len(looks)), 8 * n_words
    distances = [
        [sum(int(a ^ b).bit_count() for a, b in zip(text, one, strict=True)) for one in bits] for text in texts
    ]
    expected = [
        (entry, look)
        for look, (bucket, row) in enumerate(zip(looks, rows, strict=True))
        for entry in range(ends[bucket] - sizes[bucket], ends[bucket])
        if distances[row][entry] <= most
    ]
    begins = (ends - sizes)[looks] if looks else np.zeros(0, np.int64)
    found = near_entries(begins, ends[looks] if looks else begins, rows, texts, bits, most)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == expected
