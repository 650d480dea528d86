"""Posts that windows are sent to check their contract, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Protocol, Self

from hybriddup.testing.contract import ContractError, ask_elsewhere, pickled_question
from hybriddup.window.protocols import AnyWindow
from hybriddup.window.records import Decision

CONFIG: dict[str, Any] = {
    "without_text": "compare",
    "weighter": {"use": "tf"},
    "lengths": [{"max_hamming_distance": 44, "verifier": {"use": "edit", "threshold": 0.8}}],
}
"""Learns nothing from the few posts of the check, and leaves none of their pairs out, so that every answer is known."""
HORIZON = 1000.0


class Opens(Protocol):
    """Opens windows that are told apart by names."""

    def __call__(self, name: str, **options: Any) -> AnyWindow:
        """Return the window of this name, a new one where there is none; options are those of `Window.open`."""
        ...


class Windows:
    """Opens windows as ``open_window`` does, and closes all of them in the end, also where the check fails.

    They go by `CONFIG` and `HORIZON` unless the options say otherwise.
    """

    def __init__(self, open_window: Opens) -> None:
        self._open = open_window
        self._opened: list[AnyWindow] = []

    def __call__(self, name: str, **options: Any) -> AnyWindow:
        """Return the window of this name, opened with these options."""
        self._opened.append(self._open(name, **{"config": CONFIG, "horizon": HORIZON, **options}))
        return self._opened[-1]

    def elsewhere(self, question: Callable[[Opens], Any]) -> Any:
        """Return the answer to a question by another process, which closes nothing when it ends."""
        try:
            return ask_elsewhere(pickled_question(self._open, question))
        except Exception as error:
            raise ContractError(f"another process can open a window; this breaks it: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for window in self._opened:
            with suppress(Exception):  # the first fault is told
                window.close()


def distinct_texts(n: int) -> list[str]:
    """Return texts, none of which is similar to another."""
    return [" ".join(chr(0x4E00 + (place * 37 + i * (place + 3)) % 20_000) * 3 for i in range(8)) for place in range(n)]


def nearly(text: str) -> str:
    """Return a text that is no exact repeat of another, and repeats it."""
    return text[:-1] + "!"


def posts_with_repeats(n: int) -> list[dict[str, Any]]:
    """Return posts with ids, of each of so many texts one that is exactly and one that is nearly repeated, mixed up."""
    texts = distinct_texts(n)
    forms = [*texts, *texts, *map(nearly, texts)]
    Random(n).shuffle(forms)  # noqa: S311  posts, not secrets
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(forms)]


def right_answers(posts: Sequence[dict[str, Any]]) -> list[object]:
    """Return what is to be said of posts with repeats: the first of those that match each other is kept."""
    keepers: dict[str, dict[str, Any]] = {}
    answers: list[object] = []
    for post in posts:
        keeper = keepers.setdefault(post["text"][:-1], post)
        reason = "exact" if keeper["text"] == post["text"] else "near"
        answers.append((post["id"], *(("kept", None) if keeper is post else ("duplicate", (keeper["id"], reason)))))
    return answers


def said(decisions: Iterable[Decision]) -> list[object]:
    """Return what decisions say, without where the window keeps the posts."""
    return [(each.id, each.decision, each.evidence and (each.evidence.of, each.evidence.reason)) for each in decisions]
