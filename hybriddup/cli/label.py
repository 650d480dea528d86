"""`hybriddup label`: show pairs of posts and write the answers, as labeled pairs for `hybriddup tune`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, argument, option
from hybriddup.errors import OutputError

if TYPE_CHECKING:
    from hybriddup.files.pairs import AnswerFile
    from hybriddup.study.label_choice import Chooser

LABELS: dict[str, bool | None] = {"y": True, "n": False, "u": None}
JOINER = "\u200d"
"""Zero-width joiner: joins several emoji into one."""
QUESTION = "the same post? [y]es [n]o [u]nsure [b]ack [q]uit: "

EPILOG = """\b
Examples:
  hybriddup label posts.jsonl -o pairs.jsonl
      shows pairs until you quit; the same command continues where you left off
  hybriddup tune pairs.jsonl -o mine.yaml

Differences between the two posts are in brackets ⟦ ⟧. The question is: does someone who has read one still need the
other? y = no, they are the same post; n = yes, keep both; u = unsure; b = back to the previous pair; q = quit. The
first pairs have all kinds of scores; later ones include those whose score is the least certain. A hundred answers are
enough to tune. Each answer is written at once.

\b
Exit codes: 0 done or quit; 1 the same, but some posts were bad; 2 an error."""


def label(
    inputs: Annotated[list[str], argument("POSTS", "Files of posts, read as one corpus.")],
    output: Annotated[
        str, option("PAIRS", "File of labeled pairs, .jsonl; answers are appended.", "--output -o", show_default=False)
    ],
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
) -> None:
    """Show pairs of posts, and record which pairs the user labels as repeats."""
    from hybriddup.cli.summary_view import print_bad_records
    from hybriddup.config import open_session
    from hybriddup.files.outputs import ANSWERS, Outputs
    from hybriddup.files.pairs import AnswerFile
    from hybriddup.run.file_inputs import files_of, read_files
    from hybriddup.run.terminal import show_progress
    from hybriddup.steps.parallel import available_workers
    from hybriddup.study.label_choice import Chooser, score_candidates

    settings, manager = open_session(config, plugins or ())
    reading = options.reading(format_name, max_line, encoding, delimiter)
    inputs = files_of(inputs, manager.registry, reading)
    target = Outputs(inputs, force=True).add(output, "-o", ANSWERS)
    if target.is_stream:
        raise OutputError(f"-o {output}: the next call has to read the answers again; name a file.")
    answers = AnswerFile(target.path)
    with show_progress(quiet=False) as progress:
        corpus = read_files(inputs, manager.registry, reading, text_field, progress)
    chooser = Chooser(score_candidates(corpus.texts, settings, manager.registry, workers or available_workers()))
    for texts, label in answers.earlier:
        chooser.answered(texts, label)
    n = ask_all(chooser, answers)
    typer.echo(f"{n:,} answers in {output}; with a hundred, try: hybriddup tune {output} -o mine.yaml", err=True)
    options.exit_with(print_bad_records(corpus.bad_records, corpus.n_bad_records, "not shown"))


def ask_all(chooser: Chooser, answers: AnswerFile) -> int:
    """Show pairs and record the answers until the user quits; return the number of answers in the file."""
    answered: list[int] = []
    place = chooser.next()
    while place is not None:
        answer = ask(len(answers) + 1, chooser.texts_of(place))
        if answer == "q":
            break
        if answer == "b":
            if answered:
                place = answered.pop()
                chooser.forget(place)
                answers.take_back()
            continue
        answers.add(chooser.texts_of(place), LABELS[answer])
        chooser.note(place, LABELS[answer])
        answered.append(place)
        place = chooser.next()
    return len(answers)


def ask(number: int, texts: tuple[str, str]) -> str:
    """Show two posts and return the answer: a key of `LABELS`, b (back) or q (quit); end of input counts as q.

    ``number`` is the number of the question, for display.
    """
    from hybriddup.run.report.differences import marked_texts

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
    """Replace unprintable characters, which could change the state of the terminal, with spaces."""
    return "".join(character if character.isprintable() or character == JOINER else " " for character in text)
