"""Words of texts whose characters do not change their neighbors: where they begin, and which of them say something."""

import numpy as np

from hybriddup.data.records import Bools, Int32s, Int64s, UInt8s, UInt32s
from hybriddup.kernels.cache import njit

OTHER = np.uint8(0)
LETTER = np.uint8(1)
NUMBER = np.uint8(2)
KATAKANA = np.uint8(3)
CONNECTOR = np.uint8(4)
WITHIN_LETTERS = np.uint8(5)
WITHIN_NUMBERS = np.uint8(6)
WITHIN_BOTH = np.uint8(7)
INVOLVED = np.uint8(8)
"""Classes of characters, after the property Word_Break of Unicode: Other and all that always stands alone; ALetter;
Numeric; Katakana; ExtendNumLet; MidLetter; MidNum; MidNumLet and Single_Quote; what needs more than these rules."""


@njit(cache=True, nogil=True)
def links(sides: np.uint8, middle: np.uint8) -> bool:
    """Return whether a character of class ``middle`` links two characters of class ``sides``: don't, 3.14."""
    if sides == LETTER:
        return bool(middle in (WITHIN_LETTERS, WITHIN_BOTH))
    return bool(sides == NUMBER and middle in (WITHIN_NUMBERS, WITHIN_BOTH))


@njit(cache=True, nogil=True)
def goes_on(earlier: np.uint8, before: np.uint8, here: np.uint8, after: np.uint8) -> bool:
    """Return whether a word goes on from class ``before`` to class ``here``, given those around them.

    Rules WB5 to WB13b of Unicode Standard Annex 29, without those for Hebrew.
    """
    if before == OTHER or here == OTHER:
        return False
    if before <= NUMBER and here <= NUMBER:
        return True
    if here == CONNECTOR:
        return before <= CONNECTOR
    if before == CONNECTOR:
        return here < CONNECTOR
    if before == KATAKANA and here == KATAKANA:
        return True
    return (before == after and links(before, here)) or (earlier == here and links(here, before))


@njit(cache=True, nogil=True)
def mark_words(points: UInt32s, offsets: Int64s, classes: UInt8s, begins: Bools) -> Bools:
    """Set ``begins`` where a word, or what stands between words, begins; return the texts that were left out.

    Parameters
    ----------
    points, offsets
        The texts, as `hybriddup.data.records.EncodedTexts`.
    classes
        uint8[0x110000]: the class of each code point.
    begins
        bool[n_points], all False: changed in place.

    Returns
    -------
    Bools
        bool[n_texts]: True where a character is `INVOLVED`; nothing in ``begins`` is said of such a text.
    """
    left_out = np.zeros(len(offsets) - 1, np.bool_)
    for text in range(len(offsets) - 1):
        earlier, before = OTHER, OTHER
        last = offsets[text + 1] - 1
        for place in range(offsets[text], offsets[text + 1]):
            here = classes[points[place]]
            if here == INVOLVED:
                left_out[text] = True
                begins[offsets[text] : place] = False
                break
            after = classes[points[place + 1]] if place < last else OTHER
            begins[place] = not goes_on(earlier, before, here, after)
            earlier, before = before, here
    return left_out


@njit(cache=True, nogil=True)
def take_words(points: UInt32s, offsets: Int64s, begins: Bools, says_something: Bools) -> tuple[Int64s, Int32s, Int64s]:
    """Return starts int64[n_tokens], lengths int32[n_tokens] and offsets int64[n_texts + 1] of parts that are words.

    Parameters
    ----------
    begins
        bool[n_points]: where a part begins; each text begins with one.
    says_something
        bool[0x110000]: the characters of which a part must have one to be a word.
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


@njit(cache=True, nogil=True)
def put_word(starts: Int64s, lengths: Int32s, token: int, start: int, end: int, is_word: bool) -> int:
    """Put a part at place ``token`` if it is a word; return how many were put."""
    if is_word:
        starts[token] = start
        lengths[token] = end - start
    return np.int64(is_word)
