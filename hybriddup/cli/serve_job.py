"""What `hybriddup serve` does: check what was asked for, listen, open the window behind the port, drain."""

from __future__ import annotations

import os
import signal
import time as system_time
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import typer

from hybriddup.cli.options import EXIT_INTERRUPTED
from hybriddup.cli.windows import open_window, settle
from hybriddup.config import open_session
from hybriddup.errors import ConfigError
from hybriddup.service.limits import Limits
from hybriddup.window import AnyWindow, Window, WindowStats
from hybriddup.window.event_time import TimeOf, parse_timing
from hybriddup.window.urls import path_of, url_of

TOKEN_VARIABLE = "HYBRIDDUP_TOKEN"  # noqa: S105  the name of a variable, not a token
SHORTEST_TOKEN = 16
TRIED_BYTES = 2**20
"""Room on the disk from which on it is no longer called full."""
PACKAGES = ("starlette", "uvicorn", "httptools", "prometheus_client")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def perform(
    store: str,
    config: str,
    *,
    rewind: bool,
    host: str,
    port: int,
    token_file: str | None,
    access_log: bool,
    time: TimeOf,
    horizon: str,
    max_step: str | None,
    workers: int | None,
    plugins: Sequence[str],
    max_body: int,
    **others: Any,
) -> int:
    """Serve a window, opened as `open_window` does, until told to end; return the exit code.

    ``others`` are the limits of the service but for that of a body.
    """
    check_installed()
    from hybriddup.service.connections import Connections
    from hybriddup.service.server import Server, create_app, leave_at_once, listen
    from hybriddup.service.service import Service

    token = find_token(token_file)
    check_host(host, token)
    # faults of the options and of the configuration are told before anybody is served
    parse_timing(time, horizon, max_step, system_time.time)
    open_session(config, plugins)
    opening = {"horizon": horizon, "time": time, "max_step": max_step, "workers": workers, "plugins": plugins}
    open_ready = partial(open_with_kernels, store, config, rewind=rewind, **opening)
    limits = Limits(max_body_bytes=max_body, **others)
    service = Service(open_ready, limits, time, partial(try_disk, store))
    hosts = () if token else {*LOOPBACK_NAMES, host.lower()}
    connections = Connections(limits, lambda error: service.metrics.refused.labels(error).inc())
    app = create_app(
        service,
        token=token,
        hosts=hosts,
        connections=connections,
        log=partial(typer.echo, err=True) if access_log else None,
        on_ready=say_ready,
        on_failure=lambda: server.end(),
    )
    server = Server(app, connections)
    opened = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"listening on http://{shown}:{opened.getsockname()[1]}", err=True)
    with opened:
        server.run(opened)
    if service.failure is not None:
        raise service.failure
    code = EXIT_INTERRUPTED if server.ended_by == signal.SIGINT else 0
    if not service.is_closed:
        leave_at_once(code)
    return code


def say_ready(stats: WindowStats) -> None:
    """Tell whoever started the service that it takes posts."""
    typer.echo(f"ready: {stats.n_kept_in_window:,} kept posts in the window", err=True)


def try_disk(store: str) -> None:
    """Write to the disk of a store and leave nothing behind; OSError where that fails."""
    scheme, url = url_of(store)
    if scheme != "file":  # only the next posts can tell
        return
    with TemporaryFile(dir=path_of(url)) as file:
        file.write(bytes(TRIED_BYTES))
        file.flush()
        os.fsync(file.fileno())


def check_installed() -> None:
    """Raise ConfigError where a package of the extra is missing."""
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise ConfigError(
            f"hybriddup serve needs {', '.join(missing)}, which is not installed; run: pip install 'hybriddup[serve]'"
        )


def find_token(file: str | None) -> str | None:
    """Return the token from a file or the environment; None where there is none."""
    if file is not None:
        try:
            token, where = Path(file).read_text("utf-8").strip(), file
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"--token-file {file} cannot be read: {error}. Name a file with the token in it."
            ) from None
    elif TOKEN_VARIABLE in os.environ:
        token, where = os.environ[TOKEN_VARIABLE].strip(), TOKEN_VARIABLE
    else:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"the token in {where} must be at least {SHORTEST_TOKEN} ASCII characters without spaces; it has "
            f"{len(token)}. Make one, for instance with: openssl rand -hex 32"
        )
    return token


def check_host(host: str, token: str | None) -> None:
    """Refuse to serve other machines without a token."""
    if token is None and not is_loopback(host):
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token. Give one with --token-file FILE "
            f"or in {TOKEN_VARIABLE}, or listen on 127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Return whether an address is of this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def open_with_kernels(store: str, config: str, **opening: Any) -> AnyWindow:
    """Return the window, with all kernels loaded; the parameters are those of `open_window`."""
    window = open_window(store, config, **opening)
    try:
        load_kernels(config, opening["workers"], opening["plugins"])
    except BaseException:
        window.close()
        raise
    settle()
    return window


def load_kernels(config: str, workers: int | None, plugins: Sequence[str]) -> None:
    """Decide two posts in a window of their own, so that the first request does not wait for the compiler."""
    with Window.open(None, config, workers=workers, plugins=plugins) as window:
        window.add_many(["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"])
        window.match("你妈妈喊你回家吃饭")
