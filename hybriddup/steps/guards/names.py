"""Guard `names`: refuses sentences that are equal except for one name, or except for two swapped names.

Normalized posts have no capitals. So a name is recognized by its context (a title, a preposition of place, quotation
marks), and a Chinese name by the dictionary.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Indel

from hybriddup.data.records import UInt64s, encode_texts
from hybriddup.kernels.kept_tables import load_or_make
from hybriddup.kernels.posts.guard_kinds import NAME
from hybriddup.kernels.posts.guard_kinds import PARTICLES as PARTICLE_POINTS
from hybriddup.kernels.posts.guard_runs import hash_texts
from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.reading import HAN, WORD, Difference, Run, amount, difference_of, has_frame, letters
from hybriddup.steps.guards.tables import read_table
from hybriddup.steps.posts.characters import hash_of, hashes_of

ALIKE = 0.6
"""Minimum similarity, 0.0 to 1.0, of two names that may be spellings of the same name."""
LONGEST = 4
"""Maximum number of words in a name, as counted by `amount`."""
LONGEST_BETWEEN = 8
"""Maximum number of words, as counted by `amount`, between two names that are swapped."""
QUOTES = dict(zip("'\"“”‘’«»《》「」『』【】‹›", "'\"”“’‘»«》《」「』『】【›‹", strict=True))
KANA_NAME = re.compile(r"[\u3040-\u30ff]{2,}")
"""Matches a name in kana, if a title or the like follows it."""
SHORT, FEWEST_LETTERS = 12, 3
"""In the middle of a post of at most `SHORT` words, any run of at least `FEWEST_LETTERS` letters may be a name."""


class Tables(NamedTuple):
    """The word lists of `names.yaml`."""

    before: frozenset[str]
    after: frozenset[str]
    endings: tuple[str, ...]
    common: frozenset[str]
    after_han: re.Pattern[str]
    surnames: frozenset[str]
    unordered: frozenset[str]
    places: frozenset[str]


@cache
def tables() -> Tables:
    """Load the word lists of `names.yaml`."""
    read = read_table("names")
    titles = sorted(read["after_han"].split(), key=len, reverse=True)
    return Tables(
        frozenset(read["before"].split()),
        frozenset(read["after"].split()),
        tuple(read["endings"].split()),
        frozenset(read["common"].split()),
        re.compile("|".join(titles)),
        frozenset(read["surnames"].strip()),
        frozenset(read["unordered"].split()),
        frozenset(read["places"].split()),
    )


@cache
def han_names() -> UInt64s:
    """Return uint64[n], ascending: the hash of each name in `Tables.places` and, if installed, jieba's dictionary."""
    places = hashes_of(tables().places)
    spec = find_spec("jieba")  # only the file is needed; importing the package takes longer
    if spec is None or spec.origin is None:
        return places
    words = Path(spec.origin).with_name("dict.txt")
    return load_or_make(
        "names",
        lambda: np.sort(np.append(places, _hash_names(words.read_text("utf-8")))),
        [__file__, Path(__file__).with_name("names.yaml"), words],
    )


def _hash_names(lines: str) -> UInt64s:
    """Return uint64[n]: the hash of each name of at least two characters in jieba's dictionary.

    A line of the dictionary has a word, its frequency and its tag. The tags of proper names are nr, ns, nt and nz.
    """
    dictionary, _ = encode_texts([f"{lines}\n"])
    newlines, spaces = np.flatnonzero(dictionary == ord("\n")), np.flatnonzero(dictionary == ord(" "))
    tags = spaces[dictionary[spaces + 1] == ord("n")]
    tags = tags[np.isin(dictionary[tags + 2], list(map(ord, "rstz")))]
    ends = spaces[np.searchsorted(spaces, tags) - 1]
    starts = np.append(0, newlines + 1)[np.searchsorted(newlines, ends)]
    long = ends - starts >= 2
    bounds = np.column_stack([starts[long], ends[long]]).ravel()
    return hash_texts(dictionary, bounds)[::2]  # every second text lies between two names


def is_han_name(word: str) -> bool:
    """Return whether a word is in `han_names`; a name of a single character never is."""
    key, known = np.uint64(hash_of(word)), han_names()
    place = known.searchsorted(key)
    return bool(place < len(known) and known[place] == key)


class Names(PairGuard):
    """Keeps two posts apart if one name replaces another, or if two names are swapped."""

    sign = NAME

    def reason(self, a: str, b: str) -> str | None:
        """Return the names by which two posts differ, such as ``names bath / york``; None = not refused."""
        difference = difference_of(a, b)
        if not difference.is_small or difference.adds_only:
            return None
        found = _exchanged(difference)
        if found is None and has_frame(difference):
            found = _replaced(difference)
        return None if found is None else f"names {found[0]} / {found[1]}"


def _exchanged(difference: Difference) -> tuple[str, str] | None:
    """Return the differing phrases if they swap two names ("Bath to Bristol", "Bristol to Bath"); else None."""
    runs = difference.runs
    if not runs:
        return None
    a = difference.words_a[runs[0].a[0] : runs[-1].a[1]]
    b = difference.words_b[runs[0].b[0] : runs[-1].b[1]]
    if not 3 <= len(a) == len(b) <= 16 or sorted(a) != sorted(b):
        return None
    for n in range(1, min(7, len(a) - 1)):
        if a[:n] != b[-n:]:
            continue
        for m in range(1, min(7, len(a) - n)):
            between = a[n : len(a) - m]
            if a[-m:] == b[:m] and between == b[m : len(b) - n] and _ordered(between, a[:n] + a[-m:]):
                return letters(a), letters(b)
    return None


