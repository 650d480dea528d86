"""What `hybriddup explain` does: find the two texts, explain them, print it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hybriddup.cli.explain_view import print_explanation
from hybriddup.cli.output import print_json
from hybriddup.config import open_session
from hybriddup.errors import InputError
from hybriddup.explanation import explain_texts
from hybriddup.inputs import open_inputs
from hybriddup.plugin.registry import Registry
from hybriddup.steps.readers import Fields
from hybriddup.steps.readers.jsonl import parse_line
from hybriddup.steps.readers.sources import open_source


@dataclass(frozen=True)
class RemovedPost:
    """A post that an earlier run removed, and where its text and that of its keeper are."""

    file: str
    row: int
    inputs: tuple[str, ...]
    text_field: str
    format: str | None


def explain_pair(pair: tuple[str, str] | RemovedPost, config: str, plugins: Sequence[str], *, as_json: bool) -> None:
    """Print the explanation of two texts."""
    settings, manager = open_session(config, plugins)
    a, b = find_texts(pair, manager.registry) if isinstance(pair, RemovedPost) else pair
    explanation = explain_texts(a, b, settings, manager.registry)
    if as_json:
        print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def find_texts(post: RemovedPost, registry: Registry) -> tuple[str, str]:
    """Return the texts of a removed post's keeper and of the post itself, the earlier first.

    Raises
    ------
    InputError
        The file does not name the row, or the inputs are not those of the run.
    """
    record = find_removed(post)
    keeper_row = record["keeper_row"]
    texts = texts_of_rows(post, {keeper_row, post.row}, registry)
    if keeper_row not in texts or texts.get(post.row) != record["text"]:
        raise InputError(
            f"row {post.row} or {keeper_row} of {', '.join(post.inputs)} is not what {post.file} says; give the same "
            f"inputs in the same order as to dedupe, with the same --text-field."
        )
    return texts[keeper_row], texts[post.row]


def find_removed(post: RemovedPost) -> dict[str, Any]:
    """Return the record of a removed post from the file that dedupe wrote."""
    n_records = 0
    for record in _objects(post.file):
        if not {"row", "keeper_row", "text"} <= record.keys():
            raise InputError(f"{post.file} is not a file of removed posts: name what `dedupe --removed` wrote.")
        if record["row"] == post.row:
            return record
        n_records += 1
    raise InputError(f"row {post.row} is not among the {n_records:,} removed posts in {post.file}.")


def _objects(file: str) -> Iterator[dict[str, Any]]:
    source = open_source(file)
    try:
        with source.open() as stream:
            for line in stream:
                record = parse_line(line)
                yield record if isinstance(record, dict) else {}
    finally:
        source.close()


def texts_of_rows(post: RemovedPost, rows: Collection[int], registry: Registry) -> dict[int, str]:
    """Return the texts of some rows, reading no further than needed."""
    found: dict[int, str] = {}
    with open_inputs(post.inputs, registry, post.format) as inputs:
        first_row = 0
        for source in inputs.sources:
            end = 0
            for batch in inputs.reader.read(source, Fields(post.text_field)):
                end = batch.end
                numbered = zip((batch.rows + first_row).tolist(), batch.texts, strict=True)
                found |= {row: text for row, text in numbered if row in rows}
                if len(found) == len(rows):
                    return found
            first_row += end
    return found
