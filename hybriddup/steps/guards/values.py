"""The numbers, dates and days of a text, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from hybriddup.steps.guards.han_numerals import HAN_NUMERAL, LARGE, han_values
from hybriddup.steps.guards.reading import HAN, SPACED
from hybriddup.steps.guards.tables import read_table

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
WORDS = re.compile(r"[^\W\d_]+(?:-feira|['’]hui)?")
HASHTAG = re.compile(r"#(\w*)")
HEAD_COUNTER = re.compile(r"^\s*\d{1,4}(?=\s*<repost>)")
"""A comment that only counts, before what it quotes."""
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
ONLY_AFTER_DIGITS = {"am", "pm"}


class Value(NamedTuple):
    """A number, date or day in a text."""

    kind: str
    key: str
    """Equal for equal values: ``6.000`` and ``6000`` have one."""
    shown: str
    """As it is written."""
    start: int
    """Its place in the text."""
    before: str
    """The two characters before it."""
    unit: str
    """The beginning of what comes next, such as what is counted; of a number in a hashtag, the rest of the hashtag."""
    is_loose: bool = False
    """Whether it may be no number, or one of no weight: it counts only against a value with the same unit."""


class Tables(NamedTuple):
    """What `numbers.yaml` has, by word."""

    words: dict[str, tuple[str, str, bool]]
    """Kind, key, and whether the word counts only in the place of another number."""
    labels: frozenset[str]
    counted: frozenset[str]
    latin: frozenset[str]
    """All words and labels of scripts that put spaces around words."""
    signs: re.Pattern[str]
    """The characters of the words of the others."""
    characters: str
    """The same as text."""
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
    characters = "".join(sorted({character for word in alone for character in word}))
    signs = re.compile(f"[{characters}]")
    latin = labels.union(words).difference(alone)
    return Tables(words, labels, counted, latin, signs, characters, _any_of(long_names), _any_of(alone))


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


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """Return a text with spaces in the place of what a pattern finds, so that all else keeps its place."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def values_of(text: str) -> Iterator[Value]:
    """Yield the numbers, dates and days of a text without links and mentions."""
    for match in HASHTAG.finditer(text):
        yield from _values_of_tag(match[1], match.start(1))
    plain = blanked(HASHTAG, text)
    if len(LIST_NUMBER.findall(plain)) > 1:
        plain = blanked(LIST_NUMBER, plain)
    yield from _digits(plain)
    if HAN_NUMERAL.search(plain):
        for start, value, numeral, unit, is_loose in han_values(plain):
            yield Value("number", str(value), numeral, start, _before(plain, start), unit, is_loose)
    yield from _words(plain)


def _digits(text: str) -> Iterator[Value]:
    for match in DIGITS.finditer(text):
        number, start, end = match[0], match.start(), match.end()
        after, keys = text[end : end + 1], canonical(number)
        if after in LARGE and len(keys) == 1:
            keys, number, end = [_times(keys[0], LARGE[after])], number + after, end + 1
        for key in keys:
            before, is_in_word = _before(text, start), text[start - 1 : start].isalpha() and text[start - 1].isascii()
            yield Value("number", key, number, start, before, _unit(text, end), is_in_word)


def _before(text: str, place: int) -> str:
    """Return the two characters before a place, spaces left out."""
    return text[max(0, place - 4) : place].replace(" ", "")[-2:]


def _unit(text: str, place: int) -> str:
    """Return the beginning of what comes next: a character of Chinese, or three letters."""
    following = text[place : place + 4].strip(" .)")
    return following[:1] if HAN.match(following) else following[:3]


def _times(key: str, factor: int) -> str:
    product = round(float(key) * factor, 6)
    return str(int(product)) if product == int(product) else str(product)


def _values_of_tag(tag: str, start: int) -> Iterator[Value]:
    if tag.isdecimal():
        yield Value("number", str(int(tag)), tag, start, "#", "")
        return
    for match in DIGITS.finditer(tag):
        rest = f"#{tag[: match.start()]}0{tag[match.end() :]}"
        yield Value("number", canonical(match[0])[0], match[0], start + match.start(), "", rest)
    for match in tables().in_tags.finditer(tag):
        kind, key, _ = tables().words[match[0]]
        yield Value(kind, key, match[0], start + match.start(), "", "")


def _words(text: str) -> Iterator[Value]:
    known = tables()
    for match in known.without_spaces.finditer(text) if known.signs.search(text) else ():
        kind, key, _ = known.words[match[0]]
        yield Value(kind, key, match[0], match.start(), _before(text, match.start()), _unit(text, match.end()))
    if not SPACED.search(text):
        return
    previous, end = "", 0
    for match in WORDS.finditer(text):
        word, before = match[0], _before(text, match.start())
        if found := known.words.get(word):
            if word not in ONLY_AFTER_DIGITS or text[end : match.start()].strip()[-1:].isdecimal():
                kind, key, is_loose = found
                yield Value(kind, key, word, match.start(), before, _unit(text, match.end()), is_loose)
        elif previous in known.labels and (len(word) == 1 or ROMAN.fullmatch(word)):
            yield Value("part", word, f"{previous} {word}", match.start(), before, "")
        previous, end = word, match.end()


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
