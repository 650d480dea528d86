"""`hybriddup evaluate`: how well a configuration decides about labeled pairs."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES

EPILOG = f"""\b
Examples:
  hybriddup evaluate pairs.jsonl
  hybriddup evaluate pairs.csv --config mine.yaml --json
  hybriddup evaluate pairs.jsonl --curve --wrong wrong.jsonl

PAIRS has three fields or columns: a and b, the texts, and label: 1, true or "duplicate" where they should match; 0,
false or "different" where not. Recall of stage 1 bounds the recall of the decision: a pair it misses is never compared.
The curve tells what each threshold would reach, if all length bands had it.

{EXIT_CODES}"""


def evaluate(
    pairs: options.Pairs,
    config: options.Config = DEFAULT_CONFIG,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also print precision and recall of every threshold from 0.05 to 1.")
    ] = False,
    wrong: options.Wrong = None,
    force: options.ForceFiles = False,
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
    """Measure precision, recall and F1 on labeled pairs, of the decision and of stage 1 alone, by length of text."""
    options.perform("evaluate", locals())
