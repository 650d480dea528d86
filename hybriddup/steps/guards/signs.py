"""Loads the tables of characters and words that guards look for, and finds the pairs that a guard must check."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from unicodedata import unidata_version

import numpy as np

from hybriddup.data.records import Int64s, UInt8s, characters_between, encode_texts
from hybriddup.kernels.kept_tables import load_or_make
from hybriddup.kernels.posts.guard_kinds import ALONE, DAY, DIGIT, LETTER, NEGATION, NUMBER, NUMERAL, OPPOSITE, Signs
from hybriddup.kernels.posts.guard_runs import hash_texts
from hybriddup.kernels.posts.guard_signs import find_signs
from hybriddup.steps.guards import han_numerals, names, negation, opposites, values
from hybriddup.steps.guards import reading as read
from hybriddup.steps.posts.characters import hash_of, hashes_of
from hybriddup.steps.verifiers.bounds import texts_at

N_CODE_POINTS = 0x110000
FIRST_HAN, LAST_HAN = 0x3400, 0x9FFF
LAST_LETTER = 0x32000
"""End of the code points that regular expressions classify, exclusive; from here to 0x3FFFF, all count as Han."""


def signs_of_pairs(posts: Sequence[str], earlier: Int64s, later: Int64s) -> UInt8s:
    """Return uint8[n_pairs]: for each pair of posts, the flags of the guards that must check the pair."""
    places, numbers = np.unique(np.concatenate([earlier, later]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    points, offsets = encode_texts(texts_at(posts, places))
    has_han = bool(((points >= FIRST_HAN) & (points <= LAST_HAN)).any())
    signs = load_signs_and_names() if has_han else load_signs()
    found: UInt8s = find_signs(points, offsets, numbers[: len(earlier)], numbers[len(earlier) :], signs)
    return found


@cache
def load_signs() -> Signs:
    """Return the tables of characters and words that guards look for, without Chinese names (an empty table)."""
    kinds = load_or_make("letters", _kinds_of_letters, [__file__, read.__file__], unidata_version)
    _mark(kinds, NUMERAL, han_numerals.NUMERAL)
    numbers, denials, opposed = values.tables(), negation.tables(), opposites.opposites()
    _mark(kinds, NUMBER, numbers.characters)
    _mark(kinds, NEGATION, denials.characters)
    words: dict[str, int] = {}
    of_tables = (
        (NUMBER, numbers.latin),
        (NUMBER | DIGIT | DAY, numbers.days),
        (NEGATION, denials.words),
        (OPPOSITE, opposed),
    )
    for kind, named in of_tables:
        if kind != OPPOSITE:
            _mark(kinds, kind, "".join(word for word in named if read.ALONE.match(word)))
        for word in named:
            words[word] = words.get(word, 0) | int(kind)
    # an opposite is a whole run of differing characters, or the stem of a Korean word: its first character is enough
    _mark(kinds, OPPOSITE, {word[0] for word in opposed if read.ALONE.match(word) or opposites.HANGUL.match(word)})
    hashes = np.array(list(map(hash_of, words)), np.uint64)
    order, of_words = np.argsort(hashes), np.array(list(words.values()), np.uint8)
    with_negation = hashes_of(denials.with_negation)
    return Signs(kinds, hashes[order], of_words[order], with_negation, np.zeros(0, np.uint64))


def _kinds_of_letters() -> UInt8s:
    """Return uint8[`N_CODE_POINTS`]: for each code point the flag `LETTER`, `ALONE` or `DIGIT`, or 0."""
    kinds = np.zeros(N_CODE_POINTS, np.uint8)
    characters = characters_between(0, LAST_LETTER)
    for pattern, kind in ((read.LETTER, LETTER), (f"[{read.NO_SPACES}]", ALONE), (r"\d", DIGIT)):
        for run in re.finditer(f"(?:{pattern})++", characters):
            kinds[run.start() : run.end()] = kind
    kinds[LAST_LETTER:0x40000] = ALONE
    return kinds


@cache
def load_signs_and_names() -> Signs:
    """Return the tables of characters, words and Chinese names; slower than `load_signs`."""
    surnames = hash_texts(*encode_texts(list(names.tables().surnames)))
    return load_signs()._replace(names=np.sort(np.append(names.han_names(), surnames)))


def _mark(kinds: UInt8s, kind: np.uint8, characters: Iterable[str]) -> None:
    for character in characters:
        kinds[ord(character)] |= kind
