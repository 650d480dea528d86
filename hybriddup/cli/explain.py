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
  hybriddup explain --file removed.jsonl --row 17 --input posts.jsonl
      explains why row 17 of posts.jsonl was removed; removed.jsonl is what --removed wrote

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
            help="Input of that run, where the text of the kept post is; once for each input, in the same order.",
        ),
    ] = None,
    config: options.Config = DEFAULT_CONFIG,
    plugin: options.Plugins = None,
    text_field: options.TextField = "text",
    format: options.Format = None,  # noqa: A002  named as its option
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    json: options.Json = False,
    debug: options.Debug = False,  # noqa: ARG001  the callback keeps it
) -> None:
    """Show how two texts are compared, step by step, and whether they match."""
    from hybriddup.cli.explain_job import explain_removed, explain_two

    if file is None and row is None and not inputs:
        if a is None or b is None:
            raise typer.BadParameter("give two texts, or --file REMOVED --row N --input INPUT", param_hint="A B")
        explain_two(a, b, config=config, plugins=plugin or (), as_json=json)
    elif file is None or row is None or not inputs or a is not None:
        raise typer.BadParameter(
            "without texts, all of --file REMOVED, --row N and --input INPUT are needed; the input holds the text of "
            "the kept post",
            param_hint="--file",
        )
    else:
        explain_removed(
            file,
            row,
            inputs,
            config=config,
            plugins=plugin or (),
            text_field=text_field,
            format_name=format,
            max_line=max_line,
            as_json=json,
        )
