"""Features of pairs of posts: how much they share, what one has and the other lacks, and where that stands.

Of a pair, *a* is the post with fewer letters and *b* the other one, so that the features are symmetric. A word of one
is *known* where the other has its stem, or one that begins with the same letters; words without weight are.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.key_groups import SPREAD
from hybriddup.kernels.popcount import HALF, ONE
from hybriddup.kernels.post_words import PostWords

NAMES = (
    "similar",
    "contained",
    "length",
    "added",
    "lost",
    "similar_as_sent",
    "only_in_shorter",
    "only_in_longer",
    "only_in_both",
    "words_contained",
    "words_shared",
    "words_contained_by_weight",
    "words_shared_by_weight",
    "weight",
    "run",
    "run_share",
    "head",
    "tail",
    "middle",
    "unknown_in_shorter",
    "goes_on",
    "is_headline",
    "numbers_differ",
    "numbers_added",
    "numbers_same",
    "hashtags_shared",
    "hashtags_differ",
    "hashtags_of_one",
    "little_said",
    "emoji_differ",
    "same_words",
    "rarity_in_longer",
    "rarest_in_shorter",
    "rarest_in_longer",
    "rarity_shared",
)
"""In the order of the columns; `hybriddup.steps.verifiers.post` explains them."""
LITTLE = 3.0
"""Weight of the words of a post that says next to nothing."""


class Table(NamedTuple):
    """A set of numbers that is emptied by asking with another stamp."""

    values: UInt64s
    stamps: UInt64s
    """uint64[n], uint64[n]: n is a power of two, at least twice what is put in."""


@njit(cache=True, nogil=True)
def make_table(n: int) -> Table:
    """Return a set with room for so many numbers."""
    size = 4
    while size < 2 * n:
        size *= 2
    return Table(np.zeros(size, np.uint64), np.zeros(size, np.uint64))


@njit(cache=True, nogil=True, inner=True)
def place_of(table: Table, value: np.uint64, stamp: np.uint64) -> np.uint64:
    """Return where a number stands, or the free place where it belongs."""
    mask = np.uint64(len(table.values) - 1)
    place = (value * SPREAD >> HALF) & mask
    while table.stamps[place] == stamp and table.values[place] != value:
        place = (place + ONE) & mask
    return place


@njit(cache=True, nogil=True, inner=True)
def put(table: Table, value: np.uint64, stamp: np.uint64) -> bool:
    """Put a number in; return whether it is new."""
    place = place_of(table, value, stamp)
    is_new = table.stamps[place] != stamp
    table.values[place], table.stamps[place] = value, stamp
    return bool(is_new)


@njit(cache=True, nogil=True, inner=True)
def has(table: Table, value: np.uint64, stamp: np.uint64) -> bool:
    """Return whether a number was put in."""
    return bool(table.stamps[place_of(table, value, stamp)] == stamp)


class WordSet(NamedTuple):
    """The words of one post, to be asked for."""

    keys: Table
    heads: Table
    """The words' keys, and those of the letters that they begin with."""
    is_first: Bools
    """bool[n]: which words have not stood in the post before."""


@njit(cache=True, nogil=True)
def make_word_set(n: int) -> WordSet:
    """Return a set with room for the words of a post with so many."""
    return WordSet(make_table(n), make_table(n), np.zeros(n, np.bool_))


@njit(cache=True, nogil=True, inner=True)
def put_words(words: PostWords, post: int, into: WordSet, stamp: np.uint64) -> None:
    """Make a set that of the words of a post."""
    first = words.offsets[post]
    for word in range(first, words.offsets[post + 1]):
        into.is_first[word - first] = put(into.keys, words.keys[word], stamp)
        put(into.heads, words.prefixes[word], stamp)


@njit(cache=True, nogil=True, inner=True)
def mark_known(words: PostWords, post: int, other: WordSet, stamp: np.uint64, known: Bools) -> None:
    """Mark which words of a post are known to another one, by their beginnings: those of equal words are equal."""
    first = words.offsets[post]
    for word in range(first, words.offsets[post + 1]):
        known[word - first] = words.weights[word] == 0 or has(other.heads, words.prefixes[word], stamp)


