"""Finds the part in which two posts differ, and the runs of differing words in it.

Near-duplicates are mostly equal, so only the part from the first to the last difference is read, with some context.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Indel, Levenshtein, Postfix, Prefix

from hybriddup.kernels.posts.guard_kinds import MOST_ALONE, MOST_LETTERS
from hybriddup.kernels.posts.structure import LONGEST_LABEL
from hybriddup.steps.guards.han_numerals import HAN_NUMERAL
from hybriddup.steps.posts.characters import LABELS, words_in

CONTEXT = 16
"""Number of characters of context on each side of the differing part, rounded up to whole words."""
LONGEST_WORD = 24
"""Maximum number of characters to search for the start or the end of a word; see `_word_start` and `_word_end`."""
MARKS = "".join(
    chr(code)
    for code in (*range(0x300, 0x2000), *range(0x20D0, 0x2100), 0x3099, 0x309A, *range(0xA800, 0xAC00))
    if unicodedata.category(chr(code))[0] == "M"
)
"""Combining marks: vowel signs, tones and points, which belong to the letter before them."""
NO_SPACES = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u1000-\u102a\u1780-\u17b3"
    "\u3005-\u3007\u3040-\u3096\u30a0-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of Thai, Lao, Myanmar, Khmer, Chinese and Japanese; each letter with its marks is read as a word."""
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Matches a Han character or kana."""
WORD_CHARACTER = re.compile(r"\w")
PART = re.compile(rf"(?![{NO_SPACES}])[\w{MARKS}]")
"""Matches a character that can form a word together with its neighbours."""
SPACED = re.compile("[a-z\u00c0-\u0dff\uac00-\ud7af]")
"""Matches a letter or mark of a script with spaces between words."""
LETTER = rf"(?:(?![{NO_SPACES}])[^\W\d_]|[{MARKS}])"
PLACEHOLDER = "<(?:repost|url|user|tag|emoji)>"
MARK = re.compile(rf"https?://\S*|{PLACEHOLDER}|@(?<![\w.]@)[\w.]+")
"""Matches a link, a mention, or a placeholder such as ``<url>``. Each alternative begins with a literal character, so
that `re` skips all other characters quickly."""
SERIAL = re.compile(rf"\s*\d{{1,4}}\s*(?={PLACEHOLDER})")
"""Matches a serial number before a placeholder at the beginning of a text."""
WORD = re.compile(rf"[{NO_SPACES}][{MARKS}]*|\d+|{LETTER}+(?:['’ʼ]{LETTER}+)*")
ALONE = re.compile(f"[{NO_SPACES}]")
LABEL = re.compile(rf"(?:(?<=…)|(?<=\.\.\.))[^….]{{1,{LONGEST_LABEL - 1}}}\Z")
"""Matches what may be a label after the ellipsis of a post that is cut off."""
NAMED = re.compile(rf"[\w{MARKS}]+")


class Run(NamedTuple):
    """A run of words in one post and the words that replace it in the other; either may be empty."""

    a: tuple[int, int]
    """Indices in `Difference.words_a` of the first word and of the word after the last."""
    b: tuple[int, int]


class Difference:
    """The differing part of two posts, with some context; attributes are computed on first use."""

    def __init__(self, a: str, b: str) -> None:
        a, b = _without_marks(_without_label(a)), _without_marks(_without_label(b))
        self.whole_a, self.whole_b = a, b
        self._n_before: int = Prefix.similarity(a, b)
        self._n_after: int = Postfix.similarity(a[self._n_before :], b[self._n_before :])
        self.middle_a = a[self._n_before : len(a) - self._n_after]
        """The text of the first post from the first difference to the last."""
        self.middle_b = b[self._n_before : len(b) - self._n_after]

    @cached_property
    def is_small(self) -> bool:
        """Whether only a few characters differ, so that the posts can be one sentence with some words changed."""
        a, b = self.middle_a, self.middle_b
        most = MOST_ALONE if HAN.search(a) or HAN.search(b) else MOST_LETTERS
        return abs(len(a) - len(b)) <= most and Indel.distance(a, b, score_cutoff=most) <= most

    @cached_property
    def adds_only(self) -> bool:
        """Whether one post only adds words to the other."""
        return not (self._has_words(self.whole_a, self.middle_a) and self._has_words(self.whole_b, self.middle_b))

    def _has_words(self, text: str, middle: str) -> bool:
        if WORD_CHARACTER.search(middle):
            return True
        before, after = text[: self._n_before][-1:], text[len(text) - self._n_after :][:1]
        # a part of a word or number that the other continues, such as 1 and 10, or 十 and 二十
        touches_word = WORD_CHARACTER.match(before) or WORD_CHARACTER.match(after)
        touches_number = HAN_NUMERAL.match(before) or HAN_NUMERAL.match(after)
        return bool(touches_word) and bool(touches_number or not (HAN.match(before) or HAN.match(after)))

    @cached_property
    def _first(self) -> int:
        return _word_start(self.whole_a, self._n_before - CONTEXT)

    @cached_property
    def a(self) -> str:
        """The differing part of the first post, with context."""
        return self.whole_a[self._first : _word_end(self.whole_a, len(self.whole_a) - self._n_after + CONTEXT)]

    @cached_property
    def b(self) -> str:
        """The differing part of the second post, with the same context (equal text around it) as `a`."""
        n_left_out = len(self.whole_a) - self._first - len(self.a)
        return self.whole_b[self._first : len(self.whole_b) - n_left_out]

    @property
    def starts_text(self) -> bool:
        """Whether `a` and `b` include the beginning of the posts."""
        return self._first == 0

    @property
    def ends_text(self) -> bool:
        """Whether `a` and `b` include the end of the posts."""
        return self._first + len(self.a) == len(self.whole_a)

    @cached_property
    def spans_a(self) -> list[tuple[int, int]]:
        """Start and end index in `a` of each of its words."""
        return spans_of(self.a)

    @cached_property
    def spans_b(self) -> list[tuple[int, int]]:
        """Start and end index in `b` of each of its words."""
        return spans_of(self.b)

    @cached_property
    def words_a(self) -> list[str]:
        """The words of `a`."""
        return WORD.findall(self.a)

    @cached_property
    def words_b(self) -> list[str]:
        """The words of `b`."""
        return WORD.findall(self.b)

    @cached_property
    def runs(self) -> list[Run]:
        """The runs of differing words, in order; a run that differs only in spaces is left out."""
        runs: list[Run] = []
        end_a = end_b = 0
        for a, b, n_equal in Levenshtein.opcodes(self.words_a, self.words_b).as_matching_blocks():
            if "".join(self.words_a[end_a:a]) != "".join(self.words_b[end_b:b]):
                runs.append(Run((end_a, a), (end_b, b)))
            end_a, end_b = a + n_equal, b + n_equal
        return runs

    def sides(self, run: Run) -> tuple[list[str], list[str]]:
        """Return the words of a run in the first and in the second post."""
        return self.words_a[slice(*run.a)], self.words_b[slice(*run.b)]

    def is_head(self, run: Run) -> bool:
        """Return whether the run is at the beginning of at least one of the two posts."""
        return self.starts_text and (run.a[0] == 0 or run.b[0] == 0)

    def is_tail(self, run: Run) -> bool:
        """Return whether the run is at the end of at least one of the two posts."""
        return self.ends_text and (run.a[1] == len(self.words_a) or run.b[1] == len(self.words_b))


@lru_cache(maxsize=512)
def difference_of(a: str, b: str) -> Difference:
    """Return the difference of two posts; cached, because several guards read the same pair."""
    return Difference(a, b)


def _without_marks(text: str) -> str:
    """Replace links, mentions and placeholders such as ``<url>``, with a serial number before them, with spaces."""
    if "@" in text or "<" in text or "http" in text:
        if serial := SERIAL.match(text):
            text = " " * serial.end() + text[serial.end() :]
        return MARK.sub(lambda match: " " * len(match[0]), text)
    return text


def _without_label(text: str) -> str:
    """Remove the label after the ellipsis of a post that is cut off, such as ``Read more``."""
    if "…" not in text[-LONGEST_LABEL:] and "..." not in text[-LONGEST_LABEL - 2 :]:
        return text
    label = LABEL.search(text)
    return text if label is None or "".join(NAMED.findall(label[0])) not in labels() else text[: label.start()]


@cache
def labels() -> set[str]:
    """Return the labels, without their spaces."""
    return words_in(LABELS)


def _word_start(text: str, place: int) -> int:
    """Return the start of the word at index ``place``; ``place`` if no space is within `LONGEST_WORD` before it."""
    if place <= 0:
        return 0
    start = text.rfind(" ", max(0, place - LONGEST_WORD), place) + 1
    return start or place


def _word_end(text: str, place: int) -> int:
    """Return the end of the word at index ``place``; ``place`` if no space is within `LONGEST_WORD` after it."""
    if place >= len(text):
        return len(text)
    end = text.find(" ", place, place + LONGEST_WORD)
    return place if end < 0 else end


def spans_of(text: str) -> list[tuple[int, int]]:
    """Return the start and end index of each word of a text."""
    return [match.span() for match in WORD.finditer(text)]


def letters(words: Sequence[str]) -> str:
    """Join words into a text, with spaces unless every word is a character, with its marks, or a single letter."""
    return "".join(words) if all(len(word) == 1 or ALONE.match(word) for word in words) else " ".join(words)


def changed(difference: Difference) -> Iterator[tuple[Run, list[str], list[str]]]:
    """Yield (run, words in the first post, words in the second post) for each run with words in both posts."""
    for run in difference.runs:
        a, b = difference.sides(run)
        if a and b:
            yield run, a, b


def holds_word(text: str, word: str) -> bool:
    """Return whether a text contains a word; in scripts with spaces, a part of a longer word does not count."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (_joins(text[place - 1 : place], word[0]) or _joins(word[-1], text[end : end + 1])):
            return True
        place = text.find(word, place + 1)
    return False


def _joins(left: str, right: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    return bool(left and right and PART.match(left) and PART.match(right))


def amount(words: Sequence[str]) -> float:
    """Count words; a character of a script without spaces counts as half a word."""
    return sum(0.5 if ALONE.match(word) else 1.0 for word in words)


def has_frame(difference: Difference) -> bool:
    """Return whether two posts are nearly the same sentence: some words differ, but at least as many are equal."""
    changed_a = sum(run.a[1] - run.a[0] for run in difference.runs)
    changed_b = sum(run.b[1] - run.b[0] for run in difference.runs)
    n_equal = len(difference.words_a) - changed_a
    unread = len(difference.whole_a) - len(difference.a)
    return bool(difference.runs) and n_equal + unread / 4 >= max(changed_a, changed_b)
