"""Reads the words, and the signs that guards look for (such as digits), in the differing part of two texts."""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.guard_changes import N_CLASSES
from hybriddup.kernels.posts.guard_kinds import (
    ALL,
    ALONE,
    APOSTROPHE,
    DIGIT,
    LETTER,
    MOST_LETTERS,
    NEGATION,
    NUMBER,
    NUMERAL,
    PARTICLES,
    TYPOGRAPHIC,
    Signs,
)
from hybriddup.kernels.posts.tokens import OFFSET_BASIS, hashed

MOST_SIGNS = 512
LONGEST_WORD = 24
LONGEST_NAME = 8
ROMAN_I, ROMAN_V, ROMAN_X, ROMAN_L = (np.uint32(ord(character)) for character in "ivxl")
BEFORE_NAMES = tuple(ord(mark) for mark in "/@<")
"""A word after one of these is part of a link, a mention or a placeholder such as ``<url>``, and not a name."""
PARTICLE, TOUCHED = np.uint64(0), np.uint64(1)
"""Stored instead of the hash of a word: `PARTICLE` for a particle or part of a link, `TOUCHED` for a word that only
touches the differing part."""
TAG, N, T = (np.uint32(ord(character)) for character in "#nt")
BETWEEN_LETTERS = (APOSTROPHE, TYPOGRAPHIC, TAG)


class Side(NamedTuple):
    """Counts of the words in the differing part of one text."""

    n_words: int
    """Number of words that overlap or touch the differing part."""
    n_roman: int
    """How many of the ``n_words`` words are Roman numerals or single letters."""
    n_letters: int
    """Number of letters in the longest of the ``n_words`` words."""


class Room(NamedTuple):
    """The words and signs (such as digits and negations) of a pair of texts, and scratch buffers for comparing them."""

    n_signs: Int64s
    """int64[2]: number of signs (such as digits and negations) in each text."""
    hashes: UInt64s
    kinds: UInt8s
    """``hashes``, uint64[2, `MOST_SIGNS`], and ``kinds``, uint8[2, `MOST_SIGNS`]: the hash and the flags of each sign,
    one row per text."""
    sides: UInt64s
    """uint64[2, 2, `MOST_SIGNS`]: ``sides[text, 0, sign]`` has the two characters before a sign, and ``sides[text, 1,
    sign]`` the two after it, packed into one number; 0 for signs that are words."""
    is_more: Bools
    """bool[2, `MOST_SIGNS`]: whether each sign is more frequent in its own text; False for signs whose kind was not
    counted."""
    inner: UInt64s
    """uint64[2, `LONGEST_NAME`]: for each text, the hash of each differing word, or `PARTICLE`, or `TOUCHED`."""
    counts: Int32s
    """int32[`N_CLASSES`]: number of characters by code point modulo `N_CLASSES`; all 0 between uses."""
    reached: Int64s
    """int64[2 * `MOST_LETTERS` + 3]: scratch buffer for `is_small`."""


@njit(cache=True, nogil=True)
def make_room() -> Room:
    """Allocate the buffers for one pair of texts."""
    return Room(
        np.zeros(2, np.int64),
        np.empty((2, MOST_SIGNS), np.uint64),
        np.empty((2, MOST_SIGNS), np.uint8),
        np.empty((2, 2, MOST_SIGNS), np.uint64),
        np.zeros((2, MOST_SIGNS), np.bool_),
        np.empty((2, LONGEST_NAME), np.uint64),
        np.zeros(N_CLASSES, np.int32),
        np.zeros(2 * MOST_LETTERS + 3, np.int64),
    )


@njit(cache=True, nogil=True, inner=True)
def extended(text: UInt32s, place: int, step: int, kinds: UInt8s) -> int:
    """Return ``place``, moved by two characters to the left (``step`` -1) or right (``step`` 1).

    If that is inside a word or number, move on until outside of it, by at most `LONGEST_WORD` characters in total.
    """
    at = place
    for moved in range(LONGEST_WORD):
        following = at - 1 if step < 0 else at
        if following < 0 or following >= len(text):
            return at
        is_part = kinds[text[following]] & (DIGIT | NUMERAL | LETTER) or text[following] in BETWEEN_LETTERS
        if moved >= 2 and not is_part:
            return at
        at += step
    return at


