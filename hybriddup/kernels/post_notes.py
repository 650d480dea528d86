"""What is noted of one post while it is read: its words, numbers, hashtags and emoji.

A word is a Han character, a number, or a run of other letters, which counts by its stem. It has a weight, which is 0
for the commonest English words.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Float32s, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.han_numbers import han_number
from hybriddup.kernels.post_spans import (
    DIGIT,
    HAN,
    IN_NUMBER,
    IN_WORD,
    IS_PARTICLE,
    KIND,
    LEFT,
    LETTER,
    OFFSET_BASIS,
    OPEN,
    PICTURE,
    PRIME,
    Dictionary,
    end_of_emoji,
    end_of_letters,
    end_of_mask,
    end_of_number,
    hash_letters,
    hash_word,
    hashed,
    is_inner_mark,
    key_of_number,
    key_of_value,
    kind_of,
    n_of_stem,
    n_points,
    place_in,
)

JOINER, VARIATION = 0x200D, 0xFE0F
"""Parts of pictures that say how they are drawn."""
OF_TITLE = 1 << 20
"""Added to the part of a word while it is not known whether the title of a link counts."""
MOST_DIGITS = 4
"""A word of letters that ends in more digits is a code, such as a random one, and tells no number."""
HEAVIEST, OF_WEIGHT = 8, np.float32(4.0)
"""A word of other letters weighs a quarter for each of them, up to 8."""


class Scratch(NamedTuple):
    """What is found of one post, before it is known which of its words count."""

    keys: UInt64s
    prefixes: UInt64s
    weights: Float32s
    bounds: Int64s
    """int64[n, 2]: of the letters of each word."""
    parts: Int32s
    """int32[n]: 0 for own words, then the number of the quote; `OF_TITLE` more for words of a link's title, until it is
    known whether they count."""
    numbers: UInt64s
    words_of_numbers: Int32s
    """int32[n]: which word each number belongs to."""
    tags: UInt64s
    n: Int64s
    """int64[6]: words, numbers, hashtags, the number of the quote so far, 1 where a link's title asks something, and
    the words before the end of the headline."""
    emoji: UInt64s
    """uint64[2]: the hash of all pictures so far, and that of the last one."""


N_WORDS, N_NUMBERS, N_TAGS, PART, ASKS, IN_HEADLINE = 0, 1, 2, 3, 4, 5


@njit(cache=True, nogil=True)
def make_scratch(n: int) -> Scratch:
    """Return room for what a post of so many code points can hold."""
    return Scratch(
        np.empty(n, np.uint64),
        np.empty(n, np.uint64),
        np.empty(n, np.float32),
        np.empty((n, 2), np.int64),
        np.empty(n, np.int32),
        np.empty(n, np.uint64),
        np.empty(n, np.int32),
        np.empty(n, np.uint64),
        np.zeros(6, np.int64),
        np.zeros(2, np.uint64),
    )


@njit(cache=True, nogil=True, inner=True)
def note_word(scratch: Scratch, key: np.uint64, prefix: np.uint64, weight: np.float32, first: int, last: int) -> None:
    """Note a word."""
    n = scratch.n[N_WORDS]
    scratch.keys[n], scratch.prefixes[n], scratch.weights[n] = key, prefix, weight
    scratch.bounds[n, 0], scratch.bounds[n, 1] = first, last
    scratch.parts[n] = scratch.n[PART]
    scratch.n[N_WORDS] += 1


@njit(cache=True, nogil=True, inner=True)
def note_number(scratch: Scratch, key: np.uint64, first: int, last: int) -> None:
    """Note a number, which is a word, too."""
    note_value(scratch, key)
    note_word(scratch, key, key, np.float32(1.0), first, last)


@njit(cache=True, nogil=True, inner=True)
def note_value(scratch: Scratch, key: np.uint64) -> None:
    """Note a number that the next word tells."""
    n = scratch.n[N_NUMBERS]
    scratch.numbers[n], scratch.words_of_numbers[n] = key, scratch.n[N_WORDS]
    scratch.n[N_NUMBERS] += 1


@njit(cache=True, nogil=True)
def note_letters(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> None:
    """Note a word of letters: by its stem, or as the number that it spells."""
    whole, key, prefix = hash_word(points, place, end, n_of_stem(points, place, end, dictionary.suffixes))
    spelled = place_in(dictionary.spelled, whole)
    is_spelled = spelled >= 0
    for at in range(place, end):
        is_spelled &= not is_inner_mark(points[at])
    if is_spelled:
        note_number(scratch, dictionary.numbers[spelled], place, end)
        return
    digits = digits_at_end(points, place, end, dictionary)
    if digits < end:
        note_value(scratch, key_of_number(points, digits, end, dictionary))
    weight = np.float32(min(end - place - n_points(points, place, end), HEAVIEST)) / OF_WEIGHT
    note_word(scratch, key, prefix, np.float32(0.0) if place_in(dictionary.common, whole) >= 0 else weight, place, end)


@njit(cache=True, nogil=True, inner=True)
def digits_at_end(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> int:
    """Return where the digits begin in which a word of letters ends, as in EP01; ``end`` = it is no such word."""
    at = end
    while at > place and kind_of(dictionary, points[at - 1]) == DIGIT:
        at -= 1
    if at == end:
        return np.int64(end)
    is_told = end - at <= MOST_DIGITS
    for before in range(place, at):
        is_told &= kind_of(dictionary, points[before]) == LETTER
    return np.int64(at if is_told else end)


@njit(cache=True, nogil=True, inner=True)
def read_word(
    points: UInt32s, first: int, place: int, end: int, kind: int, dictionary: Dictionary, scratch: Scratch
) -> int:
    """Note the word or number that begins here with a character of this class; return where it ends."""
    if kind == HAN:
        if dictionary.classes[points[place]] & IN_NUMBER:
            value = han_number(points, first, place, end)
            if value >= 0:
                note_value(scratch, key_of_value(value))
        return note_han(points, place, end, dictionary, scratch)
    if kind == DIGIT:
        after = end_of_number(points, place, end, dictionary)
        note_number(scratch, key_of_number(points, place, after, dictionary), place, after)
        return np.int64(after)
    after = end_of_letters(points, place, end, dictionary)
    note_letters(points, place, after, dictionary, scratch)
    return np.int64(after)


@njit(cache=True, nogil=True, inner=True)
def note_han(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> int:
    """Note the Han character that stands here and those after it that begin no number; return where they end."""
    n, part = scratch.n[N_WORDS], scratch.n[PART]
    of_class = dictionary.classes[points[place]] & ~IN_NUMBER
    while of_class & (KIND | IN_NUMBER) == HAN:
        key = hashed(OFFSET_BASIS, points[place])
        scratch.keys[n], scratch.prefixes[n] = key, OFFSET_BASIS if of_class & IS_PARTICLE else key
        scratch.weights[n], scratch.parts[n] = np.float32(1.0), part
        scratch.bounds[n, 0], scratch.bounds[n, 1] = place, place + 1
        n, place = n + 1, place + 1
        of_class = dictionary.classes[points[place]] if place < end else np.uint8(0)
    scratch.n[N_WORDS] = n
    return np.int64(place)


@njit(cache=True, nogil=True)
def read_words(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> None:
    """Note the words and numbers of a hashtag or a link's title; emoji and marks are passed over."""
    first = place
    while place < end:
        kind, after = kind_of(dictionary, points[place]), place + 1
        if kind in (HAN, LETTER, DIGIT):
            after = read_word(points, first, place, end, kind, dictionary, scratch)
        elif points[place] == OPEN or kind == PICTURE:
            after = max(end_of_emoji(points, place, end, dictionary), after)
        elif points[place] == LEFT:
            after = max(end_of_mask(points, place, end), after)
        place = after


@njit(cache=True, nogil=True)
def note_emoji(points: UInt32s, place: int, end: int, scratch: Scratch) -> None:
    """Note an emoticon in brackets, or some pictures, after those before; what is repeated is noted once."""
    if points[place] == OPEN:
        note_picture(hash_letters(points, place, end), scratch)
        return
    for at in range(place, end):
        if points[at] != JOINER and points[at] != VARIATION:
            note_picture(hashed(OFFSET_BASIS, points[at]), scratch)


@njit(cache=True, nogil=True, inner=True)
def note_picture(picture: np.uint64, scratch: Scratch) -> None:
    """Note a picture by its hash, unless it is that before it."""
    if picture != scratch.emoji[1]:
        scratch.emoji[0] = (scratch.emoji[0] ^ picture) * PRIME
        scratch.emoji[1] = picture


@njit(cache=True, nogil=True)
def note_hashtag(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> None:
    """Note a hashtag by its letters and digits."""
    value = OFFSET_BASIS
    for at in range(place, end):
        if dictionary.classes[points[at]] & IN_WORD and points[at] != 95:
            value = hashed(value, points[at])
    scratch.tags[scratch.n[N_TAGS]] = value
    scratch.n[N_TAGS] += 1
