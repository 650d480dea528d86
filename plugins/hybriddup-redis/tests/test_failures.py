"""What a window in Redis promises holds when processes, connections and servers fail."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hybriddup_redis.addresses import place_of
from hybriddup_redis.opening import open_store
from hybriddup_redis.scripts import posts
from hybriddup_redis.store import RedisStore
from plugin_support.expiry import check_levelling_off
from plugin_support.faults import check_shared_window, make_posts
from plugin_support.late import check_stopped_sender
from servers import Server, serving, watching

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.shared_windows import Keyed, Needs
from hybriddup.shared_windows.store import entry_type
from hybriddup.testing.window_posts import CONFIG

LEASE = 0.5


def test_of_matching_posts_one_is_kept_whatever_happens_to_their_senders(server: Server) -> None:
    """They are killed, stopped for longer than the lease and continued, and their connections break; clocks differ."""

    def address(port: int) -> str:
        return f"redis://127.0.0.1:{port}/0?window=failing&lease={LEASE}"

    check_shared_window(address, server.port, lease=LEASE)


@pytest.mark.parametrize("options", [{}, {"partitions": 4}], ids=["one partition", "four"])
@pytest.mark.parametrize("method", ["announce", "enter"])
def test_posts_of_a_sender_that_stopped_for_long_displace_no_kept_post(
    server: Server, method: str, options: dict[str, int]
) -> None:
    """Others gave them up while it was stopped; it goes on, and is killed when they are in their buckets."""
    address = server.url(f"stopped-{method}-{len(options)}", lease=0.05, **options)
    check_stopped_sender(RedisStore, method, partial(hybriddup.Window.open, address), 0.05)


@pytest.mark.parametrize("fsync", ["always", "everysec"])
def test_what_was_acknowledged_is_there_when_a_server_is_killed(fsync: str, tmp_path: Path) -> None:
    """With appendonly: the file is written before an answer is given; only the machine's end loses a second."""
    with serving(tmp_path / "lasting", "--appendonly", "yes", "--appendfsync", fsync) as server:
        window = hybriddup.Window.open(server.url(), config=CONFIG)
        posts = make_posts(20, 2)
        answers = window.add_many(posts)
        server.end(signal.SIGKILL)
        with pytest.raises(StoreError, match="Check the server and the network"):
            window.add("more")
        server.start()
        assert [replace(one, repeated=False) for one in window.add_many(posts)] == answers
        assert not window.add(posts[0]["text"]).kept
        window.close()


def test_scripts_that_a_server_has_lost_run_once(server: Server) -> None:
    """Where it has some of those that are asked for together, these are not run again with the others."""
    place = place_of(server.url("scripts"))
    store = open_store(place, Needs(words=2, max_bucket_size=8, horizon=1000.0))
    with server.client() as client:
        client.script_flush()
        client.script_load(posts.FINISH)
    leaving = Keyed(np.zeros(1, entry_type(2)), np.ones((1, 1), np.uint64))
    store.finish(store.take(1).first, float("-inf"), 1.0, [1.0], leaving)
    assert store.n_kept_after(0.0) == 1
    store.close()


def test_after_a_failover_the_window_goes_on_with_what_the_replica_had(tmp_path: Path) -> None:
    """Sentinel names another server; until then posts are refused."""
    with (
        serving(tmp_path / "first") as first,
        serving(tmp_path / "second", "--replicaof", f"127.0.0.1 {first.port}") as second,
        watching(tmp_path / "sentinel", first) as sentinel,
    ):
        address = f"redis-sentinel://127.0.0.1:{sentinel.port}/mymaster?window=tests&timeout=2"
        window = hybriddup.Window.open(address, config=CONFIG)
        posts = make_posts(20, 2)
        answers = window.add_many(posts)
        with first.client() as client:
            assert client.execute_command("WAIT", 1, 5000) == 1
        first.end(signal.SIGKILL)
        with pytest.raises(StoreError):
            window.add("while nobody knows who is next")
        again = added_when_possible(window, posts)
        assert [replace(one, repeated=False) for one in again] == answers
        with second.client() as client:
            assert client.info("replication")["role"] == "master"
        window.close()


def added_when_possible(window: Any, posts: list[Any]) -> list[Any]:
    """What is decided of posts, as soon as they are taken."""
    ends = time.monotonic() + 30
    while True:
        try:
            return window.add_many(posts)
        except StoreError:
            assert time.monotonic() < ends
            time.sleep(0.2)


def test_where_redis_is_full_posts_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    """By an error that says so; with room again, the window goes on."""
    with serving(tmp_path / "full", "--maxmemory", "3mb", "--maxmemory-policy", "noeviction") as server:
        window = hybriddup.Window.open(server.url(), config=CONFIG)
        posts = make_posts(4000, 3)
        answers = {}
        batches = iter(posts[first : first + 100] for first in range(0, len(posts), 100))
        with pytest.raises(StoreError, match="out of memory"):
            answers.update((one.id, one) for batch in batches for one in window.add_many(batch))
        assert answers
        with server.client() as client:
            client.config_set("maxmemory", 0)
        for post_id, answer in answers.items():
            post = window.get(post_id)
            assert post is not None
            assert post.kept == answer.kept
        again = window.add_many(posts)
        assert [one.kept for one in again[: len(answers)]] == [one.kept for one in answers.values()]
        window.close()


def test_a_server_that_throws_posts_away_is_refused(tmp_path: Path) -> None:
    """Before any post is sent."""
    with (
        serving(tmp_path / "evicting", "--maxmemory", "10mb", "--maxmemory-policy", "allkeys-lru") as server,
        pytest.raises(StoreError, match="Set it to noeviction"),
    ):
        hybriddup.Window.open(server.url(), config=CONFIG)


def test_a_server_that_is_slow_is_not_waited_for_longer_than_asked(server: Server) -> None:
    """The error comes after the time-out, and says what to do."""
    with hybriddup.Window.open(server.url("slow", timeout=0.3), config=CONFIG) as window:
        window.add("one")
        assert server.process is not None
        server.process.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(StoreError, match="Check the server and the network"):
                window.add("two")
            assert time.monotonic() - began < 5
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert window.add("three").kept


def test_what_a_window_takes_levels_off(server: Server) -> None:
    """Keys are gone when no post wrote to them for two horizons."""
    with server.client() as client:
        check_levelling_off(server.url("levels"), lambda: sum(1 for _ in client.scan_iter("{levels*", count=5000)), 2)
