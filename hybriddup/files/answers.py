"""Stores the answers of `hybriddup label`: labeled pairs, appended one by one to a JSON Lines file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hybriddup.errors import InputError, OutputError
from hybriddup.files.pairs import UNSURE


class AnswerFile:
    """A file of labeled pairs, one per line, to which answers are appended.

    Raises InputError if the file already has a line that is not an answer of `hybriddup label`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = path.read_text("utf-8").splitlines() if path.exists() else []
        for number, line in enumerate(self._lines, 1):
            if not is_answer(line):
                raise InputError(f"{path}:{number}: not an answer of `hybriddup label`. Name another file with -o.")

    def __len__(self) -> int:
        return len(self._lines)

    def earlier(self) -> list[tuple[tuple[str, str], bool | None]]:
        """Return the answers so far, each as two texts and a label; None = unsure."""
        pairs = map(json.loads, self._lines)
        return [((at["a"], at["b"]), None if at["label"] == UNSURE else bool(at["label"])) for at in pairs]

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


def is_answer(line: str) -> bool:
    """Return whether a line is an answer of `hybriddup label`."""
    try:
        at: Any = json.loads(line)
    except ValueError:
        return False
    return isinstance(at, dict) and isinstance(at.get("a"), str) and isinstance(at.get("b"), str) and "label" in at