@njit(cache=True, nogil=True, inner=True)
def weigh(words: PostWords, post: int, known: Bools, is_first: Bools) -> tuple[float, float]:
    """Return the weight of a post's distinct words that are not known, and of all of them."""
    unknown, total, first = 0.0, 0.0, words.offsets[post]
    for word in range(first, words.offsets[post + 1]):
        if is_first[word - first]:
            total += words.weights[word]
            unknown += 0.0 if known[word - first] else words.weights[word]
    return unknown, total


@njit(cache=True, nogil=True, inner=True)
def unknown_places(words: PostWords, post: int, known: Bools) -> tuple[int, int, int]:
    """Return how many words with weight are unknown before the first known one, after the last, and between."""
    first = words.offsets[post]
    head, between, middle, is_any = np.int64(0), np.int64(0), np.int64(0), False
    for place in range(words.offsets[post + 1] - first):
        if words.weights[first + place] == 0:
            continue
        if known[place]:
            middle += between if is_any else 0
            is_any, between = True, np.int64(0)
        elif is_any:
            between += 1
        else:
            head += 1
    return head, between, middle


@njit(cache=True, nogil=True, inner=True)
def n_known_first(words: PostWords, post: int, known: Bools) -> int:
    """Return how many words are known before the first that is not."""
    n = words.offsets[post + 1] - words.offsets[post]
    place = np.int64(0)
    while place < n and known[place]:
        place += 1
    return place


@njit(cache=True, nogil=True, inner=True)
def longest_run(
    words: PostWords, a: int, b: int, heads: Table, heads_stamp: np.uint64, pairs: Table, stamp: np.uint64
) -> int:
    """Return how many words of a stand in b one after another, by the beginnings of neighbors."""
    for word in range(words.offsets[b], words.offsets[b + 1] - 1):
        put(pairs, join_two(words.prefixes[word], words.prefixes[word + 1]), stamp)
    run, longest, first = np.int64(0), np.int64(0), words.offsets[a]
    for word in range(first, words.offsets[a + 1]):
        if not has(heads, words.prefixes[word], heads_stamp):
            run = np.int64(0)
        elif run > 0 and has(pairs, join_two(words.prefixes[word - 1], words.prefixes[word]), stamp):
            run += 1
        else:
            run = np.int64(1)
        longest = max(longest, run)
    return longest


@njit(cache=True, nogil=True, inner=True)
def join_two(one: np.uint64, next_one: np.uint64) -> np.uint64:
    """Return a number for two words in their order."""
    return one * SPREAD ^ next_one


@njit(cache=True, nogil=True, inner=True)
def count_shared(values: UInt64s, first: int, last: int, other: int, other_last: int) -> int:
    """Return how many of the rising numbers from ``first`` to ``last`` stand among those from ``other`` on, too."""
    n = np.int64(0)
    while first < last and other < other_last:
        one, another = values[first], values[other]
        n += one == another
        first += one <= another
        other += another <= one
    return n


@njit(cache=True, nogil=True, inner=True)
def is_before(words: PostWords, one: int, other: int) -> bool:
    """Return whether a post has fewer letters than another one, or as many and earlier ones."""
    start, end = words.letter_offsets[one], words.letter_offsets[one + 1]
    other_start, other_end = words.letter_offsets[other], words.letter_offsets[other + 1]
    if end - start != other_end - other_start:
        return bool(end - start < other_end - other_start)
    for i in range(end - start):
        if words.letters[start + i] != words.letters[other_start + i]:
            return bool(words.letters[start + i] < words.letters[other_start + i])
    return True


@njit(cache=True, nogil=True)
def longest_post(words: PostWords) -> int:
    """Return the words of the longest post."""
    longest = np.int64(0)
    for post in range(len(words.offsets) - 1):
        longest = max(longest, words.offsets[post + 1] - words.offsets[post])
    return longest