def _ordered(between: list[str], names: list[str]) -> bool:
    """Return whether swapping two names changes the meaning.

    It does not if no words are between the names, or if one of the words ``between`` is also in the ``names``: then a
    phrase such as 哈哈哈 only has another place.
    """
    is_short = 0 < amount(between) <= LONGEST_BETWEEN
    return is_short and tables().unordered.isdisjoint(between) and set(names).isdisjoint(between)


def _replaced(difference: Difference) -> tuple[str, str] | None:
    """Return the two names if the posts differ in a single run, in which one name replaces another; else None."""
    runs = [run for run in difference.runs if any(_has_content(words) for words in difference.sides(run))]
    if len(runs) != 1 or (difference.is_head(runs[0]) and difference.is_tail(runs[0])):
        return None
    a, b = difference.sides(runs[0])
    if not a or not b or max(map(amount, (a, b))) > LONGEST:
        return None
    if any(HAN.match(word) for word in a + b):
        return _replaced_han(difference, runs[0])
    name_a, name_b = " ".join(a), " ".join(b)
    if tables().common.intersection(a + b) or _is_alike(name_a, name_b):
        return None
    return (name_a, name_b) if _is_slot(difference, runs[0]) or _is_short_slot(difference, runs[0]) else None


def _has_content(words: list[str]) -> bool:
    """Return whether at least one of the words is not a particle."""
    return any(word not in PARTICLES for word in words)


PARTICLES = frozenset(map(chr, PARTICLE_POINTS))


def _is_alike(a: str, b: str) -> bool:
    """Return whether two names may mean the same: spelled alike, or one is a part or the initials of the other."""
    if Indel.normalized_similarity(a, b) >= ALIKE or a in b or b in a or a[:4] == b[:4]:
        return True
    initials = ["".join(word[0] for word in name.split()) for name in (a, b)]
    return a.replace(" ", "") == initials[1] or b.replace(" ", "") == initials[0]


def _is_slot(difference: Difference, run: Run) -> bool:
    """Return whether quotation marks, ``@`` or the word before or after it mark a run of differing words as a name.

    A hashtag alone is no name.
    """
    sides = [(difference.a, difference.spans_a, run.a), (difference.b, difference.spans_b, run.b)]
    are_quoted = [_is_quoted(*side) for side in sides]
    are_hashtags = [text[spans[span[0]][0] - 1 : spans[span[0]][0]] == "#" for text, spans, span in sides]
    if any(are_hashtags):
        return any(are_quoted) and all(map(any, zip(are_quoted, are_hashtags, strict=True)))
    before = difference.words_a[run.a[0] - 1 : run.a[0]] if run.a[0] else []
    after = difference.words_a[run.a[1] : run.a[1] + 1]
    is_titled = not tables().before.isdisjoint(before) or not tables().after.isdisjoint(after)
    return is_titled or all(are_quoted) or _have_one_ending(*difference.sides(run))


def _have_one_ending(a: list[str], b: list[str]) -> bool:
    """Return whether the last words of two runs end in the same form of address, as in 수연언니 and 은정언니."""
    return any(a[-1].endswith(ending) and b[-1].endswith(ending) for ending in tables().endings)


def _is_short_slot(difference: Difference, run: Run) -> bool:
    """Return whether a differing run may be a name by its place and length, as X in "Just installed X on my phone".

    The run of words must have at least `FEWEST_LETTERS` letters in each post, and neither begin nor end a post. Both
    posts must have at most `SHORT` words. A ``via`` at the end is not a word: a mention or link followed it.
    """
    is_last = difference.ends_text and difference.words_a[run.a[1] :] == ["via"]
    if difference.is_head(run) or difference.is_tail(run) or is_last:
        return False
    n_letters = [sum(map(len, words)) for words in difference.sides(run)]
    whole = max(len(WORD.findall(text)) for text in (difference.whole_a, difference.whole_b))
    return whole <= SHORT and min(n_letters) >= FEWEST_LETTERS


def _is_quoted(text: str, spans: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    start, end = spans[span[0]][0], spans[span[1] - 1][1]
    opening, closing = text[start - 1 : start] if start else "", text[end : end + 1]
    is_symbol = opening == "$" and text[start].isalpha()  # of a stock: $amd
    if is_symbol or opening == "@" or text[max(0, start - 2) : start] == "@ ":
        return True
    return bool(opening) and QUOTES.get(opening) == closing


def _replaced_han(difference: Difference, run: Run) -> tuple[str, str] | None:
    """Return the two Chinese names that contain the words of a differing run, one name from each post.

    None if a post has no known name there, or if one name contains the other.
    """
    found_a = _han_name(difference.words_a, run.a)
    found_b = None if found_a is None else _han_name(difference.words_b, run.b)
    if found_a is None or found_b is None or found_a == found_b or found_a in found_b or found_b in found_a:
        return None
    return found_a, found_b


def _han_name(words: list[str], span: tuple[int, int]) -> str | None:
    """Return the shortest dictionary name that contains the words of a span; None if there is no such name.

    Words before a title also count as a name if they begin with a surname or are kana.
    """
    first, last = span
    if last - first > 6:
        return None
    for extra in range(3):
        for left in range(extra + 1):
            start, end = max(0, first - left), last + extra - left
            word = "".join(words[start:end])
            if is_han_name(word):
                return word
    name, after = "".join(words[first:last]), "".join(words[last : last + 4])
    may_be_name = (len(name) <= 3 and name[0] in tables().surnames) or KANA_NAME.fullmatch(name)
    return name if may_be_name and tables().after_han.match(after) else None
