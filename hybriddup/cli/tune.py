"""`hybriddup tune`: fit a configuration to pairs that its user has judged."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES

EPILOG = f"""\b
Examples:
  hybriddup tune pairs.jsonl -o mine.yaml
  hybriddup tune pairs.csv --config twitter -o mine.yaml --precision 0.98 --wrong wrong.jsonl
  hybriddup dedupe posts.jsonl --config mine.yaml

PAIRS is as for `hybriddup evaluate`; a hundred pairs are enough to begin with, if they are of all kinds: repeats,
near misses, and pairs that have little in common. Thresholds are fitted, of each length band with enough pairs; of the
verifier post, models of other kinds of posts are tried too, and a new one where there are enough pairs. What is not
clearly better is not changed. What is printed as reached after it was measured on pairs that were not fitted to.

{EXIT_CODES}"""


def tune(
    pairs: options.Pairs,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="YAML", show_default=False, help="File for the new configuration, .yaml."
        ),
    ],
    precision: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            metavar="SHARE",
            show_default=False,
            help="Share of the pairs called duplicates that should be: 0.98, say. When left out, the best F1 is taken.",
        ),
    ] = None,
    wrong: options.Wrong = None,
    force: options.ForceFiles = False,
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    a_field: options.AField = "a",
    b_field: options.BField = "b",
    label_field: options.LabelField = "label",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
    as_json: options.Json = False,
    debug: options.Debug = False,
) -> None:
    """Fit thresholds, or the model of post, to labeled pairs, and write the configuration."""
    options.perform("tune", locals())
