"""Splits texts at the word boundaries of Unicode Standard Annex 29, and selects the parts that are words."""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit

OTHER, LETTER, HEBREW, NUMBER, KATAKANA, CONNECTOR = (np.uint8(number) for number in range(6))
WITHIN_LETTERS, WITHIN_NUMBERS, WITHIN_BOTH, APOSTROPHE, QUOTE = (np.uint8(number) for number in range(6, 11))
FLAG_HALF, EXTENDER, JOINER, SPACE, PICTURE, RETURN, LINE_FEED, NEWLINE = (np.uint8(number) for number in range(11, 19))
"""The values of the property Word_Break. From 0, `OTHER`, to 18, `NEWLINE`, they are: Other; ALetter; Hebrew_Letter;
Numeric; Katakana; ExtendNumLet; MidLetter; MidNum; MidNumLet; Single_Quote; Double_Quote; Regional_Indicator; Extend or
Format; ZWJ; WSegSpace; Other with the property Extended_Pictographic; CR; LF; Newline."""
LETTER_OR_NUMBER = NUMBER
"""Highest Word_Break value of letters and digits; `LETTER` is the lowest, and no other values are between them."""


@njit(cache=True, nogil=True, inner=True)
def is_letter(value: np.uint8) -> bool:
    """Return whether a Word_Break value is ALetter or Hebrew_Letter."""
    return bool(value in (LETTER, HEBREW))


@njit(cache=True, nogil=True, inner=True)
def links(sides: np.uint8, middle: np.uint8) -> bool:
    """Return whether ``middle`` joins letters or digits on both ``sides``: ``don't``, ``3.14`` (WB6-7, WB11-12)."""
    if is_letter(sides):
        return bool(middle in (WITHIN_LETTERS, WITHIN_BOTH, APOSTROPHE))
    return bool(sides == NUMBER and middle in (WITHIN_NUMBERS, WITHIN_BOTH, APOSTROPHE))


@njit(cache=True, nogil=True, inner=True)
def are_alike(one: np.uint8, other: np.uint8) -> bool:
    """Return whether both values are letters, or both are digits."""
    return bool((is_letter(one) and is_letter(other)) or (one == NUMBER and other == NUMBER))


@njit(cache=True, nogil=True, inner=True)
def goes_on(earlier: np.uint8, before: np.uint8, here: np.uint8, after: np.uint8) -> bool:
    """Return whether a word continues from ``before`` to ``here`` (WB5 to WB13b).

    The parameters are the Word_Break values of four consecutive characters, leaving out extenders.
    """
    if before == OTHER or here == OTHER:
        return False
    if LETTER <= before <= LETTER_OR_NUMBER and LETTER <= here <= LETTER_OR_NUMBER:
        return True
    if here == CONNECTOR:
        return LETTER <= before <= CONNECTOR
    if before == CONNECTOR:
        return LETTER <= here < CONNECTOR
    if before == KATAKANA and here == KATAKANA:
        return True
    if before == HEBREW and (here == APOSTROPHE or (here == QUOTE and after == HEBREW)):
        return True
    if here == HEBREW and before == QUOTE and earlier == HEBREW:
        return True
    return (are_alike(before, after) and links(before, here)) or (are_alike(earlier, here) and links(here, before))


@njit(cache=True, nogil=True)
def mark_words(points: UInt32s, offsets: Int64s, classes: UInt8s) -> Bools:
    """Return bool[n_points]: whether a word, or a part between words, begins at each code point.

    Parameters
    ----------
    points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    classes
        uint8[0x110000]: the Word_Break value of each code point, one of the constants of this module.
    """
    begins = np.zeros(len(points), np.bool_)
    for text in range(len(offsets) - 1):
        earlier, before, raw, n_flags = OTHER, OTHER, NEWLINE, 0
        end = offsets[text + 1]
        for place in range(offsets[text], end):
            here = classes[points[place]]
            if here < FLAG_HALF and raw < FLAG_HALF:  # the usual case
                after = OTHER if here <= CONNECTOR and before <= CONNECTOR else next_class(points, place, end, classes)
                begins[place] = not goes_on(earlier, before, here, after)
            elif here in (EXTENDER, JOINER):
                begins[place] = raw >= RETURN
                if not begins[place]:
                    raw = here
                    continue
            else:
                n_flags = n_flags + 1 if here == FLAG_HALF and before == FLAG_HALF else 0
                begins[place] = not stays_together(raw, here, n_flags) and not (
                    raw < RETURN and goes_on(earlier, before, here, next_class(points, place, end, classes))
                )
            earlier, before, raw = before, here, here
    return begins


@njit(cache=True, nogil=True, inner=True)
def next_class(points: UInt32s, place: int, end: int, classes: UInt8s) -> np.uint8:
    """Return the Word_Break value of the first non-extender after ``place``; `OTHER` if none is left."""
    place += 1
    while place < end and classes[points[place]] in (EXTENDER, JOINER):
        place += 1
    return np.uint8(classes[points[place]] if place < end else OTHER)


@njit(cache=True, nogil=True, inner=True)
def stays_together(raw: np.uint8, here: np.uint8, n_flags: int) -> bool:
    """Return whether two characters outside words have no boundary between them (WB3, WB3c, WB3d, WB15, WB16).

    ``raw`` is the value of the first character, even if it is an extender, and ``here`` the value of the second one.
    ``n_flags`` is the number of regional indicators (halves of flags) in a row before ``here``.
    """
    if here == LINE_FEED:
        return bool(raw == RETURN)
    if here == SPACE:
        return bool(raw == SPACE)
    if here == PICTURE:
        return bool(raw == JOINER)
    return bool(here == FLAG_HALF and n_flags % 2 == 1 and raw < RETURN)


@njit(cache=True, nogil=True)
def take_words(points: UInt32s, offsets: Int64s, begins: Bools, says_something: Bools) -> tuple[Int64s, Int32s, Int64s]:
    """Find the words of texts that were split by `mark_words`.

    Parameters
    ----------
    points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    begins
        bool[n_points]: whether a word, or a part between words, begins at each code point.
    says_something
        bool[0x110000]: whether a part that contains the character is a word.

    Returns
    -------
    starts, lengths
        int64[n_tokens], int32[n_tokens]: index of the first code point of each word, and number of code points.
    token_offsets
        int64[n_texts + 1]: index of the first word of each text.
    """
    starts = np.empty(len(points), np.int64)
    lengths = np.empty(len(points), np.int32)
    token_offsets = np.zeros(len(offsets), np.int64)
    token = np.int64(0)
    for text in range(len(offsets) - 1):
        start, is_word = offsets[text], False
        for place in range(offsets[text], offsets[text + 1]):
            if begins[place]:
                token += put_word(starts, lengths, token, start, place, is_word)
                start, is_word = place, False
            is_word |= says_something[points[place]]
        token += put_word(starts, lengths, token, start, offsets[text + 1], is_word)
        token_offsets[text + 1] = token
    return starts[:token].copy(), lengths[:token].copy(), token_offsets


@njit(cache=True, nogil=True, inner=True)
def put_word(starts: Int64s, lengths: Int32s, token: int, start: int, end: int, is_word: bool) -> int:
    """If the part ``start`` to ``end`` is a word, write it as token ``token``, and return 1; otherwise return 0."""
    if is_word:
        starts[token] = start
        lengths[token] = end - start
    return np.int64(is_word)
