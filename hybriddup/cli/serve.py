"""`hybriddup serve`: its options, and the help that teaches them."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG
from hybriddup.cli.watch import Horizon, MaxStep, Rewind, TimeOf

EPILOG = """\b
Examples:
  hybriddup serve --store window
      then: curl localhost:8077/v1/posts -H 'Content-Type: application/json' -d '{"id": "a", "text": "good morning"}'
      and for people: http://localhost:8077/
  HYBRIDDUP_TOKEN=$(cat token) hybriddup serve --store window --host 0.0.0.0
      for other machines; clients send it as Authorization: Bearer TOKEN

Needs the extra: pip install 'hybriddup[serve]'. The requests are described at /docs, and for programs at
/openapi.json.

Exit codes: 0 told to end (SIGTERM): everything accepted was answered and the window closed; 2 an error; 130 the same
as 0, by Ctrl-C; a second Ctrl-C waits for nothing, and loses nothing that was answered."""


def serve(
    store: Annotated[
        str,
        typer.Option(
            metavar="DIR|URL", show_default=False, help="Directory of the window, made where there is none, or its URL."
        ),
    ],
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    horizon: Horizon = "2d",
    time: TimeOf = "arrival",
    max_step: MaxStep = None,
    rewind: Rewind = False,
    workers: options.Workers = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen on; one that is not loopback needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="PORT", help="Port; 0 takes a free one.")] = 8077,
    token_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with the token that clients must send; the environment variable HYBRIDDUP_TOKEN does the same.",
        ),
    ] = None,
    max_body: Annotated[int, typer.Option(min=1024, metavar="BYTES", help="Size of a request's body at most.")] = 8
    * 2**20,
    max_posts: Annotated[int, typer.Option(min=1, metavar="N", help="Posts in one request at most.")] = 1000,
    max_text_length: Annotated[int, typer.Option(min=1, metavar="N", help="Characters of one text at most.")] = 20_000,
    max_queue: Annotated[
        int, typer.Option(min=1, metavar="N", help="Posts that may wait; beyond, clients are told to come back later.")
    ] = 20_000,
    max_connections: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Open connections at most; the one idle for longest makes room."),
    ] = 512,
    request_timeout: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", help="Time for a body to come, again for the answer, and again for taking it."
        ),
    ] = 10.0,
    header_timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="Time for the headers of a request to come.")
    ] = 5.0,
    keep_alive: Annotated[
        int, typer.Option(min=1, metavar="SECONDS", help="Time that a connection stays open between requests.")
    ] = 30,
    access_log: Annotated[
        bool,
        typer.Option(
            "--access-log",
            help="Write a line about each request to standard error: time, client, method, path, status, seconds.",
        ),
    ] = False,
    debug: options.Debug = False,
) -> None:
    """Decide posts over HTTP, against those kept in the last days.

    What was answered is on disk; a post sent again with the same id gets the same answer again. On SIGTERM what was
    accepted is answered before it ends.
    """
    options.perform("serve", locals())
