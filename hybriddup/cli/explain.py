"""`hybriddup explain`: show each step of comparing two texts, and the verdict."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, argument, option

EPILOG = """\b
Examples:
  hybriddup explain "你妈妈喊你回家吃饭哦" "你妈妈叫你回家吃饭啦"
  hybriddup explain --config twitter -- "- first post" "- second post"
  hybriddup explain --file removed.jsonl --row 17
      why row 17 of the input was removed; `dedupe --removed removed.jsonl` wrote the file
  hybriddup explain --kept posts.kept.jsonl --row 3 --row 8 --input posts.jsonl
      why a run over posts.jsonl kept two posts; rows of posts.kept.jsonl count from 0
  hybriddup explain --kept posts.kept.jsonl --row 3 --row 8 --recipe recipe.npz
      the same without reading posts.jsonl; `dedupe --save-recipe recipe.npz` or `learn` wrote the file

A run learns the weights of tokens and the common keys from its posts, and compares two posts only if they share a key.
With --input or --recipe, explain uses the learned data of the run. It shows the keys that the two share, and whether
the run compared them. Without these, all tokens and keys count as rare, and a run may not compare a pair that explain
calls a repeat; the verdict mentions this."""


def explain(
    a: Annotated[str | None, argument("A", "A text.")] = None,
    b: Annotated[str | None, argument("B", "The text to compare it with.")] = None,
    file: Annotated[str | None, option("REMOVED", "File that `dedupe --removed` wrote, instead of two texts.")] = None,
    kept: Annotated[str | None, option("KEPT", "File of the posts that a run kept, instead of two texts.")] = None,
    rows: Annotated[
        list[int] | None,
        option(
            "N",
            "With --file, the row of the removed post in the input; with --kept, twice, two rows of that file.",
            "--row",
            min=0,
        ),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        option("INPUT", "Input of the run, to learn the same from; once for each input, in the same order.", "--input"),
    ] = None,
    recipe: Annotated[
        str | None, option("FILE", "Recipe of the run, as `dedupe --save-recipe` or `learn` wrote it.")
    ] = None,
    config: Annotated[
        str | None,
        option(
            "NAME|FILE",
            f"Configuration, as for dedupe. Default: with --file the run's, else {DEFAULT_CONFIG}.",
            "--config -c",
        ),
    ] = None,
    threshold: Annotated[
        float | None, option("SCORE", "The --threshold of the run, instead of the configuration's.")
    ] = None,
    per: Annotated[str | None, option("FIELD", "The --per of the run; with --kept.")] = None,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    as_json: options.Json = False,
) -> None:
    """Show how two texts are compared, step by step, whether they match, and what a run did with them."""
    from hybriddup.cli.explained import Wanted, explain_kept, explain_removed, explain_two

    if inputs and recipe is not None:
        raise typer.BadParameter(
            "give either --input or --recipe: the learned data comes from one of them", param_hint="--recipe"
        )
    if per is not None and kept is None:
        raise typer.BadParameter(
            "--per goes with --kept: it names a field of the posts in that file", param_hint="--per"
        )
    reading = options.reading(format_name, max_line, encoding, delimiter)
    wanted = Wanted(config, threshold, plugins or (), inputs or (), recipe, text_field, reading, as_json)
    texts, rows = [text for text in (a, b) if text is not None], rows or []
    match (file, kept, texts, rows):
        case None, None, [a, b], []:
            explain_two(a, b, wanted)
        case str(), None, [], [row]:
            explain_removed(file, row, wanted)
        case None, str(), [], [earlier, later]:
            explain_kept(kept, (earlier, later), per, wanted)
        case _:
            raise typer.BadParameter(
                "give two texts, or --file REMOVED and --row N, or --kept KEPT and --row N --row M", param_hint="A B"
            )
