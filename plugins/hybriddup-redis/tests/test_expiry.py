"""Whatever a window writes to Redis expires when it is of no use."""

from __future__ import annotations

import time
from contextlib import closing

import numpy as np
import pytest
import redis
from hybriddup_redis.addresses import place_of
from hybriddup_redis.opening import open_store
from hybriddup_redis.store import RedisStore
from servers import Server, sets_of

from hybriddup.shared_windows import Holder, Keyed, Needs, entry_type
from hybriddup.testing.shared_stores import keyed

HORIZON = 4000.0
KEYS = np.array([5, 2**63], np.uint64)
NEVER = float("-inf")


def store_in(server: Server, name: str) -> RedisStore:
    """A new window with a horizon of 4,000 s: what it writes expires after 8,000 s."""
    return open_store(place_of(f"redis://127.0.0.1:{server.port}/0?window={name}"), Needs(2, 10, HORIZON))


def write(store: RedisStore, position: int) -> None:
    """Have a post claim its text and enter two buckets."""
    store.hold([Holder(b"x" + position.to_bytes(16, "big"), position, None)])
    store.enter(keyed([position], [KEYS.tolist()]), KEYS)


def expiries(server: Server, name: str) -> dict[bytes, float]:
    """Seconds until each key of a window expires; those of what all partitions have in common stay."""
    client = redis.Redis(port=server.port)
    keys = [key for key in client.keys(f"{{{name}*") if key not in (b"{%s}m" % name.encode(), b"{%s}v" % name.encode())]
    return {key: client.pttl(key) / 1000 for key in keys}


def test_hashes_expire_also_when_all_posts_left_them_once(server: Server) -> None:
    """A hash without fields is gone, and has to expire when it is made anew."""
    store = store_in(server, "emptied")
    store.take(3)
    for position in range(3):
        write(store, position)
        store.finish(position, NEVER, NEVER, [], keyed([position], [KEYS.tolist()]))
    write(store, 2)
    found = expiries(server, "emptied")
    assert len(found) == 3, found  # two shards of buckets, and a hash of texts
    assert min(found.values()) > 1.9 * HORIZON, found


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_overflows_expire(server: Server, n_partitions: int) -> None:
    """Those of buckets with many posts."""
    name = f"overflowing-{n_partitions}"
    url = f"redis://127.0.0.1:{server.port}/0?window={name}&partitions={n_partitions}"
    store = open_store(place_of(url), Needs(2, 10, HORIZON))
    store.take(9)
    for position in range(9):
        write(store, position)
    found = expiries(server, name)
    strings = [one for key, one in found.items() if redis.Redis(port=server.port).type(key) == b"string"]
    assert len(strings) == 2, found
    assert min(found.values()) > 1.9 * HORIZON, found


def test_expiry_is_put_off_by_each_write(server: Server) -> None:
    """Of the hashes that it writes to."""
    store, client = store_in(server, "written"), redis.Redis(port=server.port)
    store.take(2)
    write(store, 0)
    for key in expiries(server, "written"):
        client.expire(key, 100)
    store.hold([Holder(b"x" + bytes(16), 1, 0)])
    store.enter(keyed([1], [KEYS.tolist()]), KEYS)
    assert min(expiries(server, "written").values()) > 1.9 * HORIZON


def test_sets_of_the_classic_layout_expire_and_lose_what_is_too_old(server: Server) -> None:
    """Whoever enters a set removes the fingerprints of posts that are of no use any more."""
    url, needs = server.url("sets"), Needs(1, 0, horizon=2.0, segments=(16, 16, 16, 16))
    keys = np.array([[segment << 8 | number for number, segment in enumerate((7, 8, 9, 10))]], np.uint64)
    entries, held, ends = np.zeros(1, entry_type(1)), [{0}], time.monotonic() + 60
    with closing(open_store(place_of(url), needs)) as store:
        while any(0 in positions for positions in held):
            assert time.monotonic() < ends, held
            entries["position"] = store.take(1).first
            store.enter(Keyed(entries, keys), keys[0])
            held = [{int.from_bytes(one[8:16], "big") for one in some} for some in sets_of(server, "sets").values()]
            time.sleep(0.1)
    assert len(held) == 4
    assert all(0 < expiry <= 4 for expiry in expiries(server, "sets").values())
