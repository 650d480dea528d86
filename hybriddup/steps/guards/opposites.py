"""Guard `opposites`: refuses posts if a word is replaced by its opposite, such as buy by sell."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz.distance import Postfix

from hybriddup.kernels.posts.guard_kinds import OPPOSITE
from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.reading import ALONE, amount, changed, difference_of, has_frame, letters
from hybriddup.steps.guards.tables import read_table

LONGEST = 3.0
"""Maximum number of words, as counted by `amount`, in a run that is an opposite or contains one."""
LONGEST_OF_HAN = 2
"""Maximum number of words in a run in which a single Han character may be an opposite."""
HANGUL = re.compile(r"[\uac00-\ud7af]")
Places = dict[str, frozenset[tuple[int, int]]]


@cache
def opposites() -> Places:
    """Map each word of `opposites.yaml` to pairs (index of a list, index of a side of this list).

    Words on different sides of the same list are opposites.
    """
    found: dict[str, set[tuple[int, int]]] = {}
    for number, written in enumerate(read_table("opposites")["pairs"]):
        for side, words in enumerate(written.split("|")):
            for word in words.split():
                found.setdefault(word, set()).add((number, side))
    return {word: frozenset(places) for word, places in found.items()}


def exclude(a: str, b: str) -> bool:
    """Return whether two words are opposites.

    Examples
    --------
    >>> exclude("buy", "sell"), exclude("north", "east"), exclude("buy", "east"), exclude("buy", "bought")
    (True, True, False, False)
    """
    known = opposites()
    sides = dict(known.get(a, ()))
    return any(sides.get(number, side) != side for number, side in known.get(b, ()))


class Opposites(PairGuard):
    """Keeps two posts apart if a word is replaced by its opposite."""

    sign = OPPOSITE

    def reason(self, a: str, b: str) -> str | None:
        """Return the opposite words that replace each other; None if there are none."""
        difference = difference_of(a, b)
        if not difference.is_small or difference.adds_only or not has_frame(difference):
            return None
        for _, of_a, of_b in changed(difference):
            if found := _opposites_in(of_a, of_b):
                return f"opposites {found[0]} / {found[1]}"
        return None


def _opposites_in(a: list[str], b: list[str]) -> tuple[str, str] | None:
    """Return the opposites in two short runs of words: the whole runs, or two words at one position; None = none.

    A single Han character in a longer run is only a part of a word, as in 湖北除 and 钟南山.
    """
    if max(amount(a), amount(b)) > LONGEST:
        return None
    if exclude(whole_a := letters(a), whole_b := letters(b)):
        return whole_a, whole_b
    is_long = max(len(a), len(b)) > LONGEST_OF_HAN
    words = [(one, other) for one, other in zip(a, b, strict=False) if not (is_long and ALONE.match(one))]
    return next(((one, other) for one, other in words if exclude_stems(one, other)), None)


def exclude_stems(a: str, b: str) -> bool:
    """Return whether two words are opposites, or two Korean words with the same ending have opposite stems.

    Examples
    --------
    >>> exclude_stems("허용됩니다", "금지됩니다"), exclude_stems("허용됩니다", "금지합니다")
    (True, False)
    """
    longest = Postfix.similarity(a, b) if HANGUL.match(a) and HANGUL.match(b) else 0
    return any(exclude(a[: len(a) - n], b[: len(b) - n]) for n in range(longest + 1))
