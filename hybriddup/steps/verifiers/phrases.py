"""Describes in words which features raise and lower the score of the verifier `post`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import Float64s

MOST_CONTRIBUTIONS = 4
"""Maximum number of features in an explanation, the strongest ones; weaker features rarely change a decision."""
MOST_DIFFERENCES = 6
"""Maximum number of differences between two texts that an explanation lists; it counts the rest, see `first_of`."""
SHARES = {
    "letters_shared": "of all letters in common",
    "letters_contained": "of the letters of the shorter post in common",
}
"""Phrases for features that are shares, 0 to 1."""
AMOUNTS = {
    "shared": "in common in the same order",
    "largest_replaced": "replaced in one place",
    "moved": "moved to another place",
    "added_before": "added at the beginning",
    "added_after": "added at the end",
    "comment": "of comment next to a quote",
    "length": "in the shorter post",
    "adding": "only in the longer post",
}
"""Phrases for features that are weights of words."""
FACTS = {
    "numbers_differ": ("no number is replaced", "each post has a number that the other lacks"),
    "hashtags_differ": ("no hashtag is replaced", "each post has a hashtag that the other lacks"),
    "hashtags_of_one": ("no hashtag is added", "one post has an extra hashtag"),
    "sources_differ": ("no source is replaced", "each post has a source that the other lacks"),
    "source_of_one": ("no source is added", "one post has an extra source"),
    "emoji_differ": ("no emoji is replaced", "each post has an emoji that the other lacks"),
    "names_differ": ("no mention or link is replaced", "each post has a mention or link that the other lacks"),
    "goes_on": ("neither post is cut off", "one post is cut off, and begins the other or has it as its heading"),
}
"""Phrases for features that are 0 or 1: the phrase for 0, then the phrase for 1."""
A_WORD, A_FEW_WORDS = 2.5, 12.0
"""Largest weight described as "a word", and largest weight described as "a few words"; a Han character weighs 1, a word
up to 2."""


def describe_feature(name: str, value: float) -> str:
    """Describe the value of a feature in words; a share is rounded down to a percentage.

    Examples
    --------
    >>> describe_feature("letters_shared", 0.928)
    '92 % of all letters in common'
    >>> describe_feature("moved", 0.0)
    'nothing moved to another place'
    """
    if name in SHARES:
        return f"{int(100 * value + 1e-9)} % {SHARES[name]}"
    if name in FACTS:
        return FACTS[name][value > 0]
    return f"{amount(float(np.expm1(value)))} {AMOUNTS[name]}"


def amount(weight: float) -> str:
    """Describe a weight as an approximate number of words."""
    if weight <= 0:
        return "nothing"
    return "a word" if weight <= A_WORD else "a few words" if weight <= A_FEW_WORDS else "many words"


def describe_contributions(names: Sequence[str], values: Float64s, added: Float64s) -> list[str]:
    """Return up to two lines: features that raise a score and features that lower it, each with the strongest first.

    Parameters
    ----------
    names
        Names of the features.
    values, added
        float64[n_features]: the value of each feature, and its contribution to the sum before the logistic function.
    """
    strongest = np.argsort(-np.abs(added), kind="stable")[:MOST_CONTRIBUTIONS].tolist()
    lines: dict[str, list[str]] = {}
    for column in strongest:
        if abs(added[column]) >= 0.005:
            direction = "raises the score" if added[column] > 0 else "lowers the score"
            phrase = f"{describe_feature(names[column], float(values[column]))} ({added[column]:+.2f})"
            lines.setdefault(direction, []).append(phrase)
    return [f"{direction}: {', '.join(phrases)}" for direction, phrases in lines.items()]


def first_of(differences: list[str]) -> list[str]:
    """Return the first `MOST_DIFFERENCES` items and a line with the number of the other items.

    A single further item is returned itself, instead of this line.
    """
    more = len(differences) - MOST_DIFFERENCES
    return differences if more <= 1 else [*differences[:MOST_DIFFERENCES], f"and {more} more differences"]
