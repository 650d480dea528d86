"""Addresses of windows in HBase: what they may say, and what is told of those that cannot be meant."""

from __future__ import annotations

import re

import happybase
import pytest
from hybriddup_hbase.opening import LAYOUT
from plugin_support.classic import config_of
from servers import HBase, free_port

import hybriddup
from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.testing.window_posts import CONFIG


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("hbase://localhost", "must name the window's table"),
        ("hbase://localhost/a/b", "must name the window's table"),
        ("hbase://localhost/-a", "must name the window's table"),
        ("hbase://localhost/a?colour=red", "has no colour"),
        ("hbase://localhost/a?lease=soon", "lease must be a number from 0.01 to 3600"),
        ("hbase://localhost/a?timeout=0", "timeout must be a number"),
        ("hbase://localhost/a?connections=0", "connections must be a number from 1 to 64"),
        ("hbase://localhost/a?transport=pigeon", "transport must be buffered or framed"),
        ("hbase://localhost/a?protocol=", "protocol must be binary or compact"),
        ("hbase://localhost:port/a", "no address of HBase"),
        ("hbase://me:hidden@localhost/a", "takes no user and password"),
        ("hbase://me:hid/den@localhost/a", "write / .* as %2F"),
        ("hbase://me:hid#den@localhost/a", "write / .* as %2F"),
        ("hbase://me:hid?den@localhost/a", "write / .* as %2F"),
        ("hbase://me:7/hid?den=1#den@localhost/a", "write / .* as %2F"),
        ("hbase://me:hid[den@localhost/a", "write / .* as %2F"),
        ("hbase://localhost:hidden/a", "its port must be a number"),
        ("hbase://localhost/a?hidden", "each option NAME=VALUE"),
    ],
)
def test_what_cannot_be_meant_is_refused(address: str, told: str) -> None:
    """With what is allowed, and without the password."""
    with pytest.raises(ConfigError, match=told) as caught:
        hybriddup.Window.open(address, config=CONFIG)
    assert not {"hidden", "hid", "den"} & set(re.findall(r"\w+", str(caught.value)))


def test_a_server_that_does_not_answer_is_named() -> None:
    """And what to look for."""
    port = free_port()
    with pytest.raises(StoreError, match=f"127.0.0.1:{port} does not answer.*Check the server and the network"):
        hybriddup.Window.open(f"hbase://127.0.0.1:{port}/a", config=CONFIG)


def test_a_recipe_that_is_another_is_refused_and_the_difference_named(servers: HBase) -> None:
    """Where the window was made by another configuration."""
    hybriddup.Window.open(servers.url("recipes"), config=CONFIG).close()
    with pytest.raises(WindowError, match="another recipe"):
        hybriddup.Window.open(servers.url("recipes"), config="articles")


def test_a_longer_horizon_than_that_of_the_window_is_refused(servers: HBase) -> None:
    """HBase drops what is older than the first one asked for; a shorter one is served."""
    hybriddup.Window.open(servers.url("horizons"), config=CONFIG, horizon="1h").close()
    with pytest.raises(WindowError, match=r"horizon of 3600 s.*got 7200 s"):
        hybriddup.Window.open(servers.url("horizons"), config=CONFIG, horizon="2h")
    with hybriddup.Window.open(servers.url("horizons"), config=CONFIG, horizon="30m") as window:
        assert window.add("text").kept


def test_a_table_that_is_no_window_is_left_alone(servers: HBase) -> None:
    """It is told by its families."""
    connection = happybase.Connection("127.0.0.1", servers.port)
    connection.create_table("others", {"cf": {}})
    with pytest.raises(StoreError, match="is no window of hybriddup: its families are cf"):
        hybriddup.Window.open(servers.url("others"), config=CONFIG)
    assert list(connection.table("others").scan()) == []
    connection.close()


def test_a_window_of_another_version_is_refused(servers: HBase) -> None:
    """As its rows may mean something else."""
    hybriddup.Window.open(servers.url("versions"), config=CONFIG).close()
    connection = happybase.Connection("127.0.0.1", servers.port)
    table = connection.table("versions")
    part = next(key for key, row in table.scan(row_prefix=b"v") if row[b"m:v"] == b"%d" % LAYOUT)
    table.put(part, {b"m:v": b"7"})
    connection.close()
    with pytest.raises(StoreError, match=f"layout 7; this one has {LAYOUT}"):
        hybriddup.Window.open(servers.url("versions"), config=CONFIG)


@pytest.mark.parametrize(("transport", "protocol", "flags"), [("framed", "compact", ("-f", "-c"))])
def test_the_server_may_speak_otherwise(servers: HBase, transport: str, protocol: str, flags: tuple[str, ...]) -> None:
    """As the address says."""
    port = free_port()
    servers.start_thrift("other-thrift", port, *flags)
    try:
        address = f"hbase://127.0.0.1:{port}/otherwise?transport={transport}&protocol={protocol}"
        with hybriddup.Window.open(address, config=config_of((4, 1))) as window:
            assert [window.add("text").kept for _ in range(2)] == [True, False]
            assert window.match("text")[0].is_match
    finally:
        servers.end("other-thrift")
