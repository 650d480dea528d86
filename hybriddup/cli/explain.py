"""`hybriddup explain`: each step of two texts, and the verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG

EPILOG = """\b
Examples:
  hybriddup explain "你妈妈喊你回家吃饭哦" "你妈妈叫你回家吃饭啦"
  hybriddup explain --config twitter -- "- first post" "- second post"
  hybriddup explain --file removed.jsonl --row 17
      explains why row 17 of the input was removed; removed.jsonl is what --removed wrote
  hybriddup explain --file removed.jsonl --row 17 --input posts.jsonl
      the same with the weights that the run learned from posts.jsonl

A weighter that learns from a corpus, as tfidf does, learns from --input as in the run. Between two texts alone every
token weighs what a rare one does, so that the Hamming distance can differ by some bits from that in a run."""


def explain(
    a: Annotated[str | None, typer.Argument(metavar="A", show_default=False, help="A text.")] = None,
    b: Annotated[
        str | None, typer.Argument(metavar="B", show_default=False, help="The text to compare it with.")
    ] = None,
    file: Annotated[
        str | None, typer.Option(metavar="REMOVED", help="File that `dedupe --removed` wrote, instead of two texts.")
    ] = None,
    row: Annotated[int | None, typer.Option(min=0, metavar="N", help="Row of the removed post in it.")] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="INPUT",
            help="Input of that run, to learn from as it did; once for each input, in the same order.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            metavar="NAME|FILE",
            help=f"Configuration, as for dedupe. Default: that of the run with --file, else {DEFAULT_CONFIG}.",
        ),
    ] = None,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    as_json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001  the callback keeps it
) -> None:
    """Show how two texts are compared, step by step, and whether they match."""
    from hybriddup.cli.explain_job import explain_removed, explain_two

    if file is None and row is None and not inputs:
        if a is None or b is None:
            raise typer.BadParameter("give two texts, or --file REMOVED --row N", param_hint="A B")
        explain_two(a, b, config=config, plugins=plugins or (), as_json=as_json)
    elif file is None or row is None or a is not None:
        raise typer.BadParameter(
            "without texts, both --file REMOVED and --row N are needed, and --input INPUT is for these",
            param_hint="--file",
        )
    else:
        explain_removed(
            file,
            row,
            inputs or (),
            config=config,
            plugins=plugins or (),
            text_field=text_field,
            reading=options.reading(format_name, max_line, encoding, delimiter),
            as_json=as_json,
        )
