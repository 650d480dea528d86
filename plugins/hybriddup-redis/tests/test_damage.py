"""What a window says of a store that was emptied, replaced or damaged behind its back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from servers import Server

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.window_posts import CONFIG, distinct_texts

POSTS = distinct_texts(200)


def emptied(client: redis.Redis, window: str) -> None:
    client.delete(*client.scan_iter(f"{{{window}*", count=5000))


def made_anew(client: redis.Redis, window: str) -> None:
    emptied(client, window)
    port = client.connection_pool.connection_kwargs["port"]
    with hybriddup.Window.open(f"redis://127.0.0.1:{port}/0?window={window}", config="twitter") as other:
        other.add("the first post of another window")


def without_counters(client: redis.Redis, window: str) -> None:
    client.delete(f"{{{window}}}m")


@pytest.mark.parametrize("happens", [emptied, made_anew, without_counters])
def test_a_store_that_is_another_one_is_refused(server: Server, happens: Callable[[redis.Redis, str], None]) -> None:
    """By all that asks it, until the window is opened anew."""
    name = f"lost-{happens.__name__}"
    with hybriddup.Window.open(server.url(name), config=CONFIG) as window, server.client() as client:
        window.add_many(POSTS)
        happens(client, name)
        for ask in (lambda: window.add(POSTS[0]), lambda: window.match(POSTS[0]), window.stats):
            with pytest.raises(StoreError, match="open the window anew"):
                ask()


def keys_of(client: redis.Redis, window: str, kind: str) -> list[bytes]:
    return list(client.scan_iter(f"{{{window}:*}}{kind}*", count=5000))


def records(client: redis.Redis, window: str) -> None:
    for key in keys_of(client, window, "r"):
        client.set(key, b"3garbage")


def buckets(client: redis.Redis, window: str) -> None:
    for key in keys_of(client, window, "b"):
        if client.type(key) == b"hash":
            client.hset(key, mapping={field: value + b"xyz" for field, value in client.hgetall(key).items()})


def holders(client: redis.Redis, window: str) -> None:
    for key in keys_of(client, window, "x"):
        client.hset(key, mapping=dict.fromkeys(client.hgetall(key), b"no position"))


def the_time(client: redis.Redis, window: str) -> None:
    client.hset(f"{{{window}}}m", "w", "yesterday")


def unfinished_blocks(client: redis.Redis, window: str) -> None:
    client.hset(f"{{{window}}}m", "o", " nonsense")


@pytest.mark.parametrize("damaged", [records, buckets, holders, the_time, unfinished_blocks])
def test_what_is_damaged_is_an_error_that_names_it(server: Server, damaged: Callable[[redis.Redis, str], None]) -> None:
    """And no post is decided by it."""
    name = f"damaged-{damaged.__name__}"
    with hybriddup.Window.open(server.url(name), config=CONFIG) as window, server.client() as client:
        window.add_many(POSTS)
        damaged(client, name)
        with pytest.raises(StoreError, match="damaged"):
            window.add_many([POSTS[0], *(post + "!" for post in POSTS)])


def test_a_post_is_deleted_though_redis_has_no_room_to_count_it(server: Server) -> None:
    """A deletion that succeeded is no error; a second one says that nothing is there."""
    with hybriddup.Window.open(server.url("full"), config=CONFIG) as window, server.client() as client:
        kept = [decision.id for decision in window.add_many(POSTS) if decision.kept]
        settings: dict[str, Any] = client.config_get("maxmemory")
        client.config_set("maxmemory", 1)
        try:
            assert window.delete(kept[0])
            assert not window.delete(kept[0])
        finally:
            client.config_set("maxmemory", settings["maxmemory"])
        assert window.add(POSTS[0]).kept
