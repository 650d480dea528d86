"""Where two posts differ: their words, and the runs of words in which one has what the other lacks.

Most of two near repeats is equal. Only the part from the first to the last difference is read, with some context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein, Postfix, Prefix

CONTEXT = 16
"""Characters around the part that differs that are read with it, and as many more as end a word."""
LONGEST_WORD = 24
"""Characters within which a word that has spaces around it ends."""
MARK = r"https?://\S*|<(?:repost|url|user|tag|emoji)>|(?<![\w.])@[\w.]+"
NO_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
"""Scripts that put no spaces between words: each character, with its marks, is read as a word."""
WORD = regex.compile(
    rf"(?:{MARK})(*SKIP)(*FAIL)"
    rf"|[{NO_SPACES}]\p{{M}}*|\p{{Nd}}+|[\p{{L}}\p{{M}}--[{NO_SPACES}]]+(?:['’ʼ][\p{{L}}\p{{M}}]+)*",
    regex.V1,
)


ALONE = regex.compile(rf"[{NO_SPACES}]", regex.V1)
PART = regex.compile(rf"[\p{{L}}\p{{M}}\p{{Nd}}_--[{NO_SPACES}]]", regex.V1)
"""A character that belongs to a word with its neighbours."""


class Run(NamedTuple):
    """Words of one post in the place of words of the other; one of the two may be empty."""

    a: tuple[int, int]
    """The first word, and the one after the last, in `Difference.words_a`."""
    b: tuple[int, int]


class Difference:
    """What two posts have in the part where they differ; nothing is read before it is asked for."""

    def __init__(self, a: str, b: str) -> None:
        n = Prefix.similarity(a, b)
        n_end = Postfix.similarity(a[n:], b[n:])
        self.is_equal = n == len(a) == len(b)
        self.middle_a, self.middle_b = a[n : len(a) - n_end], b[n : len(b) - n_end]
        first = _word_start(a, n - CONTEXT)
        self.starts_text = first == 0
        self.a, self.b = a[first : _word_end(a, len(a) - n_end + CONTEXT)], ""
        self.ends_text = first + len(self.a) == len(a)
        self.b = b[first : len(b) - (len(a) - first - len(self.a))]
        self._n, self._n_end = n, n_end
        self.whole_a, self.whole_b = a, b

    @cached_property
    def spans_a(self) -> list[tuple[int, int]]:
        """Where the words of the first post are in its part `a`."""
        return [match.span() for match in WORD.finditer(self.a)]

    @cached_property
    def spans_b(self) -> list[tuple[int, int]]:
        """Where the words of the second post are in its part `b`."""
        return [match.span() for match in WORD.finditer(self.b)]

    @cached_property
    def words_a(self) -> list[str]:
        """The words of the first post, from the first difference to the last, with context."""
        return [self.a[start:end] for start, end in self.spans_a]

    @cached_property
    def words_b(self) -> list[str]:
        """The words of the second post, from the first difference to the last, with context."""
        return [self.b[start:end] for start, end in self.spans_b]

    @cached_property
    def runs(self) -> list[Run]:
        """The places in which the words differ, in order; not where only spaces do."""
        numbers: dict[str, str] = {}
        coded = [
            "".join(numbers.setdefault(word, chr(0x10000 + len(numbers))) for word in words)
            for words in (self.words_a, self.words_b)
        ]
        runs: list[Run] = []
        for change in Levenshtein.opcodes(*coded):
            if change.tag == "equal":
                continue
            a0, a1, b0, b1 = change.src_start, change.src_end, change.dest_start, change.dest_end
            if runs and runs[-1].a[1] == a0 and runs[-1].b[1] == b0:
                runs[-1] = Run((runs[-1].a[0], a1), (runs[-1].b[0], b1))
            else:
                runs.append(Run((a0, a1), (b0, b1)))
        return [run for run in runs if "".join(self.words_a[slice(*run.a)]) != "".join(self.words_b[slice(*run.b)])]

    def sides(self, run: Run) -> tuple[list[str], list[str]]:
        """Return the words of a run in the two posts."""
        return self.words_a[slice(*run.a)], self.words_b[slice(*run.b)]

    def is_head(self, run: Run) -> bool:
        """Return whether no word that both have is before the run."""
        return self.starts_text and (run.a[0] == 0 or run.b[0] == 0)

    def is_tail(self, run: Run) -> bool:
        """Return whether no word that both have is after the run."""
        return self.ends_text and (run.a[1] == len(self.words_a) or run.b[1] == len(self.words_b))


def _word_start(text: str, place: int) -> int:
    """Return where the word begins that a place is in; the place itself where no space is near."""
    if place <= 0:
        return 0
    start = text.rfind(" ", max(0, place - LONGEST_WORD), place) + 1
    return start or place


def _word_end(text: str, place: int) -> int:
    """Return where the word ends that a place is in; the place itself where no space is near."""
    if place >= len(text):
        return len(text)
    end = text.find(" ", place, place + LONGEST_WORD)
    return place if end < 0 else end


def letters(words: Sequence[str]) -> str:
    """Return words as one text, with a space where they have letters of a script that needs one."""
    return "".join(words) if all(len(word) == 1 for word in words) else " ".join(words)


def changed(difference: Difference) -> Iterator[tuple[Run, list[str], list[str]]]:
    """Yield the runs in which each post has words that the other lacks."""
    for run in difference.runs:
        a, b = difference.sides(run)
        if a and b:
            yield run, a, b


def holds_word(text: str, word: str) -> bool:
    """Return whether a text has a word: a whole one, unless it begins and ends in a script without spaces."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (_joins(text[place - 1 : place], word[0]) or _joins(word[-1], text[end : end + 1])):
            return True
        place = text.find(word, place + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Return whether two characters next to each other are of one word."""
    return bool(left and right and PART.match(left) and PART.match(right))


def amount(words: Sequence[str]) -> float:
    """Return how much some words are: a character of a script without spaces is half a word."""
    return sum(0.5 if ALONE.match(word) else 1.0 for word in words)


def has_frame(difference: Difference) -> bool:
    """Return whether two posts are nearly the same sentence: more of the shorter one is equal than not."""
    changed_a = sum(run.a[1] - run.a[0] for run in difference.runs)
    changed_b = sum(run.b[1] - run.b[0] for run in difference.runs)
    n_equal = len(difference.words_a) - changed_a
    unread = len(difference.whole_a) - len(difference.a)
    return bool(difference.runs) and n_equal + unread / 4 >= max(changed_a, changed_b)
