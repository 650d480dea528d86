"""What `hybriddup explain` does: find the two texts, explain them, print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hybriddup.cli.explain_view import print_explanation
from hybriddup.cli.output import print_json
from hybriddup.config import open_session
from hybriddup.config.settings import KeepHighest, Settings
from hybriddup.data.corpus import Corpus
from hybriddup.errors import InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import open_inputs, read_corpus
from hybriddup.files.jsonl import parse_line
from hybriddup.files.sources import open_source
from hybriddup.plugin.registry import Registry
from hybriddup.run.deciding_order import deciding_order
from hybriddup.study.explain import explain_texts


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
    corpus: Sequence[str] | None = None
    if isinstance(pair, RemovedPost):
        (a, b), corpus = find_texts(pair, settings, manager.registry)
    else:
        a, b = pair
    explanation = explain_texts(a, b, settings, manager.registry, corpus)
    if as_json:
        print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def find_texts(post: RemovedPost, settings: Settings, registry: Registry) -> tuple[tuple[str, str], list[str]]:
    """Return the texts of a removed post's keeper and of the post itself, and all texts in the order of deciding.

    Raises
    ------
    InputError
        The file does not name the row, or the inputs are not those of the run.
    """
    record = find_removed(post)
    keeper_row = record["keeper_row"]
    corpus = read_posts(post, settings, registry)
    text_of = dict(zip(corpus.rows.tolist(), corpus.texts, strict=True))
    if keeper_row not in text_of or text_of.get(post.row) != record["text"]:
        raise InputError(
            f"row {post.row} or {keeper_row} of {', '.join(post.inputs)} is not what {post.file} says; give the same "
            f"inputs in the same order as to dedupe, with the same --text-field."
        )
    order = deciding_order(corpus, settings.keep).tolist()
    return (text_of[keeper_row], text_of[post.row]), [corpus.texts[place] for place in order]


def read_posts(post: RemovedPost, settings: Settings, registry: Registry) -> Corpus:
    """Return the posts of the run; all of them, because a weighter learns from all."""
    order_field = settings.keep.highest if isinstance(settings.keep, KeepHighest) else None
    with open_inputs(post.inputs, registry, post.format) as inputs:
        corpus, _ = read_corpus(inputs, Fields(post.text_field, order=order_field))
    return corpus


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
