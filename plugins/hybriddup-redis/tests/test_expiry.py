"""Whatever a window writes to Redis expires when it is of no use, though its expiry is seldom put off."""

from __future__ import annotations

import time

import numpy as np
import pytest
import redis
from hybriddup_redis.addresses import place_of
from hybriddup_redis.expiry import TIMES, Expiry
from hybriddup_redis.opening import open_store
from hybriddup_redis.store import RedisStore
from servers import Server

from hybriddup.shared_windows import Holder, Needs
from hybriddup.testing.shared_stores import keyed

HORIZON = 4000.0
KEYS = np.array([5, 2**63], np.uint64)


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
    """A hash without fields would be gone, and made anew without the time when it expires."""
    store = store_in(server, "emptied")
    store.take(3)
    for position in range(3):
        write(store, position)
        store.leave(keyed([position], [KEYS.tolist()]))
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


def test_expiry_is_put_off_while_there_are_writes(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an eighth of the time after which hashes expire, by the clock of the client."""
    store, client, clock = store_in(server, "written"), redis.Redis(port=server.port), time.monotonic
    store.take(2)
    write(store, 0)
    for key in expiries(server, "written"):
        client.expire(key, 7100)
    write(store, 1)
    assert max(expiries(server, "written").values()) <= 7100
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 2 * HORIZON / TIMES)
    store.hold([Holder(b"x" + bytes(16), 1, 0)])
    store.enter(keyed([1], [KEYS.tolist()]), KEYS)
    assert min(list(expiries(server, "written").values())) > 1.9 * HORIZON


def test_each_hash_has_an_expiry_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is due until a script that put it off was answered."""
    now = 50.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    expiry, asked = Expiry(4, 8000), np.arange(4)
    assert expiry.is_due(asked).all()
    expiry.note(np.array([1, 3]), now)
    assert expiry.is_due(asked).tolist() == [True, False, True, False]
    now += 1.01
    assert expiry.is_due(asked).all()
