"""Opening windows in Redis: what a URL says, and whether the server can be relied on."""

from __future__ import annotations

import math
import os
import re
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.retry import Retry
from redis.sentinel import Sentinel

from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.shared_windows import Needs, open_shared
from hybriddup.shared_windows.opening import LEASE
from hybriddup.shared_windows.packing import refusing_damage
from hybriddup.window.protocols import WindowOptions
from hybriddup.window.urls import split_address
from hybriddup.window.window import Window
from hybriddup_redis.store import Layout, RedisStore, meta_key

NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
CLUSTER_PARTITIONS = 64
MOST_PARTITIONS = 256
TIMEOUT = 5.0
USER, PASSWORD = "HYBRIDDUP_REDIS_USER", "HYBRIDDUP_REDIS_PASSWORD"
FORMS = (
    "redis://[user:password@]host:port/0?window=NAME, redis-cluster://host:port,host:port?window=NAME, "
    "redis-sentinel://host:port,host:port/SERVICE?window=NAME; with TLS rediss..."
)
OPTIONS = "window", "timeout", "lease", "ca", "partitions"
VERSION = "3"


class Place(NamedTuple):
    """Where a window is, as its URL says."""

    parts: SplitResult
    kind: str
    """``server``, ``cluster`` or ``sentinel``."""
    hosts: list[tuple[str, int]]
    window: str
    timeout: float
    """Seconds for which an answer is waited for."""
    lease: float
    n_partitions: int
    """Of a window that is new."""
    ca: str | None
    """File of the certificates by which a server is known; None = those of the system."""

    @property
    def access(self) -> dict[str, Any]:
        """What connections are made with."""
        user = unquote(self.parts.username or "") or os.environ.get(USER)
        password = unquote(self.parts.password or "") or os.environ.get(PASSWORD)
        return {
            "username": user,
            "password": password,
            **self.connection,
        }

    @property
    def connection(self) -> dict[str, Any]:
        """What connections to any server are made with, those of Sentinel among them."""
        timeouts = {"socket_timeout": self.timeout, "socket_connect_timeout": self.timeout}
        is_safe = self.parts.scheme.startswith("rediss")
        return timeouts | ({"ssl": True, "ssl_ca_certs": self.ca} if is_safe else {})


class RedisWindows:
    """Opens windows in Redis."""

    def open_window(self, url: str, options: WindowOptions) -> Window:
        """Return the window that a URL names; see `hybriddup.window.protocols.WindowOpener`."""
        place = place_of(url)
        return open_shared(lambda needs: open_store(place, needs), options, place.lease)


def place_of(url: str) -> Place:
    """Return what a URL says; ConfigError where it cannot be meant."""
    parts = split_address(url, FORMS)
    try:
        options = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        hosts = [host_of(one) for one in parts.netloc.rpartition("@")[2].split(",")]
    except ValueError:
        raise ConfigError(
            "this is no address of Redis: each port must be a number from 1 to 65535, and each option NAME=VALUE, "
            f"joined by &. Allowed: {FORMS}."
        ) from None
    kind = parts.scheme.partition("-")[2] or "server"
    if wrong := set(options) - set(OPTIONS):
        allowed = ", ".join(OPTIONS)
        raise ConfigError(f"an address of Redis has no {', '.join(sorted(wrong))}; it may have {allowed}.")
    name = options.get("window", "")
    if NAME.fullmatch(name) is None:
        raise ConfigError(
            f"an address of Redis must name the window, as ?window=NAME of at most 64 letters, digits, dots, - and _; "
            f"got {name!r}. Allowed: {FORMS}."
        )
    timeout = seconds_of("timeout", options.get("timeout", TIMEOUT))
    lease = seconds_of("lease", options.get("lease", LEASE))
    n_partitions = partitions_of(options.get("partitions", CLUSTER_PARTITIONS if kind == "cluster" else 1))
    return Place(parts, kind, hosts, name, timeout, lease, n_partitions, options.get("ca"))


def host_of(text: str) -> tuple[str, int]:
    """Return a host and its port; ValueError where it is none."""
    one = urlsplit(f"//{text}")
    return one.hostname or "localhost", one.port or 6379


