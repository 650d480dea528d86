"""What `hybriddup label` does: choose pairs of posts, show them, write the answers."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from hybriddup.cli.inputs import files_of, read_posts
from hybriddup.cli.summary_view import print_bad_records
from hybriddup.config import open_session
from hybriddup.errors import InputError, OutputError
from hybriddup.files.formats import Fields
from hybriddup.files.inputs import ReadOptions, open_inputs
from hybriddup.files.output_names import ANSWERS
from hybriddup.files.outputs import Outputs
from hybriddup.files.pairs import UNSURE
from hybriddup.run.report.differences import marked_texts
from hybriddup.run.terminal import show_progress
from hybriddup.steps.parallel import available_workers
from hybriddup.study.label_choice import Chooser, score_candidates

LABELS: dict[str, bool | None] = {"y": True, "n": False, "u": None}
JOINER = "\u200d"
"""Makes one emoji of several."""
QUESTION = "the same post? [y]es [n]o [u]nsure [b]ack [q]uit: "


def perform(
    inputs: Sequence[str],
    output: str,
    *,
    config: str,
    plugins: Sequence[str],
    text_field: str,
    reading: ReadOptions,
    workers: int | None,
) -> int:
    """Ask about pairs of posts until the user quits or all were asked about; return the exit code."""
    settings, manager = open_session(config, plugins)
    inputs = files_of(inputs, manager.registry, reading)
    target = Outputs(inputs, force=True).add(output, "-o", ANSWERS)
    if target.is_stream:
        raise OutputError(f"-o {output}: the next call reads the answers again; name a file.")
    answers = AnswerFile(target.path)
    with (
        open_inputs(inputs, manager.registry, reading) as opened,
        show_progress(quiet=False) as progress,
    ):
        corpus, _ = read_posts(opened, Fields(text_field), progress)
    candidates = score_candidates(corpus.texts, settings, manager.registry, workers or available_workers())
    chooser = Chooser(candidates)
    for texts, label in answers.earlier():
        chooser.answered(texts, label)
    n = ask_all(chooser, answers)
    typer.echo(f"{n:,} answers in {output}; with a hundred, try: hybriddup tune {output} -o mine.yaml", err=True)
    return print_bad_records(corpus.bad_records, corpus.n_bad_records, "not looked at")


class AnswerFile:
    """A file of labeled pairs that answers are added to, one a line; InputError where it holds something else."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for number, line in enumerate(self._lines, 1):
            if not is_answer(line):
                raise InputError(f"{path}:{number}: no answer of `hybriddup label`. Name another file with -o.")

    def __len__(self) -> int:
        return len(self._lines)

    def earlier(self) -> list[tuple[tuple[str, str], bool | None]]:
        """Return the answers: two texts and the label, None where nobody was sure."""
        pairs = map(json.loads, self._lines)
        return [((at["a"], at["b"]), None if at["label"] == UNSURE else bool(at["label"])) for at in pairs]

    def add(self, texts: tuple[str, str], label: bool | None) -> None:
        """Write one more answer."""
        answer = {"a": texts[0], "b": texts[1], "label": UNSURE if label is None else int(label)}
        is_plain = all(text.encode("utf-8", "ignore").decode() == text for text in texts)  # no lone surrogates
        self._lines.append(json.dumps(answer, ensure_ascii=not is_plain))
        self._write("a", self._lines[-1] + "\n")

    def take_back(self) -> None:
        """Delete the last answer."""
        del self._lines[-1]
        self._write("w", "".join(line + "\n" for line in self._lines))

    def _write(self, mode: str, text: str) -> None:
        try:
            with self.path.open(mode, encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written to: {error.strerror}.") from error


def is_answer(line: str) -> bool:
    """Return whether a line is an answer of an earlier session."""
    try:
        at: Any = json.loads(line)
    except ValueError:
        return False
    return isinstance(at, dict) and isinstance(at.get("a"), str) and isinstance(at.get("b"), str) and "label" in at


def ask_all(chooser: Chooser, answers: AnswerFile) -> int:
    """Ask about one pair after another; return the number of answers in the file."""
    asked: list[int] = []
    place = chooser.next()
    while place is not None:
        answer = ask(len(answers) + 1, chooser.texts_of(place))
        if answer == "q":
            break
        if answer == "b":
            if asked:
                place = asked.pop()
                chooser.forget(place)
                answers.take_back()
            continue
        answers.add(chooser.texts_of(place), LABELS[answer])
        chooser.note(place, LABELS[answer])
        asked.append(place)
        place = chooser.next()
    return len(answers)


def ask(number: int, texts: tuple[str, str]) -> str:
    """Show two posts and return the answer: a letter of `LABELS`, b or q; the end of the input is q."""
    a, b = (text.marked("⟦", "⟧", printable) for text in marked_texts(*texts, most=sys.maxsize))
    typer.echo(f"\n--- {number}\nA: {a}\nB: {b}")
    while True:
        typer.echo(QUESTION, nl=False)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            return "q"
        answer = line.strip().lower()[:1]
        if not line or answer in {*LABELS, "b", "q"}:
            return answer or "q"


def printable(text: str) -> str:
    """Return a text with spaces in place of characters that would change how the terminal goes on."""
    return "".join(character if character.isprintable() or character == JOINER else " " for character in text)
