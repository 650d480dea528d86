"""`hybriddup watch`: decide posts from standard input as they arrive, and write one decision per line."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, flag, option

EPILOG = """\b
Examples:
  tail -f posts.jsonl | hybriddup watch --store window > decisions.jsonl
  hybriddup watch --time event --horizon 12h < posts.jsonl | jq -c 'select(.decision == "kept")'

Each input line gets one output line, in order, as soon as it is decided; blank lines are skipped. The output for a bad
line is {"line": N, "error": "..."}. A repeated id gets the earlier decision, with "repeated": true.

\b
Exit codes: 0 the input ended, or SIGTERM: every line read was answered; 1 the same, but some lines were bad; 2 an
error; 130 interrupted (Ctrl-C), every line read was answered; 141 the reader of standard output closed it."""

LARGEST_BATCH = 256
"""Maximum number of lines that are decided together."""

Horizon = Annotated[
    str,
    option(
        "TIME",
        "How long a kept post matches later ones: a number with s, m, h or d. With window: {renew: true} in the "
        "configuration, each copy renews it.",
    ),
]
TimeOf = Annotated[
    Literal["arrival", "event"],
    typer.Option(
        help="Time of a post: its arrival, or its field created_at: seconds or milliseconds since 1970, ISO 8601, or "
        "'Wed Jan 07 13:00:00 +0800 2026' as in the APIs of Weibo and Twitter."
    ),
]
MaxStep = Annotated[
    str | None,
    option(
        "TIME",
        "Maximum by which one post advances the window's time, so that a post with a wrong time expires nothing.",
        show_default="1h, at most half the horizon",
    ),
]
Rewind = Annotated[
    bool, flag("--rewind", "Set the window's time back to the clock, after a clock or posts that were ahead.")
]

Counts = Annotated[
    bool,
    flag(
        "--counts",
        "Count copies: a kept post in the window has n_copies, first_seen and last_seen. A window in a directory "
        "goes on counting.",
    ),
]
Authors = Annotated[
    str | None, option("FIELD", "As --counts, and add authors: the distinct values of this field, such as user.id.")
]


def watch(
    store: Annotated[
        str | None,
        option(
            "DIR|URL",
            "Directory of the window, created if missing, or its URL. Default: in memory, lost at the end.",
            show_default=False,
        ),
    ] = None,
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    horizon: Horizon = "2d",
    time: TimeOf = "arrival",
    max_step: MaxStep = None,
    rewind: Rewind = False,
    text_field: options.TextField = "text",
    id_field: Annotated[
        str, option("FIELD", "Field with the id of a post; without one, the window makes an id.")
    ] = "id",
    time_field: Annotated[str, option("FIELD", "Field with the time of a post, for --time event.")] = "created_at",
    counts: Counts = False,
    authors: Authors = None,
    encoding: Annotated[str, option("NAME", "Encoding of the input; the output is always UTF-8.")] = "utf-8",
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
    strict: Annotated[
        bool, flag("--strict", "Stop at the first bad line, after answering the lines before it.")
    ] = False,
    quiet: Annotated[bool, flag("--quiet -q", "Show no counts at the end, only errors and bad lines.")] = False,
) -> None:
    """Answer for each post of a stream whether it repeats one that was kept within the horizon.

    Reads JSON Lines from standard input, and writes one decision per line to standard output. A decision is written
    after it is stored.
    """
    import signal
    import sys
    from contextlib import nullcontext

    from hybriddup.cli.compiling import compiling_together
    from hybriddup.cli.line_feed import LineFeed
    from hybriddup.cli.stopping import on_stop
    from hybriddup.cli.watcher import Watcher, encoding_of_stream
    from hybriddup.cli.windows import open_window, settle
    from hybriddup.files.tables import batched
    from hybriddup.run.progress import note_compiling
    from hybriddup.run.terminal import say

    encoding = encoding_of_stream(encoding)
    names = {"text": text_field, "id": id_field} | ({"created_at": time_field} if time == "event" else {})
    names |= {} if authors is None else {"author": authors}
    timing = {"horizon": horizon, "time": time, "max_step": max_step}
    opening = {**timing, "counts": counts, "authors": authors, "workers": workers, "plugins": plugins or ()}
    noting = nullcontext() if quiet else note_compiling(say)
    with compiling_together(config), noting, open_window(store, config, rewind=rewind, **opening) as window:
        settle()
        watcher = Watcher(window, sys.stdout.buffer, names, encoding, max_line, strict)
        feed = LineFeed(sys.stdin.fileno(), max_line)
        on_stop(feed.stop)
        for lines in feed:
            for batch in batched(lines, LARGEST_BATCH):
                watcher.answer(batch)
        stats = window.stats()
    code = watcher.report(stats, quiet=quiet)
    options.exit_with(options.EXIT_INTERRUPTED if feed.stopped_by == signal.SIGINT else code)
