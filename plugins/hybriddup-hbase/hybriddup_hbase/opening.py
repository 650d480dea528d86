"""Open windows in HBase: parse the URL, and create the table or check that it is a window."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl

from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.shared_windows import Needs, open_shared
from hybriddup.shared_windows.opening import LEASE, layout_of, refuse_other_layout
from hybriddup.shared_windows.packing import refusing_damage
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.urls import split_address
from hybriddup.window.window import Window
from hybriddup_hbase.store import SPARE, HBaseStore
from hybriddup_hbase.table import Table
from hybriddup_hbase.values import Values

NAME = re.compile(r"(?:[A-Za-z0-9_]\w*:)?[A-Za-z0-9_][\w.-]{0,63}", re.ASCII)
FORM = "hbase://host:9090/NAME?timeout=60"
TIMEOUT = 60.0
"""Default for seconds to wait for an answer: time for HBase to give the work of a lost server to another one."""
FOREVER = 2**31 - 1
"""Time to live that HBase treats as unlimited, in seconds."""
OPTIONS = {"transport": ("buffered", "framed"), "protocol": ("binary", "compact")}
LAYOUT = 4


class Address(NamedTuple):
    """The parts of a URL of a window."""

    table: str
    n_connections: int
    lease: float
    connection: dict[str, Any]
    """Arguments of `happybase.Connection`."""


class HBaseWindows:
    """Opens windows in HBase."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return the window that a URL names; see `hybriddup.window.protocols.WindowOpener`."""
        address = address_of(url)
        return open_shared(lambda needs: open_store(address, needs), options, address.lease)


def address_of(url: str) -> Address:
    """Parse the URL of a window; ConfigError if it is not valid."""
    parts = split_address(url, FORM)
    try:
        port = parts.port or 9090
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
    except ValueError:  # whose message may repeat a password
        raise ConfigError(
            "this is no address of HBase: its port must be a number from 1 to 65535, and each option NAME=VALUE, "
            f"with & in between. Allowed: {FORM}."
        ) from None
    check_parts(parts)
    allowed = {"timeout": TIMEOUT, "lease": LEASE, "connections": 4}
    if wrong := set(options) - set(allowed) - set(OPTIONS):
        names = ", ".join([*allowed, *OPTIONS])
        raise ConfigError(f"an address of HBase has no {', '.join(sorted(wrong))}; it may have {names}.")
    timeout, lease = (number_of(name, options.get(name, allowed[name]), 0.01, 3600) for name in ("timeout", "lease"))
    n_connections = int(number_of("connections", options.get("connections", allowed["connections"]), 1, 64))
    chosen = {name: choice_of(name, options.get(name, choices[0]), choices) for name, choices in OPTIONS.items()}
    connection = {"host": parts.hostname or "localhost", "port": port, "timeout": 1000 * timeout, **chosen}
    return Address(parts.path.strip("/"), n_connections, lease, connection)


def check_parts(parts: SplitResult) -> None:
    """Raise ConfigError if a URL has a user or a password, or no valid table name."""
    if parts.username or parts.password:
        raise ConfigError(
            "the Thrift server of HBase takes no user and password: let only those reach it who may, by the network or "
            f"a tunnel. Allowed: {FORM}."
        )
    name = parts.path.strip("/")
    if NAME.fullmatch(name) is None:
        raise ConfigError(
            "an address of HBase must name the window's table, of at most 64 letters, digits, dots, - and _, with a "
            f"namespace and : before it or none; got {name!r}. Allowed: {FORM}."
        )


def number_of(name: str, value: object, least: float, most: float) -> float:
    """Parse the option ``name``; ConfigError if it is not a number from ``least`` to ``most``."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise ConfigError(f"{name} must be a number from {least:g} to {most:g}; got {value!r}.")
    return number


def choice_of(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return the value of the option ``name``; ConfigError if it is not one of the choices."""
    if value not in choices:
        raise ConfigError(f"{name} must be {' or '.join(choices)}; got {value!r}.")
    return value


def open_store(address: Address, needs: Needs) -> HBaseStore:
    """Open the store of a window; create its table if it does not exist.

    Raises
    ------
    StoreError
        HBase cannot be reached, or the table is disabled, or another version or another program created it.
    WindowError
        The window was created for a shorter horizon.
    """
    table = Table(address.table, address.n_connections, address.connection)
    try:
        families = make_table(table, address.table, needs)
        values = Values(table)
        check_layout(values, needs, families)
        first = values.set_first("horizon", repr(needs.horizon).encode())
        with refusing_damage("the value of horizon"):
            horizon = float(first)
        return HBaseStore(table, horizon, needs)
    except BaseException:
        table.close()
        raise


def check_layout(values: Values, needs: Needs, families: set[bytes]) -> None:
    """Raise an error if the window has another layout, or its table lacks the column family for the classic tables."""
    own = layout_of(LAYOUT, needs)
    refuse_other_layout(values.set_first("version", own.encode()).decode("utf-8", "replace"), own)
    if needs.segments and b"b" not in families:
        raise StoreError(
            "the table of the window has no family b, which the classic tables need. Add it in the shell of HBase: "
            f"alter the table with {{NAME => 'b', TTL => {ttl_of(needs)}, BLOOMFILTER => 'ROW'}}."
        )


def ttl_of(needs: Needs) -> int:
    """Return the time for which HBase keeps posts, in seconds."""
    return min(math.ceil(SPARE * needs.horizon), FOREVER)


def make_table(table: Table, name: str, needs: Needs) -> set[bytes]:
    """Create the table of a window if there is none, check its families and times to live; return the families."""
    kinds = {"bloom_filter_type": "ROW", "max_versions": 1, "block_cache_enabled": True}
    passing = {**kinds, "time_to_live": ttl_of(needs)}
    tables = {"b": passing} if needs.segments else {}
    found = table.make({**tables, "d": passing, "m": kinds})
    if set(found) - {b"b"} != {b"d", b"m"}:
        raise StoreError(
            f"the table {name} of HBase is no window of hybriddup: its families are "
            f"{', '.join(sorted(one.decode() for one in found))}. Choose another name."
        )
    seconds = min(one["time_to_live"] for family, one in found.items() if family != b"m")
    if seconds != FOREVER and SPARE * needs.horizon > seconds + 1:
        raise WindowError(
            f"the window was made with a horizon of {seconds / SPARE:g} s, and cannot be opened with a longer one; got "
            f"{needs.horizon:g} s. Open it with that, or begin a new one under another name."
        )
    return set(found)
