"""Implementation of `hybriddup watch`: parse lines, decide the posts, and write an answer to each line in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import BinaryIO

import typer

from hybriddup.cli.summary_view import MAX_BAD_SHOWN, print_bad_records
from hybriddup.data.corpus import BadRecord
from hybriddup.data.fields import find_or, find_text
from hybriddup.errors import InputError
from hybriddup.files.encodings import AUTO, checked_encoding
from hybriddup.files.jsonl import parse_line
from hybriddup.files.tables import json_line
from hybriddup.files.text import Broken, why_too_long
from hybriddup.window import AnyWindow, Decision, Post, WindowStats
from hybriddup.window.event_time import event_time
from hybriddup.window.sent_posts import as_post

REMEDY = "each was answered in its place by an object with an error"


@dataclass
class Watcher:
    """Reads posts from lines of JSON, decides which to keep, and writes and counts an answer to each line."""

    window: AnyWindow
    output: BinaryIO
    fields: Mapping[str, str]
    """Maps ``text``, ``id``, ``created_at`` (only with event time) and ``author`` (optional) to input fields."""
    encoding: str
    max_line: int
    strict: bool
    n_lines: int = 0
    n_bad: int = 0
    first_bad: list[BadRecord] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def answer(self, lines: Sequence[bytes]) -> None:
        """Decide the posts in a batch of lines, write an answer to each line, and flush the output."""
        read = [self.read(line, number) for number, line in enumerate(lines, self.n_lines + 1) if line.strip()]
        self.n_lines += len(lines)
        bad = next((one for one in read if isinstance(one, BadRecord)), None)
        if self.strict and bad is not None:
            self.write(read[: read.index(bad)])
            raise InputError(
                f"standard input, line {bad.line}: {bad.reason.rstrip('.')}. "
                "Stopped there because of --strict; the lines before are answered."
            )
        self.write(read)

    def read(self, line: bytes, number: int) -> Post | BadRecord:
        """Parse a line into a post, or a `BadRecord` with the error."""
        bad = partial(BadRecord, "standard input", number, number - 1)
        if reason := why_too_long(line, self.max_line):
            return bad(reason)
        record = parse_line(line, self.encoding)
        if isinstance(record, Broken):
            return bad(str(record))
        if not isinstance(record, dict):
            return bad("not a JSON object")
        try:
            text = find_text(record, self.fields["text"])
        except KeyError:
            names = ", ".join(map(repr, list(record)[:10])) or "none"
            return bad(f"field {self.fields['text']!r} is missing (fields: {names}); see --text-field")
        try:
            fields = {name: find_or(record, field) for name, field in self.fields.items()} | {"text": text}
            post = as_post(number, fields, authors="author" if "author" in fields else None)
            if "created_at" in self.fields:
                event_time(number, post)
        except InputError as error:
            return bad(str(error).removeprefix(f"post {number}: "))
        return post

    def write(self, read: Sequence[Post | BadRecord]) -> None:
        """Decide the posts among the parsed lines, and write the answers in the order of the lines."""
        decisions = iter(self.window.add_many([one for one in read if isinstance(one, Post)]))
        for one in read:
            answer = one if isinstance(one, BadRecord) else next(decisions)
            self.count(answer)
            plain = answer.to_dict() if isinstance(answer, Decision) else {"line": answer.line, "error": answer.reason}
            self.output.write(json_line(plain))
        self.output.flush()

    def count(self, answer: Decision | BadRecord) -> None:
        """Count an answer by kind, and store the first few bad lines."""
        if isinstance(answer, Decision):
            repeated = "repeated id" if answer.repeated else ""
            self.counts[repeated or (answer.evidence.reason if answer.evidence else "kept")] += 1
            return
        self.n_bad += 1
        if len(self.first_bad) < MAX_BAD_SHOWN:
            self.first_bad.append(answer)

    def report(self, stats: WindowStats, *, quiet: bool) -> int:
        """Print counts, the estimated recall and the first bad lines on standard error; return the exit code."""
        if not quiet:
            counts = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(self.counts.items())) or "no posts"
            typer.echo(f"{self.n_lines:,} {'line' if self.n_lines == 1 else 'lines'}: {counts}", err=True)
            if recall := recall_line(stats):
                typer.echo(recall, err=True)
        return print_bad_records(self.first_bad, self.n_bad, REMEDY)


def encoding_of_stream(name: str) -> str:
    """Return Python's name of an encoding; raise InputError if it is unknown, or ``auto``, which needs a file."""
    if name == AUTO:
        raise InputError("--encoding auto: the encoding of a stream cannot be detected in advance; name it.")
    return checked_encoding(name)


def recall_line(stats: WindowStats) -> str:
    """Return a line with the estimated recall of the index; empty if there is no estimate."""
    if stats.estimated_recall is None or stats.recall_interval is None:
        return ""
    low, high = stats.recall_interval
    n_duplicates = stats.audit.n_found + stats.audit.n_missed
    return (
        f"estimated recall of near duplicates {stats.estimated_recall:.4f} (95 %: {low:.3f} to {high:.3f}), "
        f"by {n_duplicates:,} of them among {stats.audit.n_compared:,} sampled posts"
    )
