"""What a window in HBase promises holds when processes, connections and servers fail."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial

import happybase
import pytest
from hybriddup_hbase.store import HBaseStore
from plugin_support.expiry import check_levelling_off
from plugin_support.faults import check_shared_window, make_posts
from plugin_support.late import check_stopped_sender
from servers import QUICK, SMALL, HBase, serving

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.window_posts import CONFIG

LEASE = 1.0


@pytest.fixture(scope="module")
def fragile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HBase]:
    """HBase with two region servers, which are killed."""
    with serving(tmp_path_factory.mktemp("fragile"), 2, "384m", SMALL, QUICK) as running:
        yield running


def test_of_matching_posts_one_is_kept_whatever_happens_to_their_senders(servers: HBase) -> None:
    """They are killed, stopped for longer than the lease and continued, and their connections break; clocks differ."""

    def address(port: int) -> str:
        return f"hbase://127.0.0.1:{port}/failing?lease={LEASE}&connections=2"

    check_shared_window(address, servers.port, lease=LEASE, n_texts=700)


@pytest.mark.parametrize("method", ["announce", "enter"])
def test_posts_of_a_sender_that_stopped_for_long_displace_no_kept_post(servers: HBase, method: str) -> None:
    """Others gave them up while it was stopped; it goes on, and is killed when they are in their buckets."""
    address = servers.url(f"stopped-{method}", lease=0.05)
    check_stopped_sender(HBaseStore, method, partial(hybriddup.Window.open, address), 0.05)


def test_when_a_region_server_is_killed_windows_wait_and_go_on(fragile: HBase) -> None:
    """With what was acknowledged: another server takes over, from the log of the one that was lost."""
    with hybriddup.Window.open(fragile.url("waiting"), config=CONFIG) as window:
        posts = make_posts(20, 2)
        answers = window.add_many(posts)
        with_window = serving_window(fragile, "waiting")
        fragile.end(with_window)
        again = window.add_many(posts)
        assert [replace(one, repeated=False) for one in again] == answers
        assert not window.add(posts[0]["text"]).kept
    fragile.start_region_server(int(with_window[-1]))


def serving_window(fragile: HBase, window: str) -> str:
    """Return the name of the region server that holds a window."""
    connection = happybase.Connection("127.0.0.1", fragile.port)
    port = connection.table(window).regions()[0]["port"]
    connection.close()
    return next(
        name for name in fragile.running if name.startswith("region") and f",{port}," in fragile.whole_log(name)
    )


def test_while_the_thrift_server_is_away_posts_are_refused(fragile: HBase) -> None:
    """By an error that says so; when it is back, the window goes on."""
    with hybriddup.Window.open(fragile.url("refused", timeout=5), config=CONFIG) as window:
        posts = make_posts(20, 3)
        answers = window.add_many(posts)
        fragile.end("thrift")
        with pytest.raises(StoreError, match=r"does not answer.*Check the server and the network"):
            window.add("away")
        fragile.start_thrift()
        fragile.wait_until_it_answers()
        assert [replace(one, repeated=False) for one in window.add_many(posts)] == answers


def test_a_server_that_is_slow_is_not_waited_for_longer_than_asked(servers: HBase) -> None:
    """The error comes after the time-out, and says what to do."""
    hybriddup.Window.open(servers.url("slow"), config=CONFIG).close()  # makes the table, which may take longer
    with hybriddup.Window.open(servers.url("slow", timeout=1), config=CONFIG) as window:
        window.add("one")
        thrift = servers.running["thrift"]
        thrift.send_signal(signal.SIGSTOP)
        try:
            began = time.monotonic()
            with pytest.raises(StoreError, match="Check the server and the network"):
                window.add("two")
            assert time.monotonic() - began < 10
        finally:
            thrift.send_signal(signal.SIGCONT)
        assert window.add("three").kept


def test_what_a_window_takes_levels_off(servers: HBase) -> None:
    """HBase drops the rows of a post after one and a half horizons."""
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        check_levelling_off(
            servers.url("levels"), lambda: sum(1 for _ in connection.table("levels").scan(columns=[b"d"])), 1.5
        )
    with hybriddup.Window.open(servers.url("levels"), config=CONFIG, horizon="2s", max_step="2s") as window:
        assert window.stats().store_bytes is None
