"""Addresses of windows in Redis: what they may say, and what is told of those that cannot be meant."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from hybriddup_redis.opening import check_server
from servers import Server, free_port, watching

import hybriddup
from hybriddup.errors import ConfigError, StoreError, WindowError
from hybriddup.testing.window_posts import CONFIG


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("redis://localhost/0", "must name the window"),
        ("redis://localhost/0?window=a/b", "must name the window"),
        ("redis://localhost/0?window=a&colour=red", "has no colour"),
        ("redis://localhost/0?window=a&lease=soon", "lease must be seconds"),
        ("redis://localhost/0?window=a&timeout=0", "timeout must be seconds"),
        ("redis://localhost/0?window=a&partitions=3", "partitions must be 1, 2, 4, ... or 256; got '3'"),
        ("redis://localhost:port/0?window=a", "no address of Redis"),
        ("redis://localhost/news?window=a", "number of a database"),
        ("rediss://localhost/0?window=a&cert=nowhere.pem", "cert must be a file that exists; got 'nowhere.pem'"),
        ("redis://localhost/0?window=a&cert=own.pem", "are for TLS: begin the address with rediss,"),
    ],
)
def test_what_cannot_be_meant_is_refused(address: str, told: str) -> None:
    """With what is allowed."""
    with pytest.raises(ConfigError, match=told):
        hybriddup.Window.open(address, config=CONFIG)


@pytest.mark.parametrize("password", ["hid/den", "hid#den", "hid?den", "hid/d#e?n", "hid@den/", "hid[den", "hid:den/x"])
def test_no_part_of_a_password_is_in_an_error(password: str) -> None:
    """Though it is not quoted, so that the address means something else."""
    for address in (
        f"redis://:{password}@127.0.0.1:1/0?window=a",
        f"redis-cluster://me:{password}@127.0.0.1:1?window=a",
    ):
        with pytest.raises((ConfigError, StoreError)) as caught:
            hybriddup.Window.open(address, config=CONFIG)
        assert not any(part in str(caught.value) for part in ("hid", "den"))


def test_a_server_that_does_not_answer_is_named_without_its_password() -> None:
    """And what to look for."""
    with pytest.raises(StoreError) as caught:
        hybriddup.Window.open(f"redis://me:hidden@127.0.0.1:{free_port()}/0?window=a", config=CONFIG)
    assert "See whether it runs" in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_user_and_password_may_stand_in_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no address holds them."""
    with server.client() as client:
        client.execute_command("ACL", "SETUSER", "crawler", "on", ">hidden", "~*", "+@all")
    monkeypatch.setenv("HYBRIDDUP_REDIS_USER", "crawler")
    monkeypatch.setenv("HYBRIDDUP_REDIS_PASSWORD", "wrong")
    with pytest.raises(StoreError, match="user and password"):
        hybriddup.Window.open(server.url("environment"), config=CONFIG)
    monkeypatch.setenv("HYBRIDDUP_REDIS_PASSWORD", "hidden")
    with hybriddup.Window.open(server.url("environment"), config=CONFIG) as window:
        assert window.add("text").kept
    with server.client() as client:
        assert b"crawler" in client.execute_command("ACL", "LIST")[0] + b"".join(client.execute_command("ACL", "USERS"))


