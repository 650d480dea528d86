"""Guard `numbers`: two posts of which each has a number, a date or a day that the other lacks are two posts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pydantic import Field

from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.han_numerals import HAN_NUMERAL, LARGE, han_values
from hybriddup.steps.guards.reading import Difference
from hybriddup.steps.guards.tables import read_table
from hybriddup.steps.options import Options as ComponentOptions

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
WORDS = re.compile(r"[^\W\d_]+(?:-feira|['’]hui)?")
NOT_TEXT = re.compile(r"https?://\S*|<(?:repost|url|user|tag|emoji)>|(?<![\w.])@[\w.]+")
HASHTAG = re.compile(r"#(\w*)")
TAIL = re.compile(r"(?:\s*(?:https?://\S*|@\w+|[…\s]|\.{2,}))+$")
MARKED_COUNTER = re.compile(r"(?:(?<=\s)[#x×*/]\s?\d{1,9}|(?<!\w)#\s?\d{1,9}|[\[(][a-z]?\d{1,9}[\])])$")
BARE_COUNTER = re.compile(r"(?<=[\s#])\d{1,9}['’]?$")
RANDOM_TAIL = re.compile(r"(?<=\s)(?:[a-z]+\d+[a-z][a-z\d]*|\d+[a-z]+\d[a-z\d]*)$")
LONG_FOR_MARKED, LONG_FOR_BARE = 40, 80
"""Letters (Han characters count twice) from which on a number at the end counts copies; in a title it is the issue."""
LIST_NUMBER = re.compile(r"(?:(?<![^\s。;；!?！？])|^)\d{1,2}[.)、](?=\s?[^\W\d])")
REPEATED = re.compile(r"(\d)\1{2,}")
THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
DECIMAL = re.compile(r"(\d+)[.,](\d+)")
ROMAN = re.compile(r"(?=[ivxl])(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})")
HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
ONLY_AFTER_DIGITS = {"am", "pm"}


class Value(NamedTuple):
    """A number, date or day in a post."""

    kind: str
    key: str
    """Equal for equal values: ``6.000`` and ``6000`` have one."""
    shown: str
    """As it is written."""
    unit: str
    """The beginning of what comes next, such as what is counted; of a number in a hashtag, the rest of the hashtag."""
    is_loose: bool = False
    """Whether it may be no number, or one of no weight: it counts only against a value with the same unit."""

    def contradicts(self, other: Value) -> bool:
        """Return whether two values, each of which one post has and the other lacks, exclude each other."""
        return self.unit == other.unit if self.is_loose or other.is_loose else True


class Tables(NamedTuple):
    """What `numbers.yaml` has, by word."""

    words: dict[str, tuple[str, str, bool]]
    """Kind, key, and whether the word counts only in the place of another number."""
    labels: frozenset[str]
    counted: frozenset[str]
    in_tags: re.Pattern[str]
    """Names of days and months in a hashtag, which has no spaces."""
    without_spaces: re.Pattern[str]
    """The words of scripts that put no spaces around words."""


KINDS = {
    "values": "number",
    "loose": "number",
    "weekdays": "weekday",
    "months": "month",
    "days": "day",
    "halves": "half",
}


@cache
def tables() -> Tables:
    """Return what `numbers.yaml` has."""
    read = read_table("numbers")
    words = {
        word: (kind, str(key), section == "loose")
        for section, kind in KINDS.items()
        for key, named in read[section].items()
        for word in named.split()
    }
    alone = [word for word in words if re.search(r"[\u3040-\u9fff\uac00-\ud7af]", word)]
    long_names = [word for word, (kind, _, _) in words.items() if kind in ("weekday", "month") and len(word) > 4]
    labels, counted = (frozenset(read[name].split()) for name in ("labels", "counted"))
    return Tables(words, labels, counted, _any_of(long_names), _any_of(alone))


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))))


def canonical(number: str) -> list[str]:
    """Return the values of a run of digits with points or commas.

    Examples
    --------
    >>> canonical("6.000"), canonical("1.0"), canonical("2,5"), canonical("05"), canonical("5.7.2018")
    (['6000'], ['1'], ['2.5'], ['5'], ['5', '7', '2018'])
    """
    if REPEATED.fullmatch(number):  # written for emphasis, such as 6666
        return [number[:3]]
    if THOUSANDS.fullmatch(number):
        return [str(int(re.sub("[.,]", "", number)))]
    if decimal := DECIMAL.fullmatch(number):
        part = decimal[2].rstrip("0")
        return [f"{int(decimal[1])}.{part}" if part else str(int(decimal[1]))]
    return [str(int(part)) for part in re.split("[.,]", number)]


def values_of(text: str) -> Iterator[Value]:
    """Yield the numbers, dates and days of a text without links and mentions."""
    for match in HASHTAG.finditer(text):
        yield from _values_of_tag(match[1])
    plain = HASHTAG.sub(" ", text)
    if len(LIST_NUMBER.findall(plain)) > 1:
        plain = LIST_NUMBER.sub(" ", plain)
    yield from _digits(plain)
    if HAN_NUMERAL.search(plain):
        for value, numeral, unit, is_loose in han_values(plain):
            yield Value("number", str(value), numeral, unit, is_loose)
    yield from _words(plain)


def _digits(text: str) -> Iterator[Value]:
    for match in DIGITS.finditer(text):
        after, keys = text[match.end() : match.end() + 1], canonical(match[0])
        if after in LARGE and len(keys) == 1:
            yield Value("number", _times(keys[0], LARGE[after]), match[0] + after, _unit(text, match.end() + 1))
        else:
            yield from (Value("number", key, match[0], _unit(text, match.end())) for key in keys)


def _unit(text: str, place: int) -> str:
    """Return the beginning of what comes next: a character of Chinese, or three letters."""
    following = text[place : place + 4].strip(" .)")
    return following[:1] if HAN.match(following) else following[:3]


def _times(key: str, factor: int) -> str:
    product = round(float(key) * factor, 6)
    return str(int(product)) if product == int(product) else str(product)


def _values_of_tag(tag: str) -> Iterator[Value]:
    if tag.isdecimal():
        yield Value("number", str(int(tag)), tag, "")
        return
    for match in DIGITS.finditer(tag):
        rest = f"#{tag[: match.start()]}0{tag[match.end() :]}"
        yield Value("number", canonical(match[0])[0], match[0], rest, is_loose=True)
    for match in tables().in_tags.finditer(tag):
        yield Value(*tables().words[match[0]][:2], match[0], "")


def _words(text: str) -> Iterator[Value]:
    known = tables()
    for match in known.without_spaces.finditer(text):
        yield Value(*known.words[match[0]][:2], match[0], "")
    before, end = "", 0
    for match in WORDS.finditer(text):
        word = match[0]
        if found := known.words.get(word):
            if word not in ONLY_AFTER_DIGITS or text[end : match.start()].strip()[-1:].isdecimal():
                kind, key, is_loose = found
                yield Value(kind, key, word, _unit(text, match.end()), is_loose)
        elif before in known.labels and (len(word) == 1 or ROMAN.fullmatch(word)):
            yield Value("part", word, f"{before} {word}", "")
        before, end = word, match.end()


def undecorated(text: str, length: int) -> str:
    """Return the end of a post without what only counts copies: ``#8``, ``[2036345]``, ``8fj2``; links go too.

    The length is that of the shorter post.
    """
    bare = RANDOM_TAIL.sub("", TAIL.sub("", text))
    patterns = [MARKED_COUNTER] * (length >= LONG_FOR_MARKED) + [BARE_COUNTER] * (length >= LONG_FOR_BARE)
    counter = next(filter(None, (pattern.search(bare) for pattern in patterns)), None)
    if counter is None:
        return bare
    before = bare[: counter.start()]
    return bare if before.rstrip(" #:-").rpartition(" ")[2] in tables().counted else before


def width(text: str) -> int:
    """Return the length of a text, Han characters and kana counted twice."""
    return len(text) + len(HAN.findall(text))


class Numbers(PairGuard):
    """Numbers must agree, however they are written: 2 is two, and 6,000 is 6000."""

    class Options(ComponentOptions):
        """Options of the guard."""

        strict: bool = Field(
            False,
            description="Whether a number that only one of two posts has keeps them apart; else each must have one "
            "that the other lacks.",
        )

    def __init__(self, options: Options) -> None:
        self.strict = options.strict

    def reason(self, a: str, b: str) -> str | None:
        """Return the values in which two posts differ; None where these are no reason."""
        difference = Difference(a, b)
        if difference.is_equal:
            return None
        return _strict_reason(difference) if self.strict else _reason(difference)


def _strict_reason(difference: Difference) -> str | None:
    a, b = (
        [value for value in values_of(NOT_TEXT.sub(" ", text)) if value.kind == "number"]
        for text in (difference.a, difference.b)
    )
    only_a, only_b = _only(a, b), _only(b, a)
    return _spell(only_a, only_b) if only_a or only_b else None


def _reason(difference: Difference) -> str | None:
    a, b = (list(values_of(text)) for text in _texts(difference))
    for kind in dict.fromkeys(value.kind for value in a):
        of_a, of_b = ([value for value in values if value.kind == kind] for values in (a, b))
        only_a, only_b = _only(of_a, of_b), _only(of_b, of_a)
        if any(one.contradicts(other) for one in only_a for other in only_b):
            return _spell(only_a, only_b)
    return None


def _texts(difference: Difference) -> list[str]:
    """Return the parts that differ, without decoration."""
    texts = [difference.a, difference.b]
    if difference.ends_text:
        length = min(width(difference.whole_a), width(difference.whole_b))
        texts = [undecorated(text, length) for text in texts]
    return [NOT_TEXT.sub(" ", text) for text in texts]


def _only(values: list[Value], others: list[Value]) -> list[Value]:
    """Return the values that the others lack, or have fewer times."""
    more = Counter(value.key for value in values) - Counter(value.key for value in others)
    return [value for value in values if value.key in more]


def _spell(a: list[Value], b: list[Value]) -> str:
    shown_a, shown_b = (", ".join(dict.fromkeys(value.shown for value in some)) or "none" for some in (a, b))
    return f"numbers {shown_a} / {shown_b}"
