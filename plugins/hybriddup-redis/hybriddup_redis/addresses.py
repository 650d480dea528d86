"""Addresses of windows in Redis: the parts of a URL, and the arguments of connections that follow from them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from hybriddup.errors import ConfigError
from hybriddup.shared_windows.opening import LEASE
from hybriddup.window.urls import split_address

NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
CLUSTER_PARTITIONS = 64
MOST_PARTITIONS = 256
TIMEOUT = 5.0
USER, PASSWORD = "HYBRIDDUP_REDIS_USER", "HYBRIDDUP_REDIS_PASSWORD"
SENTINEL_USER, SENTINEL_PASSWORD = "HYBRIDDUP_REDIS_SENTINEL_USER", "HYBRIDDUP_REDIS_SENTINEL_PASSWORD"
FORMS = (
    "redis://[user:password@]host:port/0?window=NAME, redis-cluster://host:port,host:port?window=NAME, "
    "redis-sentinel://host:port,host:port/SERVICE?window=NAME; with TLS rediss..."
)
FILES = {"ca": "ssl_ca_certs", "cert": "ssl_certfile", "key": "ssl_keyfile"}
"""Maps options that name files to the client's names for them."""
OPTIONS = "window", "timeout", "lease", "partitions", *FILES


class Place(NamedTuple):
    """The parsed URL of a window."""

    parts: SplitResult
    kind: str
    """``server``, ``cluster`` or ``sentinel``."""
    hosts: list[tuple[str, int]]
    window: str
    timeout: float
    """Seconds to wait for an answer."""
    lease: float
    n_partitions: int
    """Number of partitions if the window is new."""
    files: dict[str, str]
    """Files for TLS, by the client's names: certificates to trust, and a client certificate with its key."""

    @property
    def access(self) -> dict[str, Any]:
        """Arguments of connections to servers with data."""
        user = unquote(self.parts.username or "") or os.environ.get(USER)
        password = unquote(self.parts.password or "") or os.environ.get(PASSWORD)
        return {"username": user, "password": password, **self.connection}

    @property
    def sentinel_access(self) -> dict[str, Any]:
        """Arguments of connections to Sentinel, which has users of its own."""
        user, password = os.environ.get(SENTINEL_USER), os.environ.get(SENTINEL_PASSWORD)
        return {"username": user, "password": password, **self.connection}

    @property
    def connection(self) -> dict[str, Any]:
        """Arguments of all connections."""
        timeouts = {"socket_timeout": self.timeout, "socket_connect_timeout": self.timeout}
        is_safe = self.parts.scheme.startswith("rediss")
        return timeouts | ({"ssl": True, **self.files} if is_safe else {})


def place_of(url: str) -> Place:
    """Parse the URL of a window; ConfigError if it is not valid."""
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
    files = files_of(options, parts.scheme)
    return Place(parts, kind, hosts, name, timeout, lease, n_partitions, files)


def host_of(text: str) -> tuple[str, int]:
    """Parse a host and its port, 6379 by default; ValueError if the port is not valid."""
    one = urlsplit(f"//{text}")
    return one.hostname or "localhost", one.port or 6379


def files_of(options: Mapping[str, str], scheme: str) -> dict[str, str]:
    """Return the files for TLS, by the client's names; ConfigError if one does not exist, or nothing uses them."""
    files = {option: options[option] for option in FILES if option in options}
    if files and not scheme.startswith("rediss"):
        safe = scheme.replace("redis", "rediss")
        raise ConfigError(f"{', '.join(FILES)} are for TLS: begin the address with {safe}, or leave them out.")
    for option, file in files.items():
        if not Path(file).is_file():
            raise ConfigError(f"{option} must be a file that exists; got {file!r}.")
    if "key" in files and "cert" not in files:
        raise ConfigError("key is the private key of a certificate: name that one as cert.")
    return {FILES[option]: file for option, file in files.items()}


def seconds_of(name: str, value: object) -> float:
    """Parse the option ``name``; ConfigError if it is not a number of seconds from 0.01 to 3600."""
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds <= 3600:
        raise ConfigError(f"{name} must be seconds, 0.01 to 3600; got {value!r}.")
    return seconds


def partitions_of(value: object) -> int:
    """Parse a number of partitions; ConfigError if it is not a power of 2 up to `MOST_PARTITIONS`."""
    number = int(str(value)) if str(value).isdecimal() else 0
    if not 1 <= number <= MOST_PARTITIONS or number.bit_count() != 1:
        raise ConfigError(f"partitions must be 1, 2, 4, ... or {MOST_PARTITIONS}; got {value!r}.")
    return number
