"""The classic layout in Redis, as a plain client sees it, and what it finds."""

from __future__ import annotations

import pytest
from hybriddup_redis.addresses import place_of
from hybriddup_redis.opening import open_store
from plugin_support.classic import (
    SHAPES,
    check_other_blocks_are_refused,
    kept_posts,
    near_pairs,
    pairs_in_store,
    planted_fingerprints,
    segments_of,
)
from servers import Server, sets_of

from hybriddup.shared_windows import Needs


@pytest.mark.parametrize("shape", SHAPES)
def test_a_plain_client_reads_a_set_for_each_table_and_block(server: Server, shape: tuple[int, int]) -> None:
    """Exactly the fingerprints of the kept posts, byte by byte, and of no other post."""
    name = f"classic{shape[0]}"
    expected: dict[bytes, set[bytes]] = {}
    for fingerprint, position, length in kept_posts(server.url(name), shape):
        member = fingerprint.to_bytes(8, "big") + position.to_bytes(8, "big") + length.to_bytes(4, "big")
        for table, segment in enumerate(segments_of(fingerprint, *shape)):
            key = f"{{{name}:0}}t{table}:{segment:0{4 if shape == (4, 1) else 7}x}".encode()
            expected.setdefault(key, set()).add(member)
    assert sets_of(server, name) == expected


@pytest.mark.parametrize("shape", SHAPES)
def test_every_pair_within_three_bits_is_found(server: Server, shape: tuple[int, int]) -> None:
    """Of 50,000 random fingerprints, with near ones among them, each compared with each."""
    fingerprints = planted_fingerprints()
    needs = Needs(words=1, max_bucket_size=0, horizon=1000.0, segments=SHAPES[shape])
    store = open_store(place_of(server.url(f"random{shape[0]}")), needs)
    try:
        found = set(pairs_in_store(store, fingerprints, shape))
    finally:
        store.close()
    expected = near_pairs(fingerprints)
    assert len(expected) > 1000
    assert found == expected


def test_other_blocks_than_those_of_the_window_are_refused(server: Server) -> None:
    check_other_blocks_are_refused(server.url("blocks"))
