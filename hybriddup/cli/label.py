"""`hybriddup label`: judge pairs of one's own posts, for `hybriddup tune`."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG

EPILOG = """\b
Examples:
  hybriddup label posts.jsonl -o pairs.jsonl
      asks until you quit; the same command goes on where you left off
  hybriddup tune pairs.jsonl -o mine.yaml

Each pair is shown with what only one of the two has in brackets ⟦ ⟧. The question is: does whoever has read one need
the other? y = no, they are the same post; n = yes, both should stay; u = unsure; b = back to the pair before; q = quit.
Pairs of all scores come first, then also those of which the configuration is least sure; a hundred answers are enough
to tune. Each answer is written at once.

\b
Exit codes: 0 done or quit; 1 the same, but some posts were bad; 2 an error."""


def label(
    inputs: Annotated[
        list[str], typer.Argument(metavar="POSTS", show_default=False, help="Files of posts, taken as one corpus.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="PAIRS", show_default=False, help="File of labeled pairs, .jsonl; is added to."
        ),
    ],
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
    debug: options.Debug = False,
) -> None:
    """Show pairs of posts and ask which repeat each other."""
    options.perform("label", locals())
