"""Implementation of `hybriddup explain`: find the two texts, explain the decision, and print the explanation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import typer

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
from hybriddup.run.file_inputs import files_of
from hybriddup.run.recipe import LearnedRecipe, load_recipe
from hybriddup.study.explain import explain_texts
from hybriddup.study.explanation import ExplainedText, Explanation, KnownRun
from hybriddup.study.known_runs import other_scopes


@dataclass(frozen=True)
class Wanted:
    """Options of `hybriddup explain`."""

    config: str | None
    threshold: float | None
    plugins: Sequence[str]
    inputs: Sequence[str]
    """Input files of the run, from which to learn as the run did."""
    recipe: str | None
    """Recipe file of the run."""
    text_field: str
    reading: ReadOptions
    as_json: bool

    def learned(self) -> LearnedRecipe | None:
        """Return the recipe of the run; None if no recipe file is named."""
        return None if self.recipe is None else load_recipe(self.recipe)

    def session(self, used: str = DEFAULT_CONFIG) -> tuple[Settings, Registry]:
        """Resolve the user's configuration, or ``used`` if the user named none; return settings and components."""
        settings, manager = open_session(self.config or used, self.plugins)
        if self.threshold is not None:
            settings, _ = with_threshold(settings, self.threshold, self.config or used)
        return settings, manager.registry

    def corpus(self, settings: Settings, registry: Registry) -> Corpus | None:
        """Return the posts of the run; None if no inputs are named."""
        return self.read(self.inputs, registry, settings.order_fields) if self.inputs else None

    def read(
        self, names: Sequence[str], registry: Registry, order: tuple[str, ...] = (), per: str | None = None
    ) -> Corpus:
        """Read the posts in files into one corpus.

        ``order`` and ``per`` name the fields to read into `Corpus.order_values`; ``per`` is as for ``--per``.
        """
        files = files_of(names, registry, self.reading)
        with open_inputs(files, registry, self.reading) as opened:
            return read_corpus(opened, Fields(self.text_field, order=order), per=per)[0]


def explain_two(a: str, b: str, wanted: Wanted) -> None:
    """Print why two texts, given on the command line, match or not."""
    settings, registry = wanted.session()
    corpus = wanted.corpus(settings, registry)
    show(explain_texts(a, b, settings, registry, corpus, recipe=wanted.learned()), as_json=wanted.as_json)


def explain_kept(file: str, rows: tuple[int, int], per: str | None, wanted: Wanted) -> None:
    """Print how two kept posts of a run compare, step by step; ``rows`` are their rows in ``file``, the kept posts."""
    settings, registry = wanted.session()
    kept = wanted.read([file], registry, per=per)
    a, b = (place_of(row, kept, file) for row in rows)
    apart = "" if per is None else other_scopes(per, kept.order_values[per][a], kept.order_values[per][b])
    corpus, run = wanted.corpus(settings, registry), KnownRun("kept", apart=apart)
    texts, recipe = (kept.texts[a], kept.texts[b]), wanted.learned()
    show(explain_texts(*texts, settings, registry, corpus, recipe=recipe, run=run), as_json=wanted.as_json)


def place_of(row: int, corpus: Corpus, file: str) -> int:
    """Return the index in ``corpus`` of the post with the input row ``row``; raise InputError if there is none."""
    place = int(np.searchsorted(corpus.rows, row))
    if place == len(corpus.rows) or corpus.rows[place] != row:
        raise InputError(f"--row {row} is not a post of {file}, which has rows 0 to {corpus.n_rows - 1:,}.")
    return place


