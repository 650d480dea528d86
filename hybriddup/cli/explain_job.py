"""What `hybriddup explain` does: find the two texts, explain them, print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from hybriddup.cli.explain_view import print_explanation
from hybriddup.cli.output import print_json
from hybriddup.config import open_session
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import open_inputs, read_corpus
from hybriddup.files.jsonl import parse_line
from hybriddup.files.sources import open_source
from hybriddup.run.deciding_order import deciding_order
from hybriddup.study.explain import Explanation, explain_texts


def explain_two(a: str, b: str, *, config: str, plugins: Sequence[str], as_json: bool) -> None:
    """Print the explanation of two texts."""
    settings, manager = open_session(config, plugins)
    show(explain_texts(a, b, settings, manager.registry), as_json=as_json)


def explain_removed(
    file: str,
    row: int,
    inputs: Sequence[str],
    *,
    config: str,
    plugins: Sequence[str],
    text_field: str,
    format_name: str | None,
    max_line: int,
    as_json: bool,
) -> None:
    """Print the explanation of a removed post and its keeper.

    Raises
    ------
    InputError
        The file does not name the row, or the inputs are not those of the run.
    """
    settings, manager = open_session(config, plugins)
    record = find_removed(file, row)
    keeper_row = record["keeper_row"]
    with open_inputs(inputs, manager.registry, format_name, max_line) as opened:
        corpus, _ = read_corpus(opened, Fields(text_field, order=settings.order_field))
    text_of = dict(zip(corpus.rows.tolist(), corpus.texts, strict=True))
    if keeper_row not in text_of or text_of.get(row) != record["text"]:
        raise InputError(
            f"row {row} or {keeper_row} of {', '.join(inputs)} is not what {file} says; give the same "
            f"inputs in the same order as to dedupe, with the same --text-field."
        )
    # all texts in the order of deciding, because a weighter learns from all
    texts = [corpus.texts[place] for place in deciding_order(corpus, settings.keep).tolist()]
    show(explain_texts(text_of[keeper_row], text_of[row], settings, manager.registry, texts), as_json=as_json)


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Print an explanation."""
    if as_json:
        print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def find_removed(file: str, row: int) -> dict[str, Any]:
    """Return the record of a removed post from the file that dedupe wrote."""
    n_records = 0
    for record in _objects(file):
        if not {"row", "keeper_row", "text"} <= record.keys():
            raise InputError(f"{file} is not a file of removed posts: name what `dedupe --removed` wrote.")
        if record["row"] == row:
            return record
        n_records += 1
    raise InputError(f"row {row} is not among the {n_records:,} removed posts in {file}.")


def _objects(file: str) -> Iterator[dict[str, Any]]:
    source = open_source(file)
    with closing(source), source.open() as stream:
        for line in stream:
            record = parse_line(line)
            yield record if isinstance(record, dict) else {}
