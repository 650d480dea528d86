"""`hybriddup serve`: check the options, listen, open the window in the background, and shut down gracefully."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, flag, option
from hybriddup.cli.watch import Authors, Counts, Horizon, MaxStep, Rewind, TimeOf
from hybriddup.errors import ConfigError

TOKEN_VARIABLE = "HYBRIDDUP_TOKEN"  # noqa: S105  the name of a variable, not a token
SHORTEST_TOKEN = 16
TRIED_BYTES = 2**20
"""Size in bytes of the test file that must fit on a disk; otherwise, the disk counts as full."""
PACKAGES = ("starlette", "uvicorn", "httptools", "prometheus_client")
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")

EPILOG = """\b
Examples:
  hybriddup serve --store window
      then: curl localhost:8077/v1/posts -H 'Content-Type: application/json' -d '{"id": "a", "text": "good morning"}'
      in a browser: http://localhost:8077/
  HYBRIDDUP_TOKEN=$(cat token) hybriddup serve --store window --host 0.0.0.0
      for other machines; clients send the token as Authorization: Bearer TOKEN

Needs the extra: pip install 'hybriddup[serve]'. The requests are documented at /docs, and as OpenAPI at /openapi.json.

Exit codes: 0 ended by SIGTERM: all accepted requests were answered and the window was closed; 2 an error; 130 the same
as 0, by Ctrl-C; a second Ctrl-C ends at once, and loses nothing that was answered."""


def serve(
    store: Annotated[
        str, option("DIR|URL", "Directory of the window, created if missing, or its URL.", show_default=False)
    ],
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    horizon: Horizon = "2d",
    time: TimeOf = "arrival",
    max_step: MaxStep = None,
    rewind: Rewind = False,
    counts: Counts = False,
    authors: Authors = None,
    workers: options.Workers = None,
    host: Annotated[
        str, option("HOST", "Address to listen on; others than loopback need a token, and a reverse proxy in front.")
    ] = "127.0.0.1",
    port: Annotated[int, option("PORT", "Port; 0 takes a free one.", min=0, max=65535)] = 8077,
    token_file: Annotated[
        str | None,
        option("FILE", "File with the token that clients must send; or set the environment variable HYBRIDDUP_TOKEN."),
    ] = None,
    max_body: Annotated[int, option("BYTES", "Maximum size of a request's body.", min=1024)] = 8 * 2**20,
    max_posts: Annotated[int, option("N", "Maximum number of posts per request.", min=1)] = 1000,
    max_text_length: Annotated[int, option("N", "Maximum length of a text in characters.", min=1)] = 20_000,
    max_queue: Annotated[
        int, option("N", "Maximum number of waiting posts; more are refused with status 429.", min=1)
    ] = 20_000,
    request_timeout: Annotated[
        float, option("SECONDS", "Deadline for a body, and again for the answer.", min=0.1)
    ] = 10.0,
    keep_alive: Annotated[
        int, option("SECONDS", "Time for which a connection stays open between requests.", min=1)
    ] = 30,
    access_log: Annotated[
        bool,
        flag(
            "--access-log",
            "Write a line for each request to standard error: time, client, method, path, status, seconds.",
        ),
    ] = False,
) -> None:
    """Answer over HTTP whether a post repeats one that was kept within the horizon.

    A decision is stored before the client gets it; a post sent again with the same id gets the same answer. On SIGTERM,
    accepted requests are answered before the service ends.
    """
    check_installed()
    from time import time as clock

    from hybriddup.cli.compiling import compiling_together
    from hybriddup.cli.windows import open_window, settle
    from hybriddup.config import open_session
    from hybriddup.run.progress import note_compiling
    from hybriddup.run.terminal import say
    from hybriddup.service.limits import Limits
    from hybriddup.service.server import Server, create_app, leave_at_once, listen
    from hybriddup.service.service import Service
    from hybriddup.window import AnyWindow
    from hybriddup.window.event_time import parse_timing

    token = find_token(token_file)
    check_host(host, token)
    # report faults of the options and of the configuration before listening
    parse_timing(time, horizon, max_step, clock)
    open_session(config, plugins or ())

    def open_ready() -> AnyWindow:
        """Open the window, and load all kernels."""
        timing = {"horizon": horizon, "time": time, "max_step": max_step}
        opening = {**timing, "counts": counts, "authors": authors, "workers": workers, "plugins": plugins or ()}
        window = open_window(store, config, rewind=rewind, **opening)
        try:
            load_kernels(config, workers, plugins or ())
        except BaseException:
            window.close()
            raise
        settle()
        return window

    limits = Limits(max_body, max_posts, max_text_length, max_queue, request_timeout, keep_alive)
    service = Service(open_ready, limits, time, partial(try_disk, store), authors)
    app = create_app(
        service,
        token=token,
        hosts=() if token else {*LOOPBACK_NAMES, host.lower()},
        log=say if access_log else None,
        on_ready=lambda stats: say(f"ready: {stats.n_kept_in_window:,} kept posts in the window"),
        on_failure=lambda: server.end(),
    )
    server = Server(app, limits)
    opened = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"listening on http://{shown}:{opened.getsockname()[1]}", err=True)
    with opened, compiling_together(config), note_compiling(say):
        server.serve_on(opened)
    if service.failure is not None:
        raise service.failure
    code = options.EXIT_INTERRUPTED if server.ended_by == signal.SIGINT else 0
    if not service.is_closed:
        leave_at_once(code)
    options.exit_with(code)


def try_disk(store: str) -> None:
    """Write a temporary file to a store's directory, and raise OSError on failure; do nothing if the store is a URL."""
    from tempfile import TemporaryFile

    from hybriddup.window.urls import path_of, url_of

    scheme, url = url_of(store)
    if scheme != "file":  # only the next posts will show whether it works
        return
    with TemporaryFile(dir=path_of(url)) as file:
        file.write(bytes(TRIED_BYTES))
        file.flush()
        os.fsync(file.fileno())


def check_installed() -> None:
    """Raise ConfigError if a package of the extra ``hybriddup[serve]`` is not installed."""
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise ConfigError(
            f"hybriddup serve needs {', '.join(missing)}, which is not installed; run: pip install 'hybriddup[serve]'"
        )


def find_token(file: str | None) -> str | None:
    """Return the token from ``file`` or the environment, None if there is none; raise ConfigError if it is unusable."""
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
    """Raise ConfigError if other machines could reach the service without a token."""
    from ipaddress import ip_address

    try:
        is_loopback = ip_address(host).is_loopback
    except ValueError:
        is_loopback = host.lower() == "localhost"
    if token is None and not is_loopback:
        raise ConfigError(
            f"--host {host} can be reached from other machines, and there is no token. Give one with --token-file FILE "
            f"or in {TOKEN_VARIABLE}, or listen on 127.0.0.1."
        )


def load_kernels(config: str, workers: int | None, plugins: Sequence[str]) -> None:
    """Load or compile the kernels, by deciding two posts in a temporary window, so that the first request is fast."""
    from hybriddup.window import Window

    with Window.open(None, config, workers=workers, plugins=plugins) as window:
        window.add_many(["你妈妈喊你回家吃饭哦，回家罗回家罗", "你妈妈叫你回家吃饭啦，回家罗回家罗"])
        window.match("你妈妈喊你回家吃饭")