@njit(cache=True, nogil=True, inner=True)
def read_part(
    text: UInt32s, first: int, end: int, inner_first: int, inner_end: int, signs: Signs, room: Room, side: int
) -> Side:
    """Write the signs and differing words of ``text[first:end]`` to row ``side`` of ``room``; return counts.

    Signs are characters and words that guards look for, such as digits and negations. Only
    ``text[inner_first:inner_end]`` differs from the other text; the rest is context.
    """
    hashes, kinds, inner = room.hashes, room.kinds, room.inner
    n, n_words, n_roman, n_letters, at = np.int64(0), np.int64(0), np.int64(0), np.int64(0), first
    while at < end and n < MOST_SIGNS:
        kind = signs.kinds[text[at]]
        run = kind & (DIGIT | NUMERAL | LETTER)
        start, key, of_sign = at, hashed(OFFSET_BASIS, text[at]), kind & ALL
        at += 1
        while run and at < end and signs.kinds[text[at]] & run:
            key = hashed(key, text[at])
            of_sign |= signs.kinds[text[at]] & ALL
            at += 1
        is_within = start < inner_end and at > inner_first
        if run & (DIGIT | LETTER):  # a word that only touches the difference is longer in the other text
            is_inner = start <= inner_end and at >= inner_first
            n_roman += is_inner and (at - start == 1 or _is_roman(text[start:at]))
            n_letters = max(n_letters, at - start if is_inner and run & LETTER else 0)
        else:
            is_inner = kind & (ALONE | NUMERAL) != 0 and is_within
        if is_inner:
            if n_words < LONGEST_NAME:
                is_particle = text[start] in PARTICLES or (start > 0 and text[start - 1] in BEFORE_NAMES)
                inner[side, n_words] = PARTICLE if is_particle else key if is_within else TOUCHED
            n_words += 1
        after = at
        if run & DIGIT and is_code(text, at, signs.kinds):
            key, after = hashed(key, text[at]), at + 1
        if run & (DIGIT | NUMERAL):
            is_after_digit = start > 0 and signs.kinds[text[start - 1]] & DIGIT != 0
            of_sign |= NUMBER | (run & DIGIT) | (run & NUMERAL if is_after_digit else np.uint8(0))
        elif run & LETTER:
            of_sign |= flags_of_word(text, start, at, key, signs)
        if of_sign:
            hashes[side, n], kinds[side, n] = key, of_sign
            is_word = run & LETTER != 0
            room.sides[side, 0, n] = np.uint64(0) if is_word else _pair_at(text, start - 2)
            room.sides[side, 1, n] = np.uint64(0) if is_word else _pair_at(text, after)
            n += 1
    room.n_signs[side] = n
    return Side(n_words, n_roman, n_letters)


@njit(cache=True, nogil=True, inner=True)
def is_code(text: UInt32s, end: int, kinds: UInt8s) -> bool:
    """Return whether a single letter follows a number that ends at index ``end``, as in ``1c``."""
    is_letter = end < len(text) and kinds[text[end]] & LETTER != 0
    return bool(is_letter and (end + 1 == len(text) or not kinds[text[end + 1]] & (LETTER | DIGIT)))


@njit(cache=True, nogil=True, inner=True)
def _is_roman(word: UInt32s) -> bool:
    n = 0
    for character in word:
        n += character in (ROMAN_I, ROMAN_V, ROMAN_X, ROMAN_L)
    return n == len(word)


@njit(cache=True, nogil=True, inner=True)
def flags_of_word(text: UInt32s, start: int, end: int, key: np.uint64, signs: Signs) -> np.uint8:
    """Return the flags of a known word, of the ``t`` in ``can't``, or of a hashtag that may name a day; otherwise 0."""
    place = np.searchsorted(signs.words, key)
    if place < len(signs.words) and signs.words[place] == key:
        return np.uint8(signs.of_words[place])
    is_letter = end - start == 1 and start > 1
    if is_letter and text[start] == T and text[start - 2] == N and text[start - 1] in (APOSTROPHE, TYPOGRAPHIC):
        return NEGATION
    return NUMBER if end - start > 6 and start > 0 and text[start - 1] == TAG else np.uint8(0)


@njit(cache=True, nogil=True, inner=True)
def _pair_at(text: UInt32s, place: int) -> np.uint64:
    """Return the characters at ``place`` and ``place + 1``, packed into one number; 0 = no character there."""
    value = np.uint64(0)
    for at in (place, place + 1):
        value = (value << np.uint64(32)) | np.uint64(text[at] if 0 <= at < len(text) else 0)
    return value


@njit(cache=True, nogil=True, inner=True)
def share_words(inner: UInt64s, n_a: int, n_b: int) -> bool:
    """Return whether two differing parts share a word, which splits them into several runs, and have no particles.

    ``inner`` is `Room.inner`; ``n_a`` and ``n_b`` are the numbers of words in its two rows.
    """
    first, has_particle, is_shared = np.int64(0), False, False
    while first < min(n_a, n_b) and inner[0, first] == inner[1, first]:
        first += 1
    while n_a > first and n_b > first and inner[0, n_a - 1] == inner[1, n_b - 1]:
        n_a, n_b = n_a - 1, n_b - 1
    for i in range(first, n_a):
        has_particle |= inner[0, i] == PARTICLE
        for k in range(first, n_b):
            is_shared |= inner[0, i] == inner[1, k] and inner[0, i] != TOUCHED
    for k in range(first, n_b):
        has_particle |= inner[1, k] == PARTICLE
    return is_shared and not has_particle
