"""The classic layout in HBase, as a plain client sees it, and what it finds."""

from __future__ import annotations

from contextlib import closing

import happybase
import pytest
from hybriddup_hbase.opening import address_of, open_store
from plugin_support.classic import (
    SHAPES,
    check_other_blocks_are_refused,
    config_of,
    kept_posts,
    near_pairs,
    pairs_in_store,
    planted_fingerprints,
    segments_of,
)
from servers import HBase

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.shared_windows import Needs


@pytest.mark.parametrize("shape", SHAPES)
def test_a_plain_client_reads_a_row_for_each_table_and_fingerprint(servers: HBase, shape: tuple[int, int]) -> None:
    """Exactly those of the kept posts, byte by byte: a segment, the number of the table, and the fingerprint."""
    name = f"classic{shape[0]}"
    expected: dict[bytes, dict[bytes, bytes]] = {}
    for fingerprint, position, length in kept_posts(servers.url(name), shape):
        for table, segment in enumerate(segments_of(fingerprint, *shape)):
            key = segment.to_bytes(4, "big") + bytes([table]) + fingerprint.to_bytes(8, "big")
            expected.setdefault(key, {})[b"b:" + position.to_bytes(8, "big")] = length.to_bytes(4, "big")
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        assert dict(connection.table(name).scan(columns=[b"b"])) == expected
        key = next(iter(expected))
        prefix = key[:5]
        assert key in dict(connection.table(name).scan(row_prefix=prefix))


def test_every_pair_within_three_bits_is_found(servers: HBase) -> None:
    """Of 50,000 random fingerprints, with near ones among them, each compared with each."""
    fingerprints = planted_fingerprints()
    needs = Needs(words=1, max_bucket_size=0, horizon=1000.0, segments=SHAPES[4, 1])
    store = open_store(address_of(servers.url("random")), needs)
    with closing(store):
        found = set(pairs_in_store(store, fingerprints, (4, 1)))
    expected = near_pairs(fingerprints)
    assert len(expected) > 1000
    assert found == expected


def test_ten_scans_of_two_blocks_find_every_pair(servers: HBase) -> None:
    """Two of five blocks, of 5,000 fingerprints."""
    fingerprints = planted_fingerprints(5_000)
    needs = Needs(words=1, max_bucket_size=0, horizon=1000.0, segments=SHAPES[5, 2])
    with closing(open_store(address_of(servers.url("ten")), needs)) as store:
        assert set(pairs_in_store(store, fingerprints, (5, 2))) == near_pairs(fingerprints)


def test_other_blocks_than_those_of_the_window_are_refused(servers: HBase) -> None:
    check_other_blocks_are_refused(servers.url("blocks"))


def test_a_table_without_the_family_of_the_rows_is_refused(servers: HBase) -> None:
    """A table that was made by hand; the error contains what to add."""
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        connection.create_table("by-hand", {"d": {}, "m": {}})
    with pytest.raises(StoreError, match="NAME => 'b', TTL => "):
        hybriddup.Window.open(servers.url("by-hand"), config=config_of((4, 1)))
