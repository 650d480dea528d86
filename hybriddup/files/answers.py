"""Stores the answers of `hybriddup label`: labeled pairs, appended one by one to a JSON Lines file."""

from __future__ import annotations

import json
from pathlib import Path

from hybriddup.errors import InputError, OutputError
from hybriddup.files.pairs import UNSURE


class AnswerFile:
    """A file of labeled pairs, one per line, to which answers are appended.

    Raises InputError if the file already has a line that is not an answer of `hybriddup label`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path.read_text("utf-8").splitlines() if path.exists() else []
        self.earlier = [parse_answer(line, f"{path}:{number}") for number, line in enumerate(self._lines, 1)]
        """The answers in the file when it was opened, each as two texts and a label; None = unsure."""

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, texts: tuple[str, str], label: bool | None) -> None:
        """Append an answer; None = unsure."""
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


def parse_answer(line: str, place: str) -> tuple[tuple[str, str], bool | None]:
    """Return the two texts and the label in a line; raise InputError, which names ``place``, if it is no answer."""
    try:
        at = json.loads(line)
        a, b, label = at["a"], at["b"], at["label"]
    except (ValueError, LookupError, TypeError):
        a, b, label = None, None, None
    if not (isinstance(a, str) and isinstance(b, str)):
        raise InputError(f"{place}: not an answer of `hybriddup label`. Name another file with -o.")
    return (a, b), None if label == UNSURE else bool(label)
