"""What `hybriddup explain` does: find the two texts, explain them, print it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from typing import Any

import typer

from hybriddup.cli.inputs import files_of
from hybriddup.cli.printing import print_json, print_table
from hybriddup.config import open_session
from hybriddup.config.load import DEFAULT_CONFIG, with_threshold
from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.marks import SOURCE
from hybriddup.data.records import Removed
from hybriddup.errors import ConfigError, InputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import ReadOptions, open_inputs
from hybriddup.files.jsonl import parse_line
from hybriddup.files.reading import read_corpus
from hybriddup.files.sources import open_source
from hybriddup.files.text import text_lines
from hybriddup.plugin.registry import Registry
from hybriddup.run.recipe import LearnedRecipe, load_recipe
from hybriddup.study.explain import MOST_REASONS, ExplainedText, Explanation, explain_texts


@dataclass(frozen=True)
class Wanted:
    """How two texts are to be explained."""

    config: str | None
    plugins: Sequence[str]
    inputs: Sequence[str]
    """Files of the run, to learn from as it did."""
    recipe: str | None
    """File with what the run learned."""
    text_field: str
    reading: ReadOptions
    as_json: bool

    @property
    def knows_run(self) -> bool:
        """Whether it is known what the run learned."""
        return bool(self.inputs) or self.recipe is not None

    def learned(self) -> LearnedRecipe | None:
        """Return what the run learned; None if no file with it is named."""
        return None if self.recipe is None else load_recipe(self.recipe)

    def corpus(self, settings: Settings, registry: Registry) -> Corpus | None:
        """Return the posts of the run; None if no inputs are named."""
        if not self.inputs:
            return None
        files = files_of(self.inputs, registry, self.reading)
        with open_inputs(files, registry, self.reading) as opened:
            return read_corpus(opened, Fields(self.text_field, order=settings.order_fields))[0]


def explain_two(a: str, b: str, wanted: Wanted) -> None:
    """Print the explanation of two texts."""
    settings, manager = open_session(wanted.config or DEFAULT_CONFIG, wanted.plugins)
    corpus = wanted.corpus(settings, manager.registry)
    show(explain_texts(a, b, settings, manager.registry, corpus, recipe=wanted.learned()), as_json=wanted.as_json)


def explain_removed(file: str, row: int, wanted: Wanted) -> None:
    """Print the explanation of a removed post and its keeper, by the configuration of the run unless another is given.

    Without inputs or recipe of that run every token counts as rare.
    """
    record = find_removed(file, row)
    settings, manager = open_session(wanted.config or record["config"], wanted.plugins)
    if wanted.config is None and record["reason"] == "near":
        with suppress(ConfigError):  # several verifiers, which have no one threshold
            settings, _ = with_threshold(settings, record["threshold"], record["config"])
    corpus = wanted.corpus(settings, manager.registry)
    if corpus is not None:
        check_inputs(corpus, record, file, wanted.inputs)
    texts, recipe = (record["keeper_text"], record["text"]), wanted.learned()
    explanation = explain_texts(*texts, settings, manager.registry, corpus, recipe=recipe, was_compared=True)
    show(explanation, as_json=wanted.as_json)
    used = explanation.recipe_id if wanted.knows_run else record["recipe_id"]
    note = difference(file, record, wanted.config, used)
    if note:
        typer.echo(f"note: {note}", err=True)


def check_inputs(corpus: Corpus, record: dict[str, Any], file: str, inputs: Sequence[str]) -> None:
    """Raise InputError where the inputs do not hold the two posts in the rows that the record names."""
    text_of = dict(zip(corpus.rows.tolist(), corpus.texts, strict=True))
    row, keeper_row, is_there = record["row"], record["keeper_row"], record.get(SOURCE) is None
    if text_of.get(row) != record["text"] or (is_there and text_of.get(keeper_row) != record["keeper_text"]):
        raise InputError(
            f"row {row} or {keeper_row} of {', '.join(inputs)} is not what {file} says; give the same "
            f"inputs in the same order as to dedupe, with the same --text-field."
        )


def difference(file: str, record: dict[str, Any], config: str | None, recipe_id: str) -> str:
    """Return what is to be said where the explanation goes by something else than the run did; else nothing."""
    used = record["config"]
    if config not in {None, used}:
        return f"{file} was made with the configuration {used}; this explains by {config}, as --config asks."
    if recipe_id != record["recipe_id"]:
        return (
            f"{file} was made with the recipe {record['recipe_id']}, and {used} now makes {recipe_id}: the "
            f"configuration, the inputs or the recipe are not those of the run, so scores and distances may differ."
        )
    return ""


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Print an explanation."""
    if as_json:
        print_json(explanation.to_dict())
    else:
        print_explanation(explanation)


