"""Guard `numbers`: refuses posts with different numbers, dates or days in the same role."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from functools import lru_cache

from pydantic import Field

from hybriddup.kernels.posts.guard_kinds import NUMBER
from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.reading import HAN, Difference, Run, amount, difference_of
from hybriddup.steps.guards.values import DAYS, LONG_FOR_BARE, WORDS, Value, tables, undecorated, values_of
from hybriddup.steps.options import Options as ComponentOptions

LONGEST_PLACE = 6
"""Maximum number of words, as counted by `amount`, in a run of words in which one number may replace another."""


class Numbers(PairGuard):
    """Keeps two posts apart that have different numbers, however these are written: 2 is two, and 6,000 is 6000."""

    class Options(ComponentOptions):
        """Options of the guard."""

        strict: bool = Field(
            False,
            description="true: a number that only one of two posts has keeps them apart. false: each post must have a "
            "number that the other lacks.",
        )

    def __init__(self, options: Options) -> None:
        self.strict = options.strict
        self.sign = None if options.strict else NUMBER

    def reason(self, a: str, b: str) -> str | None:
        """Return the numbers that differ, such as ``numbers 2 / 9``; None if the posts are not refused."""
        difference = difference_of(a, b)
        if self.strict:
            return _strict_reason(difference)
        return None if difference.adds_only else _reason(difference)


def _strict_reason(difference: Difference) -> str | None:
    """Return the numbers in digits that only one of the two posts has; if there are none, the result of `_reason`."""
    a, b = (
        [value for value in values_of(text) if value.kind == "number" and value.shown[0].isdecimal()]
        for text in (difference.a, difference.b)
    )
    only_a, only_b = _only(a, b), _only(b, a)
    return _spell(only_a, only_b) if only_a or only_b else _reason(difference)


def _reason(difference: Difference) -> str | None:
    text_a, text_b = _texts(difference)
    a, b = (list(values_of(text, in_large_difference=not difference.is_small)) for text in (text_a, text_b))
    for kind in dict.fromkeys(value.kind for value in a + b):
        of_a, of_b = ([value for value in values if value.kind == kind] for values in (a, b))
        only_a, only_b = _only(of_a, of_b), _only(of_b, of_a)
        if kind in DAYS:
            differ = (
                _name_other_days(of_a, of_b, text_a, text_b)
                if of_a and of_b
                else _names_day_for_words(of_a, 0, b, difference, text_a)
                or _names_day_for_words(of_b, 1, a, difference, text_b)
            )
            if differ:
                return _spell(only_a, only_b)
            if only_a and only_b:  # "Saturday to Sunday" and "Friday to Saturday"
                only_a, only_b = of_a, of_b
        conflicts = [
            (one, other)
            for one in only_a
            for other in only_b
            if one.key != other.key and _exclude(difference, one, other, text_a, text_b)
        ]
        if conflicts:
            shown_a, shown_b = ([pair[side] for pair in conflicts] for side in (0, 1))
            return _spell(shown_a, shown_b)
    return None


def _name_other_days(a: list[Value], b: list[Value], text_a: str, text_b: str) -> bool:
    """Return whether both texts name weekdays but have none in common; or the same for months.

    ``a`` and ``b`` are the weekdays in the first and in the second text, or the months. Their places in the texts do
    not matter: "have a nice Friday", "nice day, and an even better Sunday". Days in a script without spaces, or within
    a longer word of a hashtag, are left to `_exclude`.
    """
    days_a, days_b = (
        {value.key for value in values if _is_day(value, text)} for values, text in ((a, text_a), (b, text_b))
    )
    return bool(
        days_a
        and days_b
        and days_a.isdisjoint(value.key for value in b)
        and days_b.isdisjoint(value.key for value in a)
    )


def _names_day_for_words(days: list[Value], side: int, others: list[Value], difference: Difference, text: str) -> bool:
    """Return whether a post names a day where the other post has other words: "nice Friday", "nice day".

    Days in hashtags do not count. ``side``: 0 if the days are in the first post, whose differing part is ``text``; 1 if
    they are in the second. ``others``: the values of the other post.
    """
    other_words = set(WORDS.findall((difference.whole_b, difference.whole_a)[side]))
    return any(
        _is_day(day, text)
        and text[day.start - 1 : day.start] != "#"
        and day.shown not in other_words
        and _replaces_words(day, side, others, difference)
        for day in days
    )


def _replaces_words(day: Value, side: int, others: list[Value], difference: Difference) -> bool:
    """Return whether the other post has, in the place of a day, words that cannot mean the same day.

    A number or date can mean the same day, and so can a word with the same first letters, such as Fri.
    """
    spans, other_spans = (difference.spans_a, difference.spans_b)[:: 1 - 2 * side]
    for run in _places(difference):
        span, other_span = run[:: 1 - 2 * side]
        words = difference.sides(run)[1 - side]
        if not words or not _overlaps(day, spans, span) or (difference.is_tail(run) and _is_cut_off(difference)):
            continue
        has_value = any(_overlaps(value, other_spans, other_span) for value in others)
        if not has_value and all(word[:3] != day.shown[:3] for word in words):
            return True
    return False


def _is_cut_off(difference: Difference) -> bool:
    """Return whether one of the posts ends in dots."""
    return any(text.rstrip().endswith(("…", "...")) for text in (difference.whole_a, difference.whole_b))


def _overlaps(value: Value, spans: list[tuple[int, int]], run: tuple[int, int]) -> bool:
    """Return whether a value overlaps a run of words, given by the indices of its first word and of the word after."""
    first, last = _words_of(value, spans)
    return run[0] <= last and first < run[1]


def _is_day(value: Value, text: str) -> bool:
    around = text[max(0, value.start - 1) : value.start] + text[value.end : value.end + 1]
    return value.shown in tables().days and not any(map(str.isalpha, around))


def _exclude(difference: Difference, a: Value, b: Value, text_a: str, text_b: str) -> bool:
    """Return whether a value of one post replaces a value of the other, so that the two posts contradict each other."""
    if a.tag or b.tag:
        return a.tag == b.tag
    unit = a.unit(text_a)
    has_unit = unit == b.unit(text_b)
    if (a.is_loose or b.is_loose) and not has_unit:
        return False
    if not difference.is_small and not (a.shown[0].isdecimal() and b.shown[0].isdecimal()):
        return False
    before = a.before(text_a)
    if has_unit and unit and before and before == b.before(text_b):
        return True
    if _is_cut(text_a, a, text_b, b) or _is_cut(text_b, b, text_a, a):
        return False
    places = _places(difference)
    if not places:  # the usual case of long texts, whose spans take longest
        return False
    return any(_overlaps(a, difference.spans_a, run.a) and _overlaps(b, difference.spans_b, run.b) for run in places)


@lru_cache(maxsize=1)
def _places(difference: Difference) -> list[Run]:
    """Return the runs of differing words in which one number may replace another; cached for posts with many values."""
    return [run for run in difference.runs if _is_place(difference, run)]


def _is_place(difference: Difference, run: Run) -> bool:
    """Return whether a run of differing words is short enough for one number in it to replace another."""
    if max(run.a[1] - run.a[0], run.b[1] - run.b[0]) > 2 * LONGEST_PLACE:
        return False
    return max(map(amount, difference.sides(run))) <= LONGEST_PLACE


def _is_cut(text: str, value: Value, other_text: str, other: Value) -> bool:
    """Return whether ``text`` may be cut off in its last number, so that only the beginning of ``other`` is left."""
    return other.shown.startswith(value.shown) and value.end == _end(text) and other.end < _end(other_text)


def _end(text: str) -> int:
    """Return the index after the last letter or digit of a text."""
    return next((place for place in range(len(text), 0, -1) if text[place - 1].isalnum()), 0)


def _words_of(value: Value, spans: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the indices of the first and last word that a value overlaps."""
    return _word_at(spans, value.start), _word_at(spans, value.end - 1)


def _word_at(spans: list[tuple[int, int]], start: int) -> int:
    """Return the index of the last word that begins at or before character ``start``."""
    return bisect_right(spans, (start, 1 << 60)) - 1


def _texts(difference: Difference) -> list[str]:
    """Return the differing part of each post, without a serial number or random code at the end of the post."""
    texts = [difference.a, difference.b]
    if difference.ends_text:
        length = min(map(width, (difference.whole_a, difference.whole_b)))
        texts = [undecorated(text, length) for text in texts]
    return texts


def width(text: str) -> int:
    """Return the length of a text; below `LONG_FOR_BARE` characters, each Han character or kana counts twice."""
    return len(text) if len(text) >= LONG_FOR_BARE else len(text) + len(HAN.findall(text))


def _only(values: list[Value], others: list[Value]) -> list[Value]:
    """Return the items of ``values`` whose normalized value occurs more often in ``values`` than in ``others``."""
    more = Counter(value.key for value in values) - Counter(value.key for value in others)
    return [value for value in values if value.key in more]


def _spell(a: list[Value], b: list[Value]) -> str:
    shown_a, shown_b = (", ".join(dict.fromkeys(value.shown for value in some)) or "none" for some in (a, b))
    return f"numbers {shown_a} / {shown_b}"
