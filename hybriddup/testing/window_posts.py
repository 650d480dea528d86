"""Posts for the contract checks of windows, and the expected decisions on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from random import Random
from typing import Any, Protocol, Self

from hybriddup.testing.contract import ContractError, call_elsewhere, pickled_question
from hybriddup.window import Window
from hybriddup.window.records import Decision

CONFIG: dict[str, Any] = {
    "without_text": "compare",
    "weighter": {"use": "tf"},
    "lengths": [{"max_hamming_distance": 44, "verifier": {"use": "edit", "threshold": 0.8}}],
}
"""A configuration that learns nothing and misses no pairs, so that all decisions are known in advance."""
HORIZON = 1000.0


class Opens(Protocol):
    """Function of a plugin author that opens the windows under test by name."""

    def __call__(self, name: str, **options: Any) -> Window:
        """Open or create the window with this name; ``options`` are passed to `Window.open`."""


class Windows:
    """Opens windows with ``open_window``, and closes all of them at the end, even if the check fails.

    The options ``config`` and ``horizon`` default to `CONFIG` and `HORIZON`.
    """

    def __init__(self, open_window: Opens) -> None:
        self._open = open_window
        self._opened: list[Window] = []

    def __call__(self, name: str, **options: Any) -> Window:
        """Open or create the window with this name; ``options`` take precedence over the defaults."""
        self._opened.append(self._open(name, **{"config": CONFIG, "horizon": HORIZON, **options}))
        return self._opened[-1]

    def elsewhere(self, question: Callable[[Opens], Any]) -> Any:
        """Call ``question`` with the function that opens windows, in another process, and return the result.

        The other process then ends without closing its windows.
        """
        try:
            return call_elsewhere(pickled_question(self._open, question))
        except Exception as error:
            raise ContractError(f"another process can open a window; this breaks it: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for window in self._opened:
            with suppress(Exception):  # it must not hide the error of the check
                window.close()


def distinct_texts(n: int) -> list[str]:
    """Return ``n`` texts; no two are similar."""
    return [" ".join(chr(0x4E00 + (place * 37 + i * (place + 3)) % 20_000) * 3 for i in range(8)) for place in range(n)]


def nearly(text: str) -> str:
    """Return a near duplicate of a text."""
    return text[:-1] + "!"


def posts_with_repeats(n: int) -> list[dict[str, Any]]:
    """Return 3 * ``n`` posts with ids, in random order: ``n`` texts, each twice, and a near duplicate of each text."""
    texts = distinct_texts(n)
    forms = [*texts, *texts, *map(nearly, texts)]
    Random(n).shuffle(forms)  # noqa: S311  posts, not secrets
    return [{"id": f"post {place}", "text": text} for place, text in enumerate(forms)]


def right_answers(posts: Sequence[dict[str, Any]]) -> list[object]:
    """Return the expected decisions on `posts_with_repeats`, in the form that `comparable` returns."""
    keepers: dict[str, dict[str, Any]] = {}
    answers: list[object] = []
    for post in posts:
        keeper = keepers.setdefault(post["text"][:-1], post)
        reason = "exact" if keeper["text"] == post["text"] else "near"
        answers.append((post["id"], *(("kept", None) if keeper is post else ("duplicate", (keeper["id"], reason)))))
    return answers


def comparable(decisions: Iterable[Decision]) -> list[object]:
    """Return decisions as comparable tuples, without positions and scores."""
    return [(each.id, each.decision, each.evidence and (each.duplicate_of, each.evidence.reason)) for each in decisions]