def seconds_of(name: str, value: object) -> float:
    """Return a number of seconds; ConfigError where it is none."""
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise ConfigError(f"{name} must be seconds, 0.01 to 3600; got {value!r}.")
    return seconds


def partitions_of(value: object) -> int:
    """Return a number of partitions; ConfigError where it is none."""
    number = int(str(value)) if str(value).isdecimal() else 0
    if not 1 <= number <= MOST_PARTITIONS or number.bit_count() != 1:
        raise ConfigError(f"partitions must be 1, 2, 4, ... or {MOST_PARTITIONS}; got {value!r}.")
    return number


def open_store(place: Place, needs: Needs) -> RedisStore:
    """Return the store of a window.

    Raises
    ------
    StoreError
        It cannot be reached, or may throw posts away, or was made by another version.
    WindowError
        It was made for a shorter horizon.
    """
    try:
        client = connect(place)
        check_server(client)
        layout, token = agree_on_layout(client, place, needs.horizon)
    except (redis.exceptions.RedisError, OSError) as error:
        hosts = ", ".join(f"{host}:{port}" for host, port in place.hosts)
        raise StoreError(
            f"Redis at {hosts} cannot be used: {type(error).__name__}: {error}. See whether it runs there, and whether "
            f"user and password are right (in the address, or as {USER} and {PASSWORD})."
        ) from error
    return RedisStore(client, place.window, layout, token, needs)


def connect(place: Place) -> Any:
    """Return a client that tries once more where a connection breaks: what is done twice changes nothing more."""
    retry = Retry(NoBackoff(), 1)
    if place.kind == "cluster":
        nodes = [ClusterNode(host, port) for host, port in place.hosts]  # type: ignore[no-untyped-call]
        return RedisCluster(startup_nodes=nodes, retry=retry, **place.access)
    database = place.parts.path.strip("/")
    if place.kind == "sentinel":
        sentinel = Sentinel(  # type: ignore[no-untyped-call]
            place.hosts, sentinel_kwargs=place.connection, retry=retry, **place.access
        )
        return sentinel.master_for(database or "mymaster")  # type: ignore[no-untyped-call]
    if not database.isdecimal() and database:
        raise ConfigError(f"the path of an address of Redis is the number of a database; got {database!r}.")
    host, port = place.hosts[0]
    return redis.Redis(host, port, int(database or 0), retry=retry, **place.access)


def check_server(client: Any) -> None:
    """Raise StoreError where the server may throw away what it holds."""
    told = client.info("memory")
    servers = [told] if "maxmemory_policy" in told else list(told.values())
    for one in servers:
        if int(one["maxmemory"]) and one["maxmemory_policy"] != "noeviction":
            raise StoreError(
                f"Redis throws posts away when its memory is full: maxmemory-policy is {one['maxmemory_policy']}. Set "
                "it to noeviction, so that it refuses posts instead."
            )


def agree_on_layout(client: Any, place: Place, horizon: float) -> tuple[Layout, bytes]:
    """Return how the window is laid out and the token of its store, as whoever came first has written them.

    Raises
    ------
    StoreError
        Another version has made the window.
    WindowError
        It was made for a shorter horizon.
    """
    key = meta_key(place.window)
    client.hsetnx(key, "layout", f"{VERSION} {place.n_partitions} {math.ceil(1000 * horizon)}")
    client.hsetnx(key, "token", os.urandom(16))
    written, token = client.hmget(key, "layout", "token")
    version, *numbers = written.decode().split()
    if version != VERSION:
        raise StoreError(
            f"the window was made by another version, with layout {version}; this one has {VERSION}. Open it with that "
            "version, or begin a new window under another name."
        )
    with refusing_damage("the layout of the window"):
        layout = Layout(*map(int, numbers))
    if 1000 * horizon > layout.horizon:
        raise WindowError(
            f"the window was made with a horizon of {layout.horizon / 1000:g} s, and cannot be opened with a "
            f"longer one; got {horizon:g} s. Open it with that, or begin a new one under another name."
        )
    return layout, token
