"""Finds the numbers, dates and days of a text, in digits or in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from hybriddup.steps.guards.han_numerals import HAN_NUMERAL, LARGE, TIMES, han_values
from hybriddup.steps.guards.reading import HAN, LETTER, SPACED
from hybriddup.steps.guards.tables import read_table

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
WORDS = re.compile(rf"{LETTER}+(?:-feira|['’]hui)?")
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0eff\u3040-\u9fff]|[\uac00-\ud7af]{2}")
"""Matches in a word that is also looked for inside longer words: it is in a script without spaces, or it has several
Korean syllables, after which particles may follow."""
CODE_ENDS = re.compile(r"[a-z](?![^\W_])")
"""Matches the letter of a code such as ``1c``, after its number."""
LETTERED = re.compile("[a-z][口座栋棟楼区馆館班组組线線席]")
"""Matches a part of something that has a letter as its name: exit B, written B口."""
HASHTAG = re.compile(r"#(\w*)")
MARKED_COUNTER = re.compile(r"(?:(?<=\s)[#x×*/]\s?\d{1,9}|(?<!\w)#\s?\d{1,9}|[\[(][a-z]?\d{1,9}[\])])$")
AFTER_SENTENCE = re.compile(r"(?<=[!?.。！？]\s)\d{1,9}$")
BARE_COUNTER = re.compile(r"(?<=[\s#])\d{1,9}['’]?$")
RANDOM_TAIL = re.compile(r"(?<=\s)(?:[\[(][a-z]+\d+[a-z\d]*[\])]|[a-z]+\d+[a-z][a-z\d]*|\d+[a-z]+\d[a-z\d]*)$")
LONGEST_TAIL = 64
LONG_FOR_MARKED, LONG_FOR_BARE = 40, 80
"""Minimum lengths of a text in which a number at the end, marked (``#8``) or bare (``8``), is a serial number. Han
characters count twice. In a shorter text, such as a title, the number is content."""
LIST_NUMBER = re.compile(r"\d(?<![^\s。;；!?！？:：]\d)\d?[.)、](?=\s?[^\W\d])")
REPEATED = re.compile(r"(\d)\1{2,}")
THOUSANDS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
DECIMAL = re.compile(r"(\d+)[.,](\d+)")
ROMAN = re.compile(r"(?=[ivxl])(?:x[cl]|l?x{0,3})(?:i[xv]|v?i{0,3})")
FACTORS = LARGE | {unit: factor for unit, factor in TIMES.items() if factor > 10}
ONLY_AFTER_DIGITS = {"am", "pm"}


class Value(NamedTuple):
    """A number, date or day in a text."""

    kind: str
    key: str
    """Normalized value: ``6000`` for both ``6.000`` and ``6000``."""
    shown: str
    """The value as written."""
    start: int
    """Index in the text of the first character of the value."""
    end: int
    is_loose: bool = False
    """Whether the value may be unimportant, or no number at all. Such a value is compared only with values of the same
    unit."""
    tag: str = ""
    """For a number inside a hashtag: the hashtag with 0 in place of the number."""

    def before(self, text: str) -> str:
        """Return up to two characters before the value, ignoring spaces."""
        return text[max(0, self.start - 4) : self.start].replace(" ", "")[-2:]

    def unit(self, text: str) -> str:
        """Return the beginning of the next word, often the thing counted: one Han character or up to three letters."""
        following = text[self.end : self.end + 4].strip(" .)")
        return following[:1] if HAN.match(following) else following[:3]


class Tables(NamedTuple):
    """The word lists of `numbers.yaml`."""

    words: dict[str, tuple[str, str, bool]]
    """Maps each word to the `kind`, `key` and `is_loose` of its `Value`."""
    labels: frozenset[str]
    """Words after which a Roman numeral or a single letter counts as a number, such as "part" in "Part II"."""
    counted: frozenset[str]
    latin: frozenset[str]
    """All `labels`, and the keys of `words` in scripts with spaces."""
    days: frozenset[str]
    """Names of weekdays and months in scripts with spaces."""
    signs: re.Pattern[str]
    """Matches any of `characters`; a text without a match has no word in a script without spaces."""
    characters: str
    """Distinct characters of the words in scripts without spaces."""
    in_tags: re.Pattern[str]
    """Matches the name of a day or month inside a hashtag, where words are not separated."""
    without_spaces: re.Pattern[str]
    """Matches a word of the tables that is in a script without spaces between words."""


TENS, ONES = frozenset(map(str, range(20, 100, 10))), frozenset(map(str, range(1, 10)))
KINDS = {
    "values": "number",
    "loose": "number",
    "weekdays": "weekday",
    "months": "month",
    "days": "day",
    "halves": "half",
}
DAYS = {"weekday", "month"}


@cache
def tables() -> Tables:
    """Load the word lists of `numbers.yaml`."""
    read = read_table("numbers")
    words = {
        word: (kind, str(key), section == "loose")
        for section, kind in KINDS.items()
        for key, named in read[section].items()
        for word in named.split()
    }
    alone = [word for word in words if WITHOUT_SPACES.search(word)]
    long_names = [word for word, (kind, _, _) in words.items() if kind in ("weekday", "month") and len(word) > 4]
    labels, counted = (frozenset(read[name].split()) for name in ("labels", "counted"))
    characters = "".join(sorted({character for word in alone for character in word}))
    signs = re.compile(f"[{characters}]")
    latin = labels.union(words).difference(alone)
    days = frozenset(word for word in latin.difference(labels) if words[word][0] in DAYS)
    return Tables(words, labels, counted, latin, days, signs, characters, _any_of(long_names), _any_of(alone))


def _any_of(words: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))))


def canonical(number: str) -> list[str]:
    """Normalize a run of digits with points or commas to one or more values.

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
    """Replace the matches of a pattern by spaces, so that the indices of all other characters stay the same."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def values_of(text: str, *, in_large_difference: bool = False) -> Iterator[Value]:
    """Yield the numbers, dates and days of a text.

    With ``in_large_difference``, Han numerals are skipped, and so are words, except the names in `Tables.days`.

    The caller must remove links and mentions from the text, because digits in them would count.
    """
    plain = text
    if "#" in text:
        for match in HASHTAG.finditer(text):
            yield from _values_of_tag(match[1], match.start(1))
        plain = blanked(HASHTAG, text)
    if len(LIST_NUMBER.findall(plain)) > 1:
        plain = blanked(LIST_NUMBER, plain)
    yield from _digits(plain)
    if in_large_difference:
        if not tables().days.isdisjoint(WORDS.findall(plain)):
            yield from (value for value in _words(plain) if value.shown in tables().days)
        return
    if HAN_NUMERAL.search(plain):
        for start, value, numeral, is_loose in han_values(plain):
            yield Value("number", str(value), numeral, start, start + len(numeral), is_loose)
    yield from _words(plain)


def _digits(text: str) -> Iterator[Value]:
    for match in DIGITS.finditer(text):
        number, start, end = match[0], match.start(), match.end()
        after, keys = text[end : end + 1], [number] if number[0] != "0" and number.isascii() else []
        if not number.isdecimal() or not keys or number[:3] == number[0] * 3:
            keys = canonical(number)
        if after in FACTORS and len(keys) == 1:
            keys, number, end = [_times(keys[0], FACTORS[after])], number + after, end + 1
        is_in_word = start > 0 and text[start - 1].isascii() and text[start - 1].isalpha()
        for key in keys:
            yield Value("number", key, number, start, end, is_in_word)
        if CODE_ENDS.match(text, end):
            code = number + text[end]
            yield Value("code", code, code, start, end + 1, is_in_word)


def _times(key: str, factor: int) -> str:
    product = round(float(key) * factor, 6)
    return str(int(product)) if product == int(product) else str(product)


def _values_of_tag(tag: str, start: int) -> Iterator[Value]:
    if tag.isdecimal():
        yield Value("number", str(int(tag)), tag, start, start + len(tag))
        return
    for match in DIGITS.finditer(tag):
        rest = f"{tag[: match.start()]}0{tag[match.end() :]}"
        yield Value("number", canonical(match[0])[0], match[0], start + match.start(), start + match.end(), tag=rest)
    for match in tables().in_tags.finditer(tag) if SPACED.search(tag) else ():
        kind, key, _ = tables().words[match[0]]
        yield Value(kind, key, match[0], start + match.start(), start + match.end())


def _words(text: str) -> Iterator[Value]:
    known = tables()
    for match in known.without_spaces.finditer(text) if known.signs.search(text) else ():
        kind, key, _ = known.words[match[0]]
        yield Value(kind, key, match[0], match.start(), match.end())
    if not SPACED.search(text):
        return
    previous, end, tens = "", 0, None
    for match in WORDS.finditer(text):
        word, value = match[0], None
        if found := known.words.get(word):
            if word not in ONLY_AFTER_DIGITS or text[end : match.start()].strip()[-1:].isdecimal():
                kind, key, is_loose = found
                value = Value(kind, key, word, match.start(), match.end(), is_loose)
        elif LETTERED.match(text, match.start()):
            value = Value("part", word, word + text[match.end()], match.start(), match.end())
        elif previous in known.labels and (len(word) == 1 or ROMAN.fullmatch(word)):
            value = Value("part", word, f"{previous} {word}", match.start(), match.end())
        elif ROMAN.fullmatch(word) and text[match.start() - 1 : match.end() + 1] == f"({word})":
            value = Value("part", word, word, match.start(), match.end())
        if tens is not None:
            if value is not None and value.key in ONES and match.start() == tens.end + 1:
                value, tens = _added(tens, value), None
            else:
                yield tens
        tens = value if value is not None and value.key in TENS else None
        if value is not None and tens is None:
            yield value
        previous, end = word, match.end()
    if tens is not None:
        yield tens


def _added(tens: Value, ones: Value) -> Value:
    """Combine two number words, such as forty and five, into one value."""
    key, shown = str(int(tens.key) + int(ones.key)), f"{tens.shown} {ones.shown}"
    return tens._replace(key=key, shown=shown, end=ones.end)


def undecorated(text: str, length: int) -> str:
    """Remove a serial number or random code, such as ``#8``, ``[2036345]`` or ``8fj2``, from the end of a post.

    ``length``: length of the shorter post of the pair, from `numbers.width`; in a short post, a number at
    the end is content more often.
    """
    tail = text[-LONGEST_TAIL:]
    bare = RANDOM_TAIL.sub("", tail.rstrip(" …."))
    patterns = [MARKED_COUNTER, AFTER_SENTENCE] * (length >= LONG_FOR_MARKED) + [BARE_COUNTER] * (
        length >= LONG_FOR_BARE
    )
    counter = next(filter(None, (pattern.search(bare) for pattern in patterns)), None)
    if counter is not None:
        before = bare[: counter.start()]
        bare = bare if before.rstrip(" #:-").rpartition(" ")[2] in tables().counted else before
    return text[: len(text) - len(tail)] + bare