def find_removed(file: str, row: int) -> dict[str, Any]:
    """Return the record of a removed post from the file that dedupe wrote."""
    n_records, needed = 0, {field.name for field in fields(Removed)} - {SOURCE}
    for record in _objects(file):
        if not needed <= record.keys():
            raise InputError(
                f"{file} is not a file of removed posts: name what `dedupe --removed` wrote as JSON Lines."
            )
        if record["row"] == row:
            return record
        n_records += 1
    raise InputError(f"row {row} is not among the {n_records:,} removed posts in {file}.")


def _objects(file: str) -> Iterator[dict[str, Any]]:
    source = open_source(file)
    with closing(source), source.open() as stream:
        for line in text_lines(stream, source):
            record = parse_line(line)
            yield record if isinstance(record, dict) else {}


def print_explanation(explanation: Explanation) -> None:
    """Print the steps of both texts, what was compared, and the verdict."""
    print_table(_text_rows(explanation.a, explanation.b), title="A")
    print_table(_text_rows(explanation.b, explanation.a), title="B")
    print_table(_pair_rows(explanation), title="A and B")
    typer.secho(explanation.verdict, fg="green" if explanation.matches else "yellow")


def _text_rows(text: ExplainedText, other: ExplainedText) -> list[list[str]]:
    others = {token for token, _ in other.tokens}
    return [
        ["text", _shown(text.text)],
        ["normalized", _shown(text.normalized)],
        ["compared", f"{_shown(text.compared)}  ({text.length} characters)"],
        ["tokens", _tokens(text.tokens)],
        ["not in other", _tokens([(token, weight) for token, weight in text.tokens if token not in others])],
        ["fingerprint", text.fingerprint],
    ]


def _tokens(tokens: list[tuple[str, float]]) -> str:
    spelled = (f"{_shown(token).replace(' ', '␣')} {weight:.3g}" for token, weight in tokens)
    return " | ".join(spelled) or "none"


def _pair_rows(explanation: Explanation) -> list[list[str]]:
    limit = explanation.max_hamming_distance
    allowed = f"at most {limit} allowed" if limit is not None else "exact repeats only"
    return [
        ["length band", f"{explanation.length_band}, of the shorter text"],
        ["distance", f"{explanation.hamming_distance} bits differ, {allowed}"],
        ["block keys", _keys(explanation)],
        ["second look", _score(explanation)],
        *(["kept apart", reason] for reason in explanation.guards),
        *([["" if place else "because", reason] for place, reason in enumerate(explanation.reasons[:MOST_REASONS])]),
    ]


def _keys(explanation: Explanation) -> str:
    if explanation.keys_in_common is None:
        return "not told by this block index"
    return f"{explanation.keys_in_common} of {explanation.n_keys} in common ({explanation.block_index})"


def _score(explanation: Explanation) -> str:
    if explanation.score is None or explanation.threshold is None:
        return "none"
    reached = "reaches" if explanation.score >= explanation.threshold else "is under"
    return f"{explanation.verifier} score {explanation.score:.4g} {reached} the threshold {explanation.threshold:g}"


def _shown(text: str) -> str:
    """Return a text with line ends, lone surrogates and other invisible characters as escapes."""
    return text if text.isprintable() else repr(text)[1:-1]
