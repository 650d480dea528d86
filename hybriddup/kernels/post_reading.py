"""Reading one post: what is noted of it, and which of its words count.

Posts come normalized: case is folded, and quotes are marked by ``<repost>``.
"""

import numpy as np

from hybriddup.data.records import UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.post_notes import (
    ASKS,
    IN_HEADLINE,
    N_NUMBERS,
    N_WORDS,
    OF_TITLE,
    PART,
    Scratch,
    note_emoji,
    note_hashtag,
    read_word,
    read_words,
)
from hybriddup.kernels.post_spans import (
    DIGIT,
    HAN,
    HASH,
    HEADLINE_END,
    LEFT,
    LETTER,
    OFFSET_BASIS,
    OPEN,
    PICTURE,
    POINT,
    REPOST,
    SPACE,
    Dictionary,
    end_of_emoji,
    end_of_hashtag,
    end_of_link_title,
    end_of_mask,
    is_repost,
    kind_of,
)

EXCLAMATION, QUESTION, ELLIPSIS = 33, 63, 0x2026
CLAUSE = np.float32(8.0)
"""Own words of less weight say nothing beside what is quoted: 8 Han characters, or some 5 English words."""
OWN_WORDS = np.float32(5.0)
"""Beside own words of this weight the title of a link says nothing; beside any where it asks something, as in polls."""


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
    scratch.n[:], scratch.emoji[0], scratch.emoji[1], first, has_title = 0, OFFSET_BASIS, np.uint64(0), place, False
    while place < end:
        kind, after = kind_of(dictionary, points[place]), place + 1
        title_end = end_of_link_title(points, first, place, end, dictionary)
        if title_end > place:
            read_title(points, place + 1, title_end, dictionary, scratch)
            scratch.n[ASKS] |= asks(points, title_end)
            after, has_title = title_end, True
        elif kind in (HAN, LETTER, DIGIT):
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
        elif points[place] == HEADLINE_END and scratch.n[PART] == 0 and scratch.n[IN_HEADLINE] == 0:
            scratch.n[IN_HEADLINE] = scratch.n[N_WORDS]
        place = after
    if is_cut_off(points, first, end):
        drop_last_word(scratch)
    elif ends_in_number(scratch) and is_serial(points, first, end, dictionary, scratch, not tags_are_words):
        scratch.n[N_NUMBERS] -= 1
    if has_title:
        choose_titles(scratch)


@njit(cache=True, nogil=True)
def read_title(points: UInt32s, place: int, end: int, dictionary: Dictionary, scratch: Scratch) -> None:
    """Note the words of the title of a link."""
    scratch.n[PART] += OF_TITLE
    read_words(points, place, end, dictionary, scratch)
    scratch.n[PART] -= OF_TITLE


@njit(cache=True, nogil=True, inner=True)
def asks(points: UInt32s, end: int) -> bool:
    """Return whether what ends here is a question."""
    while points[end - 1] == SPACE:
        end -= 1
    return bool(points[end - 1] == QUESTION)


@njit(cache=True, nogil=True)
def choose_titles(scratch: Scratch) -> None:
    """Take back the words and numbers of titles, if the post has words of its own; else let them count as such."""
    own, limit = np.float32(0.0), np.float32(1.0) if scratch.n[ASKS] else OWN_WORDS
    for word in range(scratch.n[N_WORDS]):
        own += scratch.weights[word] if scratch.parts[word] < OF_TITLE else np.float32(0.0)
    titles_count, n = own < limit, 0
    for i in range(scratch.n[N_NUMBERS]):
        scratch.numbers[n] = scratch.numbers[i]
        word = scratch.words_of_numbers[i]
        n += titles_count or scratch.parts[word] < OF_TITLE
    scratch.n[N_NUMBERS], n = n, 0
    for word in range(scratch.n[N_WORDS]):
        if titles_count or scratch.parts[word] < OF_TITLE:
            scratch.keys[n], scratch.prefixes[n] = scratch.keys[word], scratch.prefixes[word]
            scratch.weights[n], scratch.bounds[n] = scratch.weights[word], scratch.bounds[word]
            scratch.parts[n] = scratch.parts[word] % OF_TITLE
            n += 1
    scratch.n[N_WORDS] = n


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
    if n_parts == 1:
        return np.int64(-1)
    weights = np.zeros(n_parts, np.float32)
    for word in range(scratch.n[N_WORDS]):
        weights[scratch.parts[word]] += scratch.weights[word]
    if weights[0] >= CLAUSE:
        return np.int64(-1)
    heaviest = np.argmax(weights[1:]) + 1
    return np.int64(heaviest) if weights[heaviest] > 0 else np.int64(-1)
