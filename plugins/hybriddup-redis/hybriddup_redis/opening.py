"""Open windows in Redis: check the server, and agree with other processes on the layout of the window."""

from __future__ import annotations

import math
import os
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel

from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.shared_windows import Needs, open_shared
from hybriddup.shared_windows.opening import layout_of, refuse_other_layout
from hybriddup.shared_windows.packing import refusing_damage
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.window import Window
from hybriddup_redis.addresses import PASSWORD, SENTINEL_PASSWORD, SENTINEL_USER, USER, Place, place_of
from hybriddup_redis.store import Layout, RedisStore, meta_key

LAYOUT = 3
OLDEST_REDIS = 6, 0
"""First version of Redis that can change a value and keep its expiry time."""


class RedisWindows:
    """Opens windows in Redis."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return the window that a URL names; see `hybriddup.window.protocols.WindowOpener`."""
        place = place_of(url)
        return open_shared(lambda needs: open_store(place, needs), options, place.lease)


def open_store(place: Place, needs: Needs) -> RedisStore:
    """Return the store of a window.

    Raises
    ------
    StoreError
        The server cannot be reached or may evict posts, or another version of hybriddup created the window.
    WindowError
        The window was created with other blocks, or for a shorter horizon.
    """
    try:
        client = connect(place)
        check_server(client)
        layout, token = agree_on_layout(client, place, needs)
    except (redis.exceptions.RedisError, OSError) as error:
        hosts = ", ".join(f"{host}:{port}" for host, port in place.hosts)
        raise StoreError(
            f"Redis at {hosts} cannot be used: {type(error).__name__}: {error}. See whether it runs there, and whether "
            f"user and password are right (in the address, or as {USER} and {PASSWORD}; for Sentinel as "
            f"{SENTINEL_USER} and {SENTINEL_PASSWORD})."
        ) from error
    return RedisStore(client, place.window, layout, token, needs)


def connect(place: Place) -> Any:
    """Return a client that never repeats a call.

    If a connection breaks, Redis may still carry the call out, even after later calls. If a change of a post had been
    repeated, it would then be made a second time, possibly after other processes have challenged the post.
    """
    retry = Retry(NoBackoff(), 0)
    if place.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in place.hosts]  # type: ignore[no-untyped-call]
        return RedisCluster(startup_nodes=nodes, retry=retry, **place.access)
    database = place.parts.path.strip("/")
    if place.kind == "sentinel":
        sentinel = Sentinel(  # type: ignore[no-untyped-call]
            place.hosts, sentinel_kwargs=place.sentinel_access, retry=retry, **place.access
        )
        return sentinel.master_for(database or "mymaster")  # type: ignore[no-untyped-call]
    if not database.isdecimal() and database:
        raise ConfigError(f"the path of an address of Redis is the number of a database; got {database!r}.")
    host, port = place.hosts[0]
    return redis.Redis(host, port, int(database or 0), retry=retry, **place.access)


def check_server(client: Any) -> None:
    """Raise StoreError if a server is too old, or may evict posts."""
    for one in by_server(client.info("server"), "redis_version"):
        if tuple(map(int, str(one["redis_version"]).split(".")[:2])) < OLDEST_REDIS:
            raise StoreError(
                f"Redis {one['redis_version']} is too old for windows: they need {'.'.join(map(str, OLDEST_REDIS))} or "
                "later. Upgrade the server."
            )
    for one in by_server(client.info("memory"), "maxmemory_policy"):
        if int(one["maxmemory"]) and one["maxmemory_policy"] != "noeviction":
            raise StoreError(
                f"Redis throws posts away when its memory is full: maxmemory-policy is {one['maxmemory_policy']}. Set "
                "it to noeviction, so that it refuses posts instead."
            )


def by_server(info: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """Return the INFO report of each server; ``info`` is a single server's report if it has ``field`` itself."""
    return [info] if field in info else list(info.values())


def agree_on_layout(client: Any, place: Place, needs: Needs) -> tuple[Layout, bytes]:
    """Return the layout and the token of the window, which the first process that opens it writes.

    Raises
    ------
    StoreError
        The window was made by another version.
    WindowError
        It was made with other blocks, or for a shorter horizon.
    """
    key, own = meta_key(place.window), layout_of(LAYOUT, needs)
    client.hsetnx(key, "layout", f"{own} {place.n_partitions} {math.ceil(1000 * needs.horizon)}")
    client.hsetnx(key, "token", os.urandom(16))
    written, token = client.hmget(key, "layout", "token")
    found, *numbers = written.decode().split()
    refuse_other_layout(found, own)
    with refusing_damage("the layout of the window"):
        layout = Layout(*map(int, numbers))
    if 1000 * needs.horizon > layout.horizon:
        raise WindowError(
            f"the window was made with a horizon of {layout.horizon / 1000:g} s, and cannot be opened with a "
            f"longer one; got {needs.horizon:g} s. Open it with that, or begin a new one under another name."
        )
    return layout, token