def test_a_recipe_that_is_another_is_refused_and_the_difference_named(server: Server) -> None:
    """Where the window was made by another configuration."""
    hybriddup.Window.open(server.url("recipes"), config=CONFIG).close()
    with pytest.raises(WindowError, match="tokenizer"):
        hybriddup.Window.open(server.url("recipes"), config=CONFIG | {"tokenizer": {"use": "words"}})


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate that signs itself, for servers and clients, and its key."""
    folder = tmp_path_factory.mktemp("certificates")
    cert, key = str(folder / "cert.pem"), str(folder / "key.pem")
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert]
    made += ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(made, check=True, capture_output=True)
    return cert, key


@contextmanager
def safe_server(folder: Path, certificate: tuple[str, str], clients: str) -> Iterator[Server]:
    """Yield a server with TLS, which requires certificates of clients or not."""
    cert, key = certificate
    own = ("--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", clients, "--tls-ca-cert-file", cert)
    server = Server(folder / "safe", tls=own, certificate=certificate)
    server.start()
    try:
        yield server
    finally:
        server.end()


def test_windows_can_be_used_by_tls(tmp_path: Path, certificate: tuple[str, str]) -> None:
    """The server's certificate is checked, against a file of one's own where the address names it."""
    with safe_server(tmp_path, certificate, "no") as server:
        address = f"rediss://127.0.0.1:{server.port}/0?window=safe"
        with pytest.raises(StoreError, match="certificate"):
            hybriddup.Window.open(address, config=CONFIG)
        with hybriddup.Window.open(f"{address}&ca={quote(certificate[0])}", config=CONFIG) as window:
            assert window.add("text").kept


def test_a_server_may_require_a_certificate_of_its_clients(tmp_path: Path, certificate: tuple[str, str]) -> None:
    """As Redis does by default."""
    cert, key = map(quote, certificate)
    with safe_server(tmp_path, certificate, "yes") as server:
        address = f"rediss://127.0.0.1:{server.port}/0?window=safe&ca={cert}"
        with pytest.raises(StoreError):
            hybriddup.Window.open(address, config=CONFIG)
        with hybriddup.Window.open(f"{address}&cert={cert}&key={key}", config=CONFIG) as window:
            assert window.add("text").kept


def test_sentinel_may_have_a_password_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is in the environment; the servers with the data have another one."""
    of_data, of_sentinel = "of-data", "of-sentinel"
    options = ("--requirepass", of_data, "--masterauth", of_data)
    first = Server(tmp_path / "first", options, password=of_data)
    first.start()
    second = Server(tmp_path / "second", (*options, "--replicaof", f"127.0.0.1 {first.port}"), password=of_data)
    second.start()
    try:
        with watching(tmp_path / "sentinel", first, password=of_sentinel) as sentinel:
            address = f"redis-sentinel://:{of_data}@127.0.0.1:{sentinel.port}/mymaster?window=tests&timeout=2"
            with pytest.raises(StoreError, match="HYBRIDDUP_REDIS_SENTINEL_PASSWORD"):
                hybriddup.Window.open(address, config=CONFIG)
            monkeypatch.setenv("HYBRIDDUP_REDIS_SENTINEL_PASSWORD", of_sentinel)
            with hybriddup.Window.open(address, config=CONFIG) as window:
                assert window.add("text").kept
    finally:
        for server in first, second:
            server.end(signal.SIGKILL)


@pytest.mark.parametrize(("version", "is_refused"), [("5.0.14", True), ("6.0.0", False), ("10.1.0", False)])
def test_a_server_that_is_too_old_is_refused(version: str, is_refused: bool) -> None:
    """With the version that it needs; checked for each server of a cluster."""
    healthy = {"server": {"redis_version": "7.0.15"}, "memory": {"maxmemory": 0, "maxmemory_policy": "noeviction"}}
    one = {"info": lambda section: healthy[section] | ({"redis_version": version} if section == "server" else {})}
    all_of = {"info": lambda section: {"a": healthy[section], "b": one["info"](section)}}
    for client in SimpleNamespace(**one), SimpleNamespace(**all_of):
        if is_refused:
            with pytest.raises(StoreError, match=f"Redis {version} is too old for windows: they need 6.0"):
                check_server(client)
        else:
            check_server(client)


def test_a_longer_horizon_than_the_window_was_made_for_is_refused(server: Server) -> None:
    """As older posts may be gone; a shorter one sees what others keep."""
    with hybriddup.Window.open(server.url("horizons"), config=CONFIG, horizon="1h") as window:
        window.add("the first of all posts")
        with pytest.raises(WindowError, match="made with a horizon of 3600 s"):
            hybriddup.Window.open(server.url("horizons"), config=CONFIG, horizon="2h")
        with hybriddup.Window.open(server.url("horizons"), config=CONFIG, horizon="10m") as other:
            assert not other.add("the first of all posts").kept
