"""Errors of a window whose table is emptied, replaced, disabled or damaged: what happened, and what to do."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from unittest.mock import patch

import happybase
import pytest
from servers import HBase

import hybriddup
from hybriddup.errors import StoreError
from hybriddup.testing.window_posts import CONFIG
from hybriddup.window import Window

TEXT, NEARLY = "你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"
FAMILIES: dict[str, dict[str, int]] = {"d": {}, "m": {"max_versions": 1}}


@contextmanager
def connected(servers: HBase) -> Iterator[happybase.Connection]:
    """Yield a connection."""
    with closing(happybase.Connection("127.0.0.1", servers.port)) as connection:
        yield connection


def open_window(servers: HBase, name: str) -> Window:
    """Open a window of the tests."""
    return hybriddup.Window.open(servers.url(name, timeout=20), config=CONFIG, workers=1)


def empty(servers: HBase, name: str) -> None:
    """Do what ``truncate`` does: disable, drop and create the table."""
    with connected(servers) as connection:
        connection.delete_table(name, disable=True)
        connection.create_table(name, FAMILIES)


@pytest.mark.parametrize("is_begun_anew", [False, True])
def test_a_window_whose_table_is_emptied_refuses_posts_until_it_is_opened_again(
    servers: HBase, is_begun_anew: bool
) -> None:
    """As posts that it kept are gone; also if another process has begun a new window in it."""
    name = f"emptied{is_begun_anew}"
    with open_window(servers, name) as window:
        assert window.add({"id": "a", "text": TEXT}).kept
        empty(servers, name)
        if is_begun_anew:
            open_window(servers, name).close()
        for _ in range(2):
            with pytest.raises(StoreError, match=r"emptied or replaced .*open the window again"):
                window.add({"id": "b", "text": TEXT})
            with pytest.raises(StoreError, match="emptied or replaced"):
                window.stats()
    with open_window(servers, name) as window:
        assert window.add({"id": "a", "text": TEXT}).kept


def test_a_window_whose_counter_of_positions_is_lost_overwrites_nothing(servers: HBase) -> None:
    """The first posts are refused, and those that were kept stay."""
    with open_window(servers, "counter") as window:
        for number in range(3):
            window.add({"id": number, "text": f"{TEXT}{number}"})
        with connected(servers) as connection:
            connection.table("counter").delete(b"m", [b"m:n"])
        with pytest.raises(StoreError, match=r"counter of positions, which went back.*Restore a backup"):
            window.add(NEARLY)
        assert [window.get(number).text for number in range(3)] == [f"{TEXT}{number}" for number in range(3)]  # type: ignore[union-attr]


def test_a_table_that_was_dropped_is_named(servers: HBase) -> None:
    """With the message of HBase."""
    with open_window(servers, "dropped") as window:
        with connected(servers) as connection:
            connection.delete_table("dropped", disable=True)
        with pytest.raises(StoreError, match=r"TableNotFoundException.*Check its servers and the table dropped"):
            window.add(TEXT)


def test_opening_a_disabled_table_says_how_to_enable_it(servers: HBase) -> None:
    """And does not wait for ever."""
    open_window(servers, "disabled").close()
    with connected(servers) as connection:
        connection.disable_table("disabled")
    with (
        patch("hybriddup_hbase.table.ENABLED_WITHIN", 0.5),
        pytest.raises(StoreError, match=r"table disabled of HBase is disabled.*enable 'disabled'"),
    ):
        open_window(servers, "disabled")


DAMAGES = {
    "posts": (b"r", b"d:p", b"\x00"),
    "reasons": (b"r", b"d:e", b"{]"),
    "states": (b"s", b"d:s", b"\xff" * 40),
    "claims": (b"n", None, b"?"),
    "outcomes": (b"t", b"d:o", b"??"),
    "buckets": (b"b", None, b"odd"),
    "watermark": (b"m", b"m:w", b"soon"),
    "counter": (b"m", b"m:n", b"7"),
    "ledgers": (b"f", b"m:f", b"[1, 2"),
    "values": (b"m", b"m:vrecipe", b"short"),
}
"""For each kind of cell its row, its column, None = all, and the value that replaces it."""


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_cell_is_an_error_that_says_what_to_do(servers: HBase, what: str) -> None:
    """Whatever kind of cell it is."""
    prefix, column, damage = DAMAGES[what]
    with open_window(servers, f"damaged-{what}") as window:
        window.add_many([{"id": "kept", "text": TEXT}, {"id": "duplicate", "text": NEARLY}])
        n_damaged = spoil(servers, f"damaged-{what}", prefix, column, damage)
        assert n_damaged
        with pytest.raises(
            StoreError, match=r"(the store is damaged: .*Restore a backup)|(HBase refused a call: .*Check)"
        ):
            use(servers, window, f"damaged-{what}")


def use(servers: HBase, window: Window, name: str) -> None:
    """Open a window once more, and send posts whose ids, whose matches, and which themselves are there or not."""
    open_window(servers, name).close()
    for post_id in "kept", "duplicate", "another":
        window.add({"id": post_id, "text": f"{TEXT}!"})


def spoil(servers: HBase, name: str, prefix: bytes, column: bytes | None, damage: bytes) -> int:
    """Write something else into cells of a table; return their number."""
    n = 0
    with connected(servers) as connection:
        table = connection.table(name)
        for key, row in list(table.scan(row_prefix=prefix)):
            for one in row:
                if column in (None, one):
                    table.put(key, {one: damage})
                    n += 1
    return n


def test_a_post_is_deleted_though_it_cannot_be_counted(servers: HBase, caplog: pytest.LogCaptureFixture) -> None:
    """The deletion lasts, and the log has a warning."""
    with open_window(servers, "uncounted") as window:
        window.add({"id": "a", "text": TEXT})
        spoil(servers, "uncounted", b"f", b"m:f", b"?")
        with caplog.at_level(logging.WARNING, "hybriddup"):
            assert window.delete("a")
        assert "a post was deleted, but still counts as kept" in caplog.text
        assert window.get("a") is None
        assert not window.delete("a")