def explain_removed(file: str, row: int, wanted: Wanted) -> None:
    """Print why a run removed a post: compare the post with its keeper, step by step.

    ``file`` was written by ``dedupe --removed``, and ``row`` is the post's row in the input of the run. The
    configuration is the one that ``file`` names, or the user's ``--config``. All tokens count as rare if neither the
    inputs nor the recipe of the run are given.
    """
    record = find_removed(file, row)
    settings, registry = wanted.session(record["config"])
    is_of_run = wanted.config in {None, record["config"]} and wanted.threshold is None
    if is_of_run and record["reason"] == "near":
        with suppress(ConfigError):  # several verifiers have no common threshold
            settings, _ = with_threshold(settings, record["threshold"], record["config"])
    corpus = wanted.corpus(settings, registry)
    if corpus is not None:
        check_inputs(corpus, record, file, wanted.inputs)
    texts, recipe = (record["keeper_text"], record["text"]), wanted.learned()
    score = record["score"] if record["reason"] == "near" else None
    run = KnownRun("removed", record["hamming_distance"], score) if is_of_run else None
    explanation = explain_texts(*texts, settings, registry, corpus, recipe=recipe, run=run)
    show(explanation, as_json=wanted.as_json)
    used = explanation.recipe_id if wanted.inputs or wanted.recipe else record["recipe_id"]
    if note := difference(file, record, wanted.config, used):
        typer.echo(f"note: {note}", err=True)


def check_inputs(corpus: Corpus, record: dict[str, Any], file: str, inputs: Sequence[str]) -> None:
    """Raise InputError if the texts of a removed post and its keeper in ``corpus`` differ from those in ``record``.

    ``record`` is from ``file``, and ``corpus`` was read from ``inputs``.
    """
    text_of = dict(zip(corpus.rows.tolist(), corpus.texts, strict=True))
    row, keeper_row, is_there = record["row"], record["keeper_row"], record.get(SOURCE) is None
    if text_of.get(row) != record["text"] or (is_there and text_of.get(keeper_row) != record["keeper_text"]):
        raise InputError(
            f"row {row} or {keeper_row} of {', '.join(inputs)} differs from the text in {file}; give the same "
            f"inputs in the same order as to dedupe, with the same --text-field."
        )


def difference(file: str, record: dict[str, Any], config: str | None, recipe_id: str) -> str:
    """Return a note if the explanation's configuration or recipe differs from the run's; otherwise an empty string."""
    used = record["config"]
    if config not in {None, used}:
        return f"{file} was made with the configuration {used}; this explanation uses {config}, from --config."
    if recipe_id != record["recipe_id"]:
        return (
            f"{file} was made with the recipe {record['recipe_id']}, and {used} now makes {recipe_id}: the "
            f"configuration, the inputs or the recipe differ from the run's, so scores and distances may differ."
        )
    return ""


def show(explanation: Explanation, *, as_json: bool) -> None:
    """Print the steps of both texts, the facts about the pair, and the verdict; all as JSON if ``as_json``."""
    if as_json:
        print_json(explanation.to_dict())
        return
    print_table(_text_rows(explanation.a, explanation.b), title="A")
    print_table(_text_rows(explanation.b, explanation.a), title="B")
    print_table([[name, _shown(value)] for name, value in explanation.facts()], title="A and B")
    typer.secho(explanation.verdict, fg="green" if explanation.matches else "yellow")


def find_removed(file: str, row: int) -> dict[str, Any]:
    """Return the record of the removed post with this input row; raise InputError if ``file`` does not have it.

    ``file`` was written by ``dedupe --removed``.
    """
    n_records, needed = 0, {field.name for field in fields(Removed)} - {SOURCE}
    source = open_source(file)
    with closing(source), source.open() as stream:
        for record in map(parse_line, text_lines(stream, source)):
            if not isinstance(record, dict) or not needed <= record.keys():
                raise InputError(
                    f"{file} is not a file of removed posts: name what `dedupe --removed` wrote as JSON Lines."
                )
            if record["row"] == row:
                return record
            n_records += 1
    raise InputError(f"row {row} is not among the {n_records:,} removed posts in {file}.")


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


def _shown(text: str) -> str:
    """Escape line ends, lone surrogates and other unprintable characters in a text."""
    return text if text.isprintable() else repr(text)[1:-1]
