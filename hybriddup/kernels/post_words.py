"""The words of posts and what stands beside them: hashtags, emoji, numbers, and the words of those who are quoted.

Posts come normalized: case is folded, and quotes are marked by ``<repost>``. A word is a Han character, a number, or a
run of other letters, which counts by its stem; it has a weight, which is 0 for the commonest English words.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float32s, Int32s, Int64s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.han_numbers import han_number
from hybriddup.kernels.post_spans import (
    APOSTROPHE,
    DIGIT,
    HAN,
    HASH,
    IN_NUMBER,
    IN_WORD,
    LEFT,
    LETTER,
    OFFSET_BASIS,
    OPEN,
    PICTURE,
    POINT,
    PRIME,
    REPOST,
    SPACE,
    Dictionary,
    end_of_emoji,
    end_of_hashtag,
    end_of_letters,
    end_of_mask,
    end_of_number,
    hash_letters,
    hashed,
    is_repost,
    key_of_number,
    key_of_value,
    kind_of,
    n_of_stem,
    place_in,
)
from hybriddup.kernels.short_runs import sort_run

EXCLAMATION, QUESTION, ELLIPSIS = 33, 63, 0x2026
JOINER, VARIATION = 0x200D, 0xFE0F
"""Parts of pictures that say how they are drawn."""
CLAUSE = np.float32(8.0)
"""Own words of less weight say nothing beside what is quoted: 8 Han characters, or some 5 English words."""
OF_PREFIX = 4
MOST_DIGITS = 4
"""A word of letters that ends in more digits is a code, such as a random one, and tells no number."""
HEAVIEST, OF_WEIGHT = 8, np.float32(4.0)
"""A word of other letters weighs a quarter for each of them, up to 8."""


class PostWords(NamedTuple):
    """The words of some posts, one post after another."""

    offsets: Int64s
    """int64[n_posts + 1]: where the words of each begin."""
    keys: UInt64s
    """uint64[n_words]: hashes of stems, characters and values."""
    prefixes: UInt64s
    """uint64[n_words]: the same of the first letters of stems."""
    weights: Float32s
    letter_offsets: Int64s
    letters: Int32s
    """int64[n_posts + 1], int32[n_letters]: code points of the words, with a space after each that is no Han
    character."""
    number_offsets: Int64s
    numbers: UInt64s
    """int64[n_posts + 1], uint64[n]: keys of the numbers in all of a post, rising, without one that counts posts."""
    tag_offsets: Int64s
    tags: UInt64s
    """int64[n_posts + 1], uint64[n]: hashes of the hashtags, rising, each once."""
    emoji: UInt64s
    """uint64[n_posts]: a hash of all emoji in order, without repeats one after another."""
    is_han: Bools
    """bool[n_posts]: whether a post has a Han character."""


class Scratch(NamedTuple):
    """What is found of one post, before it is known which of its words count."""

    keys: UInt64s
    prefixes: UInt64s
    weights: Float32s
    bounds: Int64s
    """int64[n, 2]: of the letters of each word."""
    parts: Int32s
    """int32[n]: 0 for own words, then the number of the quote."""
    numbers: UInt64s
    words_of_numbers: Int32s
    """int32[n]: which word each number belongs to."""
    tags: UInt64s
    n: Int64s
    """int64[4]: words, numbers, hashtags, and the number of the quote so far."""
    emoji: UInt64s
    """uint64[2]: the hash of all pictures so far, and that of the last one."""


N_WORDS, N_NUMBERS, N_TAGS, PART = 0, 1, 2, 3


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
    whole = hash_letters(points, place, end, end - place)
    spelled = place_in(dictionary.spelled, whole)
    has_apostrophe = False
    for at in range(place, end):
        has_apostrophe |= points[at] == APOSTROPHE
    if spelled >= 0 and not has_apostrophe:
        note_number(scratch, dictionary.numbers[spelled], place, end)
        return
    digits = digits_at_end(points, place, end, dictionary)
    if digits < end:
        note_value(scratch, key_of_number(points, digits, end, dictionary))
    n = n_of_stem(points, place, end, dictionary.suffixes)
    key, prefix = hash_letters(points, place, end, n), hash_letters(points, place, end, min(n, OF_PREFIX))
    weight = np.float32(min(end - place, HEAVIEST)) / OF_WEIGHT
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
        key = hashed(OFFSET_BASIS, points[place])
        note_word(scratch, key, key, np.float32(1.0), place, place + 1)
        return np.int64(place + 1)
    if kind == DIGIT:
        after = end_of_number(points, place, end, dictionary)
        note_number(scratch, key_of_number(points, place, after, dictionary), place, after)
        return np.int64(after)
    after = end_of_letters(points, place, end, dictionary)
    note_letters(points, place, after, dictionary, scratch)
    return np.int64(after)


@njit(cache=True, nogil=True)
def read_words(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> None:
    """Note the words and numbers of a hashtag; emoji and marks are passed over."""
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
        note_picture(hash_letters(points, place, end, end - place), scratch)
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


@njit(cache=True, nogil=True, inner=True)
def has_han(points: UInt32s, place: int, end: int, dictionary: Dictionary) -> bool:
    """Return whether there is a Han character."""
    while place < end and kind_of(dictionary, points[place]) != HAN:
        place += 1
    return bool(place < end)


@njit(cache=True, nogil=True)
def read_post(
    points: UInt32s, place: int, end: int, dictionary: Dictionary, tags_are_words: bool, scratch: Scratch
) -> None:
    """Note what there is in a post."""
    scratch.n[:], scratch.emoji[0], scratch.emoji[1], first = 0, OFFSET_BASIS, np.uint64(0), place
    while place < end:
        kind, after = kind_of(dictionary, points[place]), place + 1
        if kind in (HAN, LETTER, DIGIT):
            after = read_word(points, first, place, end, kind, dictionary, scratch)
        elif points[place] == LEFT and is_repost(points, place, end):
            scratch.n[PART] += 1
            after = place + len(REPOST)
        elif points[place] == LEFT:
            after = max(end_of_mask(points, place, end), after)
        elif points[place] == OPEN or kind == PICTURE:
            after = end_of_emoji(points, place, end, dictionary)
            if after > place:
                note_emoji(points, place, after, scratch)
            after = max(after, place + 1)
        elif points[place] == HASH:
            words_end, tag_end = end_of_hashtag(points, place, end, dictionary)
            if tag_end > place:
                note_hashtag(points, place + 1, words_end, dictionary, scratch)
                if tags_are_words:
                    read_words(points, place + 1, words_end, dictionary, scratch)
            after = max(tag_end, place + 1)
        place = after
    if is_cut_off(points, first, end):
        drop_last_word(scratch)
    elif ends_in_number(scratch) and is_serial(points, first, end, dictionary, scratch, not tags_are_words):
        scratch.n[N_NUMBERS] -= 1


@njit(cache=True, nogil=True, inner=True)
def is_cut_off(points: UInt32s, first: int, end: int) -> bool:
    """Return whether a post ends in three points, or in the sign for them."""
    while end > first and points[end - 1] == SPACE:
        end -= 1
    if end > first and points[end - 1] == ELLIPSIS:
        return True
    return end > first + 2 and points[end - 1] == POINT and points[end - 2] == POINT and points[end - 3] == POINT


@njit(cache=True, nogil=True, inner=True)
def drop_last_word(scratch: Scratch) -> None:
    """Take back the last word, of which the end is missing."""
    if scratch.n[N_WORDS] == 0:
        return
    scratch.n[N_WORDS] -= 1
    while scratch.n[N_NUMBERS] > 0 and scratch.words_of_numbers[scratch.n[N_NUMBERS] - 1] == scratch.n[N_WORDS]:
        scratch.n[N_NUMBERS] -= 1


@njit(cache=True, nogil=True, inner=True)
def ends_in_number(scratch: Scratch) -> bool:
    """Return whether the last word is a number."""
    n_words, n_numbers = scratch.n[N_WORDS], scratch.n[N_NUMBERS]
    return bool(n_words > 0 and n_numbers > 0 and scratch.numbers[n_numbers - 1] == scratch.keys[n_words - 1])


@njit(cache=True, nogil=True, inner=True)
def is_serial(points: UInt32s, first: int, end: int, dictionary: Dictionary, scratch: Scratch, is_han: bool) -> bool:
    """Return whether the last word, a number, only counts posts, as in spam: nothing follows, not even a unit.

    In a post without a Han character, a sentence must end before it, too: ``magnitude 7.8`` is a fact.
    """
    before, after = scratch.bounds[scratch.n[N_WORDS] - 1, 0] - 1, scratch.bounds[scratch.n[N_WORDS] - 1, 1]
    while after < end and kind_of(dictionary, points[after]) in (np.uint8(0), PICTURE):
        after += 1
    while before >= first and points[before] == SPACE:
        before -= 1
    ends_sentence = before >= first and (points[before] in (POINT, EXCLAMATION, QUESTION))
    return bool(after == end and (is_han or ends_sentence))


@njit(cache=True, nogil=True)
def part_that_counts(scratch: Scratch) -> int:
    """Return which words count: -1 = all; where the own words hold no clause, those of the heaviest quote."""
    n_parts = scratch.n[PART] + 1
    weights = np.zeros(n_parts, np.float32)
    for word in range(scratch.n[N_WORDS]):
        weights[scratch.parts[word]] += scratch.weights[word]
    if n_parts == 1 or weights[0] >= CLAUSE:
        return np.int64(-1)
    heaviest = np.argmax(weights[1:]) + 1
    return np.int64(heaviest) if weights[heaviest] > 0 else np.int64(-1)


@njit(cache=True, nogil=True)
def parse_posts(points: UInt32s, offsets: Int64s, dictionary: Dictionary) -> PostWords:
    """Return the words of posts, and what stands beside them.

    The words of hashtags stand beside a post that has a Han character, as in ``#话题#我的看法``; they are words of any
    other post, as in ``#boston is strong``.

    Parameters
    ----------
    points, offsets
        The posts, as `hybriddup.data.records.EncodedTexts`.
    """
    n_posts, n = len(offsets) - 1, len(points)
    keys, prefixes, weights = np.empty(n, np.uint64), np.empty(n, np.uint64), np.empty(n, np.float32)
    letters, numbers, tags = np.empty(2 * n, np.int32), np.empty(n, np.uint64), np.empty(n, np.uint64)
    ends, emoji = np.zeros((n_posts + 1, 4), np.int64), np.zeros(n_posts, np.uint64)
    is_han = np.zeros(n_posts, np.bool_)
    longest = np.int64(0)
    for post in range(n_posts):
        longest = max(longest, offsets[post + 1] - offsets[post])
    scratch = Scratch(
        np.empty(longest, np.uint64),
        np.empty(longest, np.uint64),
        np.empty(longest, np.float32),
        np.empty((longest, 2), np.int64),
        np.empty(longest, np.int32),
        np.empty(longest, np.uint64),
        np.empty(longest, np.int32),
        np.empty(longest, np.uint64),
        np.zeros(4, np.int64),
        np.zeros(2, np.uint64),
    )
    for post in range(n_posts):
        is_han[post] = has_han(points, offsets[post], offsets[post + 1], dictionary)
        read_post(points, offsets[post], offsets[post + 1], dictionary, not is_han[post], scratch)
        n_words, n_letters, n_numbers, n_tags = ends[post, 0], ends[post, 1], ends[post, 2], ends[post, 3]
        part = part_that_counts(scratch)
        for word in range(scratch.n[N_WORDS]):
            if part >= 0 and scratch.parts[word] != part:
                continue
            keys[n_words], prefixes[n_words] = scratch.keys[word], scratch.prefixes[word]
            weights[n_words] = scratch.weights[word]
            n_words += 1
            first, last = scratch.bounds[word]
            for at in range(first, last):
                letters[n_letters] = points[at]
                n_letters += 1
            if last - first != 1 or kind_of(dictionary, points[first]) != HAN:
                letters[n_letters] = SPACE
                n_letters += 1
        sort_run(scratch.numbers, 0, scratch.n[N_NUMBERS])
        for i in range(scratch.n[N_NUMBERS]):
            numbers[n_numbers] = scratch.numbers[i]
            n_numbers += 1
        sort_run(scratch.tags, 0, scratch.n[N_TAGS])
        for i in range(scratch.n[N_TAGS]):
            if i == 0 or scratch.tags[i] != scratch.tags[i - 1]:
                tags[n_tags] = scratch.tags[i]
                n_tags += 1
        emoji[post] = scratch.emoji[0]
        ends[post + 1, 0], ends[post + 1, 1], ends[post + 1, 2], ends[post + 1, 3] = (
            n_words,
            n_letters,
            n_numbers,
            n_tags,
        )
    n_words, n_letters, n_numbers, n_tags = ends[n_posts, 0], ends[n_posts, 1], ends[n_posts, 2], ends[n_posts, 3]
    return PostWords(
        ends[:, 0].copy(),
        keys[:n_words].copy(),
        prefixes[:n_words].copy(),
        weights[:n_words].copy(),
        ends[:, 1].copy(),
        letters[:n_letters].copy(),
        ends[:, 2].copy(),
        numbers[:n_numbers].copy(),
        ends[:, 3].copy(),
        tags[:n_tags].copy(),
        emoji,
        is_han,
    )
