"""`hybriddup learn`: what a configuration learns from posts, as a file that runs and windows share."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES

EPILOG = f"""\b
Examples:
  hybriddup learn posts.jsonl -o recipe.npz
      learns from all posts of a file with the default configuration
  hybriddup learn mon.jsonl tue.jsonl -o recipe.npz --config twitter
      takes several files as one corpus

Then name the file in a configuration: `recipe: recipe.npz`. Runs and windows that go by the same recipe make the same
fingerprints and keys, and in the same order remove the same posts with the same keepers. Without one, each run learns
from its own posts, and a window from its first 4,096.

{EXIT_CODES}"""


def learn(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="POSTS",
            show_default=False,
            help="Files of posts, one corpus in this order; - for JSON Lines on standard input.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="RECIPE", show_default=False, help="File for what is learned, .npz."),
    ],
    force: Annotated[bool, typer.Option("--force", "-f", help="Replace the file if it exists already.")] = False,
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
    """Learn weights of tokens, common shingles and the like from posts, for runs and windows to share."""
    options.perform("learn", locals())