@njit(cache=True, nogil=True)
def compare_posts(
    words: PostWords, lengths: Int64s, earlier: Int64s, later: Int64s, common_letters: Int64s, common: Int64s
) -> Float64s:
    """Return float64[n_pairs, n_features]: the features of each pair, as `NAMES` lists them.

    Parameters
    ----------
    lengths
        int64[n_posts]: code points of the posts as they were normalized.
    earlier, later
        int64[n_pairs]: posts.
    common_letters, common
        int64[n_pairs]: the longest common subsequence of their letters, and of the normalized posts.
    """
    n = longest_post(words)
    known_earlier, known_later, pairs = np.zeros(n, np.bool_), np.zeros(n, np.bool_), make_table(n)
    of_earlier, of_later = make_word_set(n), make_word_set(n)
    features, stamp, later_stamp = np.zeros((len(earlier), len(NAMES)), np.float64), np.uint64(0), np.uint64(0)
    for pair in range(len(earlier)):
        one, other = earlier[pair], later[pair]
        stamp += ONE
        put_words(words, one, of_earlier, stamp)
        if pair == 0 or other != later[pair - 1]:
            later_stamp = stamp
            put_words(words, other, of_later, later_stamp)
        mark_known(words, one, of_later, later_stamp, known_earlier)
        mark_known(words, other, of_earlier, stamp, known_later)
        only_one, weight_one = weigh(words, one, known_earlier, of_earlier.is_first)
        only_other, weight_other = weigh(words, other, known_later, of_later.is_first)
        row = features[pair]
        if is_before(words, one, other):
            note_letters_shared(words, lengths, one, other, common_letters[pair], common[pair], row)
            note_words_shared(only_one, weight_one, only_other, weight_other, row)
            run = longest_run(words, one, other, of_later.heads, later_stamp, pairs, stamp)
            note_places(words, one, other, known_earlier, known_later, run, row)
            note_numbers(words, one, other, row)
            note_beside(words, one, other, weight_one, row)
            note_rarity(words, one, other, of_earlier, stamp, of_later, later_stamp, row)
        else:
            note_letters_shared(words, lengths, other, one, common_letters[pair], common[pair], row)
            note_words_shared(only_other, weight_other, only_one, weight_one, row)
            run = longest_run(words, other, one, of_earlier.heads, stamp, pairs, stamp)
            note_places(words, other, one, known_later, known_earlier, run, row)
            note_numbers(words, other, one, row)
            note_beside(words, other, one, weight_other, row)
            note_rarity(words, other, one, of_later, later_stamp, of_earlier, stamp, row)
    return features


@njit(cache=True, nogil=True, inner=True)
def note_letters_shared(
    words: PostWords, lengths: Int64s, a: int, b: int, common_letters: int, common: int, row: Float64s
) -> None:
    """Write what the letters tell: columns 0 to 5."""
    n_a = words.letter_offsets[a + 1] - words.letter_offsets[a]
    n_b = words.letter_offsets[b + 1] - words.letter_offsets[b]
    row[0] = 2.0 * common_letters / (n_a + n_b) if n_a + n_b > 0 else 1.0
    row[1] = common_letters / n_a if n_a > 0 else 0.0
    row[2], row[3], row[4] = np.log1p(n_a), np.log1p(n_b - common_letters), np.log1p(n_a - common_letters)
    row[5] = 2.0 * common / max(lengths[a] + lengths[b], 1)


@njit(cache=True, nogil=True, inner=True)
def note_words_shared(only_a: float, weight_a: float, only_b: float, weight_b: float, row: Float64s) -> None:
    """Write what the words tell by their weight: columns 6 to 13."""
    row[6], row[7], row[8] = np.log1p(only_a), np.log1p(only_b), np.log1p(min(only_a, only_b))
    row[9] = 1.0 - only_a / max(weight_a, 1.0)
    row[10] = 1.0 - (only_a + only_b) / max(weight_a + weight_b, 1.0)
    row[11], row[12] = row[9] * np.log1p(weight_a), row[10] * np.log1p(weight_a + weight_b)
    row[13] = np.log1p(weight_a)


