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
  hybriddup explain --recipe recipe.npz "a post" "another post"
      as a run decides that has learned what recipe.npz says; dedupe --save-recipe or learn wrote it
  hybriddup explain --input posts.jsonl "a post" "another post"
      as a run over posts.jsonl decides
  hybriddup explain --file removed.jsonl --row 17
      explains why row 17 of the input was removed; removed.jsonl is what --removed wrote
  hybriddup explain --file removed.jsonl --row 17 --input posts.jsonl
      the same with the weights that the run learned from posts.jsonl

A run learns from its posts what tokens weigh and by which keys pairs are found. Without --input or --recipe all tokens
and keys count as rare. The score depends on the two texts alone, but whether a run compares them does not; the verdict
says where that matters."""


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
            help="Input of the run, to learn from as it did; once for each input, in the same order.",
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="What the run learned, as `dedupe --save-recipe` or `learn` wrote it."),
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
    from hybriddup.cli.explain_job import Wanted, explain_removed, explain_two

    if inputs and recipe is not None:
        raise typer.BadParameter("give either --input or --recipe: what is learned is in both", param_hint="--recipe")
    reading = options.reading(format_name, max_line, encoding, delimiter)
    wanted = Wanted(config, plugins or (), inputs or (), recipe, text_field, reading, as_json)
    if file is None and row is None:
        if a is None or b is None:
            raise typer.BadParameter("give two texts, or --file REMOVED --row N", param_hint="A B")
        explain_two(a, b, wanted)
    elif file is None or row is None or a is not None:
        raise typer.BadParameter("without texts, both --file REMOVED and --row N are needed", param_hint="--file")
    else:
        explain_removed(file, row, wanted)
