"""The classic layout: blocks of fingerprints as segments of keys, in plain integers, and fingerprints to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import hybriddup
from hybriddup.data.records import UInt64s
from hybriddup.errors import WindowError
from hybriddup.shared_windows import Keyed, SharedStore, entry_type
from hybriddup.steps.blocks.pigeonhole import Blocks
from hybriddup.testing.contract import require
from hybriddup.testing.window_posts import CONFIG

DISTANCE = 3
SHAPES = {(4, 1): (16, 16, 16, 16), (5, 2): (26, 26, 26, 25, 26, 26, 25, 26, 25, 25)}
"""Bits of each segment, by number of blocks, and of blocks per key."""
TEXTS = [f"{number} geese walked over field {number * number} in the year {1900 + number}" for number in range(60)]
TEXTS += [text + "." for text in TEXTS[::4]]


def config_of(shape: tuple[int, int]) -> dict[str, Any]:
    """Return a configuration with the classic layout; it compares texts as they are."""
    return {
        "normalizer": {"use": "none"},
        "compare": "all",
        "fingerprint": {"bits": 64},
        "blocks": {"use": "blocks", "n_blocks": shape[0], "n_key_blocks": shape[1]},
        "must_agree": [],
        "lengths": [{"max_hamming_distance": DISTANCE, "verifier": {"use": "edit", "threshold": 0.9}}],
    }


def segments_of(fingerprint: int, n_blocks: int, n_key_blocks: int) -> list[int]:
    """Return the segments of a fingerprint; of several blocks, the lowest bits come from the first one."""
    blocks = []
    for number in range(n_blocks):
        size = 64 // n_blocks + (number < 64 % n_blocks)
        blocks.append((fingerprint & 2**size - 1, size))
        fingerprint >>= size
    return [joined(some) for some in combinations(blocks, n_key_blocks)]


def joined(blocks: Sequence[tuple[int, int]]) -> int:
    """Return blocks as one number."""
    whole = place = 0
    for block, size in blocks:
        whole |= block << place
        place += size
    return whole


def kept_posts(url: str, shape: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Add texts to a new window, some of which it removes; return fingerprint, position and length of each kept one."""
    with hybriddup.Window.open(url, config=config_of(shape)) as window:
        decisions = window.add_many(TEXTS)
    kept = [(text, one.position) for text, one in zip(TEXTS, decisions, strict=True) if one.kept]
    require(len(kept) < len(TEXTS), "some of the texts repeat others", kept)
    prints = hybriddup.fingerprint([text for text, _ in kept], config=config_of(shape))[:, 0].tolist()
    return [(fingerprint, position, len(text)) for fingerprint, (text, position) in zip(prints, kept, strict=True)]


def check_other_blocks_are_refused(url: str) -> None:
    """Fail unless a window refuses other blocks than its own: neither would see the fingerprints of the other."""
    hybriddup.Window.open(url, config=config_of((4, 1))).close()
    other = config_of((5, 2))
    for config in other, other | {"blocks": {"use": "shingles"}}:
        with pytest.raises(WindowError, match="segments of 16:16:16:16 bits"):
            hybriddup.Window.open(url, config=config)


SHORT_POSTS = {
    "normalizer": {"use": "microblog", "reposts": "mask", "residue": "drop"},
    "fingerprint": {"bits": 64},
    "blocks": {"use": "blocks"},
    "lengths": [
        {"up_to": 4, "max_hamming_distance": DISTANCE, "verifier": {"use": "post", "threshold": 0.9}},
        {"max_hamming_distance": DISTANCE, "verifier": {"use": "post", "threshold": 0.5}},
    ],
}
"""The configuration ``weibo`` with the classic layout: 64 bits and distance 3 instead of 128 bits and distance 40."""
CONTRACT = CONFIG | {
    "fingerprint": {"bits": 64},
    "blocks": {"use": "blocks", "n_blocks": 25},
    "lengths": [{"max_hamming_distance": 24, "verifier": {"use": "edit", "threshold": 0.8}}],
}
"""A configuration with the classic layout in which the posts of the contract checks get the same answers. A query also
finds posts that are half alike, which takes a large distance and many blocks."""


def with_classic_layout(open_window: Callable[..., Any]) -> Callable[..., Any]:
    """Return an opener of windows for contract checks, with the classic layout in place of the buckets."""

    def opened(name: str, **options: Any) -> Any:
        config = options.get("config", CONFIG)
        return open_window(name, **options | {"config": CONTRACT if config == CONFIG else config})

    return opened


# ---- finding all pairs


def planted_fingerprints(n: int = 50_000, n_planted: int = 2_000, seed: int = 7) -> UInt64s:
    """Return uint64[n]: random fingerprints; some are others with up to four bits flipped, before or after these."""
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 2**64, n, np.uint64)
    chosen = rng.permutation(n)[: 2 * n_planted]
    for row, other in zip(chosen[:n_planted].tolist(), chosen[n_planted:].tolist(), strict=True):
        bits = rng.permutation(64)[: rng.integers(0, 5)]
        found[row] = found[other] ^ np.bitwise_or.reduce(np.uint64(1) << bits.astype(np.uint64), initial=np.uint64(0))
    return found


def near_pairs(fingerprints: UInt64s) -> set[tuple[int, int]]:
    """Return all pairs of rows within the distance, each compared with each."""
    return {
        (row, row + 1 + int(later))
        for row in range(len(fingerprints))
        for later in np.flatnonzero(np.bitwise_count(fingerprints[row + 1 :] ^ fingerprints[row]) <= DISTANCE)
    }


def pairs_in_store(store: SharedStore, fingerprints: UInt64s, shape: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the pairs within the distance that posts with these fingerprints find as they enter a store, in batches."""
    index = Blocks(Blocks.Options(n_blocks=shape[0], n_key_blocks=shape[1]))
    index.prepare(64, DISTANCE)
    assert tuple(index.use_segments()) == SHAPES[shape]
    row_of: dict[int, int] = {}
    for begin in range(0, len(fingerprints), 1000):
        bits = fingerprints[begin : begin + 1000, None]
        first = store.take(len(bits)).first
        row_of |= {first + place: begin + place for place in range(len(bits))}
        entries = np.zeros(len(bits), entry_type(1))
        entries["position"], entries["bits"] = np.arange(first, first + len(bits)), bits
        keys = index.keys([], bits)
        distinct, bucket = np.unique(keys, return_inverse=True)
        counts, found = store.enter(Keyed(entries, keys), distinct)
        ends = np.cumsum(counts)
        for place, buckets in enumerate(bucket.reshape(keys.shape)):
            for end, count in zip(ends[buckets], counts[buckets], strict=True):
                some = found[end - count : end]
                near = np.bitwise_count(some["bits"][:, 0] ^ bits[place, 0]) <= DISTANCE
                yield from ((row_of[int(at)], begin + place) for at in some["position"][near] if at < first + place)
        store.finish(first, float("-inf"), float("-inf"), [], Keyed(entries[:0], keys[:0]))
