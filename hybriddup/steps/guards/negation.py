"""Guard `negation`: refuses a pair of posts with nearly the same words if one post negates the other."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache
from typing import NamedTuple

from hybriddup.kernels.posts.guard_kinds import NEGATION
from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.reading import ALONE, HAN, Difference, Run, amount, difference_of, has_frame, spans_of
from hybriddup.steps.guards.tables import read_table

LONGEST = 2.0
"""Maximum number of differing words other than negations, counted by `amount`; with more, the posts differ anyway."""
ANSWERS = frozenset(["no", "non", "nein", "não", "нет", "hayır", "tidak", "không", "不", "没"])
FIRST_AT_END = "\u0590"
"""First code point after the Latin, Greek and Cyrillic scripts. In these scripts, only the negations in `Tables.at_end`
can end a sentence; a negation that begins with this code point or a higher one always can."""
CONTRACTED = re.compile(r"['’ʼ](?<=n['’ʼ])t(?!\S)")
QUESTION = re.compile(r"(.)[不没]\1")
"""Matches a Chinese question that repeats a character around a negation: 是不是, 有没有."""
TURKISH = re.compile(r"(?<=\w\w)m(?:[ıiuü](?=yor)|[ae](?=d[ıi])|[ae]y?(?=[ae]c[ae])|[ae](?=l[ıi]|s[ıi]n))")
"""Matches the syllable that negates a Turkish verb, which is followed by the ending of the verb."""


KANA = re.compile(r"[\u3040-\u30ff]")
QUESTION_PARTICLES = {"吗", "嗎", "么", "嘛"}
"""Particles that replace a negation at the end of a question: 在家不 / 在家吗."""


class Tables(NamedTuple):
    """The word lists of `negation.yaml`."""

    words: frozenset[str]
    portuguese: frozenset[str]
    signs: re.Pattern[str]
    """Matches any of `characters`; a text without a match has no negation in `inside`."""
    characters: str
    """Characters of the negations in `inside`: two posts may differ in any of them, as in ます and ません."""
    inside: re.Pattern[str]
    """Matches negations in scripts without spaces. Group 1 matches longer words that contain a negation but negate
    nothing."""
    idioms: re.Pattern[str]
    with_negation: frozenset[str]
    """Words that may be added together with a negation, such as "do" in "do not"."""
    at_end: frozenset[str]
    """Negations that can end a sentence in Latin, Greek and Cyrillic scripts; in other scripts, any negation can."""


@cache
def tables() -> Tables:
    """Load the word lists of `negation.yaml`."""
    read = read_table("negation")
    harmless = sorted([*read["han_words"].split(), *read["endings_in"].split()], key=len, reverse=True)
    signs = sorted([*read["han"].split(), *read["endings"].split()], key=len, reverse=True)
    characters = "".join(sorted(set("".join(signs))))
    denials = "|".join(map(re.escape, read["han_denials"].split()))
    any_of_harmless, any_of_signs = ("|".join(map(re.escape, words)) for words in (harmless, signs))
    firsts = re.escape("".join({word[0] for word in harmless + signs}))  # elsewhere, no alternative need be tried
    inside = re.compile(f"(?=[{firsts}])(?:(?!{denials})({any_of_harmless})|{any_of_signs})")
    idioms = re.compile("|".join(rf"\b{re.escape(idiom.strip())}\b" for idiom in read["idioms"].split("|")))
    return Tables(
        frozenset(read["words"].split()),
        frozenset(read["portuguese"].split()),
        re.compile(f"[{characters}]"),
        characters,
        inside,
        idioms,
        frozenset(read["with"].split()),
        frozenset(read["at_end"].split()),
    )


class Side(NamedTuple):
    """The words of one post around its differences, and which of them are negations."""

    words: list[str]
    denying: set[int]
    """Indices of the words that belong to negations."""

    def of(self, span: tuple[int, int]) -> tuple[list[str], list[str]]:
        """Split the words ``span[0]`` to ``span[1] - 1`` into negations and other words."""
        places = range(*span)
        return (
            [self.words[place] for place in places if place in self.denying],
            [self.words[place] for place in places if place not in self.denying],
        )


def negations(words: list[str], text: str) -> Side:
    """Find the negations in a text; ``words`` are the words of ``text``."""
    known = tables()
    denying: set[int] = set()
    is_latin = not known.words.isdisjoint(words) or CONTRACTED.search(" ".join(words))
    is_inside = known.signs.search(text)
    spans = spans_of(text) if is_latin or is_inside else []
    if is_latin:
        skipped = [match.span() for match in known.idioms.finditer(text)]
        is_portuguese = len(known.portuguese & set(words)) > 1
        denying = {
            place
            for place, (word, (start, _)) in enumerate(zip(words, spans, strict=True))
            if (word in known.words or CONTRACTED.search(word))
            and not (word == "no" and (is_portuguese or place == len(words) - 1 or text[start + 2] in ".,!"))
            and not any(first <= start < last for first, last in skipped)
        }
    if is_inside:
        without_questions = QUESTION.sub(lambda match: match[1] * 3, text)
        for match in known.inside.finditer(without_questions):
            if match[1] is None:
                denying.update(_words_at(spans, *match.span()))
    return Side(words, denying)


def _words_at(spans: list[tuple[int, int]], first: int, last: int) -> range:
    """Return the indices of the words that overlap characters ``first`` to ``last - 1``."""
    place = bisect_right(spans, (first, 1 << 60)) - 1
    start = place if place >= 0 and spans[place][1] > first else place + 1
    return range(start, bisect_left(spans, (last,)))


class Negation(PairGuard):
    """Keeps two posts apart if one negates the other."""

    sign = NEGATION

    def reason(self, a: str, b: str) -> str | None:
        """Return the negations by which one post negates the other; None if there are none."""
        difference = difference_of(a, b)
        if not (difference.is_small and has_frame(difference)):
            return None
        of_a = negations(difference.words_a, difference.a)
        of_b = negations(difference.words_b, difference.b)
        found: tuple[list[str], list[str]] = ([], [])
        other = 0.0
        for run in (_shifted(run, of_a, of_b) for run in difference.runs):
            if _is_change(difference, run, of_a.of(run.a), of_b.of(run.b)):
                found[0].append("".join(of_a.of(run.a)[0]))
                found[1].append("".join(of_b.of(run.b)[0]))
            elif affix := _denied(difference, run):
                found[affix[0]].append(affix[1])
            elif all(difference.sides(run)) or not difference.is_tail(run):  # an added end changes no negation
                other += max(map(amount, difference.sides(run)))
        found = list(filter(None, found[0])), list(filter(None, found[1]))
        if len(found[0]) == len(found[1]) or other > LONGEST:
            return None
        return f"negation {' '.join(found[0]) or 'none'} / {' '.join(found[1]) or 'none'}"


def _shifted(run: Run, a: Side, b: Side) -> Run:
    """Return a run in which one post adds words, shifted to the left so that it has the most negations.

    A shift is possible if the run ends with the word before it. In scripts without spaces, a word is a character: ไม่ได้
    adds ไม่ to ได้, but without the shift, the run would be ม่ไ.
    """
    added, side = (b, 1) if run.a[0] == run.a[1] else (a, 0)
    first, last = run[side]
    if run[1 - side][0] < run[1 - side][1]:
        return run
    shifts = [0]
    while first > shifts[-1] and added.words[first - shifts[-1] - 1] == added.words[last - shifts[-1] - 1]:
        shifts.append(shifts[-1] + 1)
    shift = max(shifts, key=lambda n: len(added.denying.intersection(range(first - n, last - n))))
    return Run(*((begin - shift, end - shift) for begin, end in run))


Words = tuple[list[str], list[str]]
"""The negations and the other words of one post, within a run of differing words."""


def _is_change(difference: Difference, run: Run, a: Words, b: Words) -> bool:
    """Return whether a run of differing words adds or removes a negation, and changes few other words.

    ``a`` and ``b``: the words of the run in the first and in the second post.
    """
    if bool(a[0]) == bool(b[0]) or QUESTION_PARTICLES.intersection(a[1] + b[1]) or _repeats(difference, run):
        return False
    others, denying = a[1] + b[1], (a[0] or b[0])[0]
    if difference.is_tail(run) and denying[0] < FIRST_AT_END and denying not in tables().at_end:
        return False
    if not all(difference.sides(run)):
        return tables().with_negation.issuperset(others) and not _is_answer(difference, run, a[0] or b[0])
    if any(map(_is_han, others)):
        return len(a[1]) <= 1 and len(b[1]) <= 1
    most = 2.0 if others and all(KANA.match(word) for word in others) else 1.0
    return max(map(amount, (a[1], b[1]))) <= most


def _is_answer(difference: Difference, run: Run, denying: list[str]) -> bool:
    """Return whether a negation at the start of a post only answers a question: "no, I like it", not "no thanks"."""
    if not difference.is_head(run) or (len(denying) == 1 and denying[0] not in ANSWERS):
        return False
    text, spans, (_, end) = (
        (difference.a, difference.spans_a, run.a) if run.a[0] < run.a[1] else (difference.b, difference.spans_b, run.b)
    )
    return end == len(spans) or not text[spans[end - 1][1] : spans[end][0]].isspace()


def _repeats(difference: Difference, run: Run) -> bool:
    """Return whether a run of differing words begins with the word after the run, as in 不不错.

    A character of other scripts without spaces is no word; there, the whole run must be repeated.
    """
    for words, (first, last) in ((difference.words_a, run.a), (difference.words_b, run.b)):
        is_word = first < last and (not ALONE.match(words[first]) or _is_han(words[first]))
        n = 1 if is_word else last - first
        if first < last and words[last : last + n] == words[first : first + n]:
            return True
    return False


def _is_han(word: str) -> bool:
    """Return whether a word begins with a Han character; kana are not."""
    return bool(HAN.match(word) and not KANA.match(word))


def _denied(difference: Difference, run: Run) -> tuple[int, str] | None:
    """Return (post, word) if a differing run is one word in each post and ``word`` negates the other: "unhappy".

    Only prefixes and Turkish verb forms count. ``post`` is 0 if ``word`` is in the first post, 1 if in the second.
    None if neither word negates the other.
    """
    a, b = difference.sides(run)
    if len(a) != 1 or len(b) != 1:
        return None
    for side, (one, other) in enumerate(((a[0], b[0]), (b[0], a[0]))):
        if _is_denied(one, other):
            return side, one
    return None


PREFIXES = re.compile(r"(?:un|in|im|ir|il|dis|non|не|без|в?не)-?")
PERSIAN = "ن"
"""Prefix that negates a Persian verb."""


def _is_denied(one: str, other: str) -> bool:
    prefix = one[: -len(other)] if one.endswith(other) else ""
    if (len(other) > 3 and PREFIXES.fullmatch(prefix)) or (len(other) > 2 and prefix == PERSIAN):
        return True
    match = TURKISH.search(one)
    if match is None:
        return False
    stem, end = one[: match.start()], one[match.end() :]
    return re.fullmatch(rf"{re.escape(stem)}(?:y?[aeıiuü])?{re.escape(end)}", other) is not None