@njit(cache=True, nogil=True, inner=True)
def note_places(words: PostWords, a: int, b: int, known_a: Bools, known_b: Bools, run: int, row: Float64s) -> None:
    """Write where words stand that the other post lacks: columns 14 to 21."""
    head, tail, middle = unknown_places(words, b, known_b)
    row[14], row[15] = np.log1p(run), run / max(words.offsets[a + 1] - words.offsets[a], 1)
    row[16], row[17], row[18] = np.log1p(head), np.log1p(tail), np.log1p(middle)
    row[19] = np.log1p(sum(unknown_places(words, a, known_a)))
    row[20] = row[17] if row[19] == 0.0 else 0.0
    headline = max(words.headlines[a], words.headlines[b])
    row[21] = np.float64(row[19] == 0.0 and n_known_first(words, b, known_b) >= headline > 0)


@njit(cache=True, nogil=True, inner=True)
def note_numbers(words: PostWords, a: int, b: int, row: Float64s) -> None:
    """Write whether the numbers agree: columns 22 to 24."""
    first, last = words.number_offsets[a], words.number_offsets[a + 1]
    other, other_last = words.number_offsets[b], words.number_offsets[b + 1]
    shared = count_shared(words.numbers, first, last, other, other_last)
    more_a, more_b = last - first > shared, other_last - other > shared
    row[22], row[23] = np.float64(more_a and more_b), np.float64(more_a != more_b)
    row[24] = np.float64(last > first and not more_a and not more_b)


@njit(cache=True, nogil=True, inner=True)
def note_beside(words: PostWords, a: int, b: int, weight_a: float, row: Float64s) -> None:
    """Write whether hashtags and emoji agree, and whether the words do: columns 25 to 30."""
    first, last = words.tag_offsets[a], words.tag_offsets[a + 1]
    other, other_last = words.tag_offsets[b], words.tag_offsets[b + 1]
    n_a, n_b = last - first, other_last - other
    shared = count_shared(words.tags, first, last, other, other_last)
    row[25] = shared / max(n_a + n_b - shared, 1)
    row[26] = np.float64(n_a > shared and n_b > shared)
    row[27] = np.float64((n_a > 0) != (n_b > 0))
    row[28] = np.float64(weight_a < LITTLE)
    row[29] = np.float64(weight_a < LITTLE and words.emoji[a] != words.emoji[b])
    row[30] = np.float64(row[0] == 1.0 and words.letter_offsets[a + 1] > words.letter_offsets[a])


@njit(cache=True, nogil=True, inner=True)
def note_rarity(
    words: PostWords,
    a: int,
    b: int,
    of_a: WordSet,
    stamp_a: np.uint64,
    of_b: WordSet,
    stamp_b: np.uint64,
    row: Float64s,
) -> None:
    """Write how rare the words are that one post lacks: columns 31 to 34."""
    row[34] = 1.0
    if words.is_han[a] or words.is_han[b]:
        return
    only_a, row[32], in_a = add_rarities(words, a, of_a.is_first, of_b, stamp_b)
    only_b, row[33], in_b = add_rarities(words, b, of_b.is_first, of_a, stamp_a)
    row[31] = np.log1p(only_b)
    row[34] -= (only_a + only_b) / max(in_a + in_b, 1.0)


@njit(cache=True, nogil=True, inner=True)
def add_rarities(
    words: PostWords, post: int, is_first: Bools, other: WordSet, stamp: np.uint64
) -> tuple[float, float, float]:
    """Return the rarity of a post's distinct words that another one lacks, of the rarest of these, and of all words.

    A word of which the other has only the beginning counts half. Words without weight count, too: *my* or *not* is
    there or lacking.
    """
    lacking, rarest, total, first = 0.0, 0.0, 0.0, words.offsets[post]
    for word in range(first, words.offsets[post + 1]):
        if is_first[word - first]:
            rarity = np.float64(words.rarities[word])
            total += rarity
            if not has(other.keys, words.keys[word], stamp):
                rarity *= 0.5 if has(other.heads, words.prefixes[word], stamp) else 1.0
                lacking, rarest = lacking + rarity, max(rarest, rarity)
    return lacking, rarest, total
