"""The word lists of the guards. Guards read normalized posts, so that the lists need normalized words."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from hybriddup.config.load import open_session
from hybriddup.run.components import Components
from hybriddup.steps.guards.tables import read_table
from hybriddup.steps.guards.values import KINDS

LISTS = {
    "numbers": ("values", "loose", "weekdays", "months", "days", "halves", "labels", "counted"),
    "negation": ("words", "portuguese", "at_end", "with", "endings"),
    "opposites": ("pairs",),
    "names": ("before", "after", "endings", "common"),
}


def words_in(section: Any) -> Iterator[str]:
    """The words of a list, or of lists within it."""
    if isinstance(section, str):
        yield from (word for word in section.split() if word != "|")
        return
    for part in section.values() if isinstance(section, dict) else section:
        yield from words_in(part)


@pytest.mark.parametrize("name", LISTS)
def test_each_word_is_listed_as_posts_have_it(name: str) -> None:
    """As `microblog` leaves it by default: ``sali`` for ``salı``, without accents in Greek."""
    settings, manager = open_session("posts")
    normalizer = Components.create(settings, manager.registry, workers=1).normalizer
    table = read_table(name)
    for section in LISTS[name]:
        words = list(words_in(table[section]))
        normalized = normalizer.normalize_batch(words)
        assert len(words) > 1
        assert [(word, folded) for word, folded in zip(words, normalized, strict=True) if folded not in words] == []


def test_a_word_has_one_meaning_among_the_numbers() -> None:
    """Whatever the section: the last one would silently replace the others."""
    table, meanings = read_table("numbers"), defaultdict(set)
    for section in KINDS:
        for key, words in table[section].items():
            for word in words.split():
                meanings[word].add((section, key))
    assert len(meanings) > 1000
    assert {word: found for word, found in meanings.items() if len(found) > 1} == {}


def test_no_word_is_its_own_opposite() -> None:
    pairs = read_table("opposites")["pairs"]
    assert len(pairs) > 200
    for pair in pairs:
        sides = [set(side.split()) for side in pair.split("|")]
        assert sum(map(len, sides)) == len(set.union(*sides)), pair
