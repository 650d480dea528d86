"""Features of pairs of posts, computed from their shared words and their differences.

In a pair, *a* is the post with fewer letters and *b* the other post, so that the features are symmetric. A *difference*
consists of the tokens that a and b have between two aligned tokens. If both have tokens there, the tokens of b
*replace* the tokens of a.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.popcount import HALF, ONE, SPREAD, popcount
from hybriddup.kernels.posts.alignments import (
    ALL_ONES,
    Alignment,
    Use,
    align,
    count_keys,
    make_alignment,
    make_counts,
    slots_for,
)
from hybriddup.kernels.posts.curves import Bound, sum_of
from hybriddup.kernels.posts.parsing import EMOJIS, N_SETS, NAMES, NUMBERS, SOURCES, TAGS, ParsedPosts
from hybriddup.kernels.posts.tokens import EXTENDS

FEATURES = tuple(
    (  # noqa: SIM905  (one name per line would fill half a screen)
        "shared contained covered letters_shared letters_contained replaced largest_replaced moved "
        "added_before added_within added_after numbers_differ numbers_added hashtags_differ hashtags_of_one "
        "comment length lacking adding sources_differ source_of_one emoji_differ names_differ goes_on"
    ).split()
)
"""Names of the features in the order of the columns; `hybriddup.steps.verifiers.post.features` explains them."""
SHARED, CONTAINED, COVERED, LETTERS_SHARED, LETTERS_CONTAINED, REPLACED, LARGEST_REPLACED, MOVED = range(8)
ADDED_BEFORE, ADDED_WITHIN, ADDED_AFTER, NUMBERS_DIFFER, NUMBERS_ADDED, HASHTAGS_DIFFER, HASHTAGS_OF_ONE = range(8, 15)
COMMENT, LENGTH, LACKING, ADDING, SOURCES_DIFFER, SOURCE_OF_ONE, EMOJI_DIFFER, NAMES_DIFFER, GOES_ON = range(15, 24)
BY_PLACE = (SHARED, REPLACED, LARGEST_REPLACED, MOVED, ADDED_BEFORE, ADDED_WITHIN, ADDED_AFTER, COMMENT)
"""Columns of the features that are computed from an alignment of the two posts; the other features need none."""
REPEATED = 0.7
"""Share of a word's weight that counts as shared if the other post has the word, but fewer times."""
LIGHT = 0.8
"""Two replacements are merged if the aligned tokens between them weigh at most this much."""
NOTHING = 0.05
"""Maximum weight of a difference that is ignored."""
SAME_SPELLING = 0.72
"""Two words are spellings of one word if they have at least this share of their letters in common."""
LONGEST_SPELLING = 64
A_WORD = 3.0
"""Minimum weight that a difference gets if a word is replaced by a word with another vowel."""
FIRST_TONE, LAST_TONE = np.uint32(0x0E48), np.uint32(0x0E4B)
"""First and last code point of the tone marks of Thai, which people often omit."""


class Side(NamedTuple):
    """One post of a pair."""

    first: int
    last: int
    """The tokens of the post are ``first`` to ``last - 1`` of all posts' tokens."""
    which: int
    """0 for post a, 1 for post b: the post's column in ``counts``."""
    counts: Int32s
    """int32[n_slots, 2]: for the key in each slot, its number of occurrences in a and in b."""
    slots: Int32s
    """int32[n]: for each token, the slot of its key, which is a row of ``counts``."""
    ranks: Int32s
    """int32[n]: number of earlier tokens of the post with the same key."""


class Spelling(NamedTuple):
    """A hash table from each letter of a word to a bit mask of its positions in the word; all 0 between uses."""

    letters: UInt32s
    masks: UInt64s
    """``letters``, uint32[n], and ``masks``, uint64[n]: the letter in each slot, and the bit mask of its positions in
    the word; n is twice `LONGEST_SPELLING`."""


class Differences(NamedTuple):
    """The differences between two posts, in order: tokens between aligned tokens."""

    bounds: Int64s
    """int64[n, 4]: begin and end of each difference in a, then in b, as indices of tokens within the post."""
    n: Int64s
    """int64[1]: number of differences."""


@njit(cache=True, nogil=True)
def compare_posts(
    posts: ParsedPosts, kinds: UInt8s, earlier: Int64s, later: Int64s, common_letters: Int64s, bound: Bound
) -> Float64s:
    """Return float64[n_pairs, n_features]: the features of each pair, in the order of `FEATURES`.

    The features in `BY_PLACE` stay 0 if the other features prove that the pair cannot reach ``bound.least``.

    Parameters
    ----------
    kinds
        uint8[0x110000]: `hybriddup.kernels.posts.tokens.Characters.kinds`.
    earlier, later
        int64[n_pairs]: for each pair, the indices in ``posts`` of the earlier and the later post.
    common_letters
        int64[n_pairs]: length of the longest common subsequence of the letters of the two posts.
    """
    n = longest_post(posts)
    table, slots, ranks = make_counts(2 * n), np.empty((2, n), np.int32), np.empty((2, n), np.int32)
    slots_a, slots_b, ranks_a, ranks_b = slots[0], slots[1], ranks[0], ranks[1]
    room, differences = make_alignment(n), make_differences(n)
    spelling = Spelling(np.zeros(2 * LONGEST_SPELLING, np.uint32), np.zeros(2 * LONGEST_SPELLING, np.uint64))
    features = np.zeros((len(earlier), len(FEATURES)), np.float64)
    for pair in range(len(earlier)):
        a, b = earlier[pair], later[pair]
        if not is_before(posts, a, b):
            a, b = b, a
        use = Use(np.uint64(pair) + ONE, slots_for(n_tokens(posts, a) + n_tokens(posts, b)))
        one = Side(posts.offsets[a], posts.offsets[a + 1], 0, table.counts, slots_a, ranks_a)
        other = Side(posts.offsets[b], posts.offsets[b + 1], 1, table.counts, slots_b, ranks_b)
        count_keys(table, use, posts.keys, one.first, one.last, 0, slots_a, ranks_a)
        count_keys(table, use, posts.keys, other.first, other.last, 1, slots_b, ranks_b)
        measure_sharing(posts, one, other, common_letters[pair], features[pair])
        measure_sets(posts, a, b, features[pair])
        is_cut, may_be_same = posts.is_cut[a] and one.last > one.first, features[pair, LETTERS_SHARED] == 1.0
        if sum_of(bound.curves, bound.start, features[pair]) < bound.least[pair] and not (is_cut or may_be_same):
            continue
        find_differences(posts, one, other, room, differences)
        measure_differences(posts, kinds, spelling, one, other, room.partners, differences, features[pair])
        features[pair, COMMENT] = comment_of(posts, one, other, room.partners)
        features[pair, GOES_ON] = np.float64(is_cut and begins_with(posts, one, other))
    return features


@njit(cache=True, nogil=True)
def differ_in_numbers(posts: ParsedPosts, earlier: Int64s, later: Int64s) -> Bools:
    """Return bool[n_pairs]: whether each post of the pair has a number that the other lacks.

    The result is False for pairs with the same letters, and for pairs with a post that is cut off (ends in ``...``),
    because other rules may accept them.
    """
    differ = np.zeros(len(earlier), np.bool_)
    for pair in range(len(earlier)):
        a, b = earlier[pair], later[pair]
        is_cut = posts.is_cut[a] or posts.is_cut[b]
        differ[pair] = (
            not is_cut and compare_sets(posts, a, b, NUMBERS)[0] == 1.0 and order_of_letters(posts, a, b) != 0
        )
    return differ


@njit(cache=True, nogil=True)
def differences_of(posts: ParsedPosts) -> Int64s:
    """Return the differences between posts 0 and 1, as in `Differences.bounds`."""
    n = longest_post(posts)
    table, slots, ranks = make_counts(2 * n), np.empty((2, n), np.int32), np.empty((2, n), np.int32)
    room, differences = make_alignment(n), make_differences(n)
    use = Use(ONE, slots_for(n_tokens(posts, 0) + n_tokens(posts, 1)))
    one = Side(posts.offsets[0], posts.offsets[1], 0, table.counts, slots[0], ranks[0])
    other = Side(posts.offsets[1], posts.offsets[2], 1, table.counts, slots[1], ranks[1])
    count_keys(table, use, posts.keys, one.first, one.last, 0, one.slots, one.ranks)
    count_keys(table, use, posts.keys, other.first, other.last, 1, other.slots, other.ranks)
    find_differences(posts, one, other, room, differences)
    return differences.bounds[: differences.n[0]].copy()


@njit(cache=True, nogil=True, inner=True)
def longest_post(posts: ParsedPosts) -> int:
    """Return the number of tokens of the longest post."""
    longest = np.int64(0)
    for post in range(len(posts.offsets) - 1):
        longest = max(longest, n_tokens(posts, post))
    return longest


@njit(cache=True, nogil=True, inner=True)
def n_tokens(posts: ParsedPosts, post: int) -> int:
    """Return the number of tokens of a post."""
    return np.int64(posts.offsets[post + 1] - posts.offsets[post])


@njit(cache=True, nogil=True)
def make_differences(n: int) -> Differences:
    """Allocate buffers for the differences between two posts of up to ``n`` tokens."""
    return Differences(np.empty((n + 1, 4), np.int64), np.zeros(1, np.int64))


@njit(cache=True, nogil=True, inner=True)
def count_in(of_one: Side, of_other: Side, token: int) -> int:
    """Return how often a key occurs in post ``of_other``: the key of token ``token`` of post ``of_one``."""
    return np.int64(of_other.counts[of_one.slots[token], of_other.which])


@njit(cache=True, nogil=True, inner=True)
def is_before(posts: ParsedPosts, one: int, other: int) -> bool:
    """Return whether a post sorts before another one: by number of letters, then by letters, then by words."""
    order = order_of_letters(posts, one, other)
    return order < 0 or (order == 0 and has_earlier_words(posts, one, other))


@njit(cache=True, nogil=True, inner=True)
def order_of_letters(posts: ParsedPosts, one: int, other: int) -> int:
    """Return -1, 0 or 1: whether a post is before, equal to or after another by number of letters, then by letters."""
    start, end = posts.starts[posts.offsets[one]], posts.starts[posts.offsets[one + 1]]
    other_start, other_end = posts.starts[posts.offsets[other]], posts.starts[posts.offsets[other + 1]]
    if end - start != other_end - other_start:
        return -1 if end - start < other_end - other_start else 1
    for i in range(end - start):
        if posts.letters[start + i] != posts.letters[other_start + i]:
            return -1 if posts.letters[start + i] < posts.letters[other_start + i] else 1
    return 0


@njit(cache=True, nogil=True, inner=True)
def has_earlier_words(posts: ParsedPosts, one: int, other: int) -> bool:
    """Return whether a post sorts before another one with the same letters, or is equal to it.

    The order is by the number of tokens, then by their keys and weights; then, a post that is cut off comes first.
    """
    first, second = posts.offsets[one], posts.offsets[other]
    n, n_other = posts.offsets[one + 1] - first, posts.offsets[other + 1] - second
    if n != n_other:
        return bool(n < n_other)
    for i in range(n):
        if posts.keys[first + i] != posts.keys[second + i]:
            return bool(posts.keys[first + i] < posts.keys[second + i])
        if posts.weights[first + i] != posts.weights[second + i]:
            return bool(posts.weights[first + i] < posts.weights[second + i])
    return bool(posts.is_cut[one] or not posts.is_cut[other])


@njit(cache=True, nogil=True, inner=True)
def weigh(posts: ParsedPosts, first: int, last: int) -> float:
    """Return the total weight of tokens ``first`` to ``last - 1`` of all posts' tokens."""
    weight = 0.0
    for token in range(first, last):
        weight += posts.weights[token]
    return weight


@njit(cache=True, nogil=True, inner=True)
def find_differences(posts: ParsedPosts, a: Side, b: Side, room: Alignment, into: Differences) -> None:
    """Align posts ``a`` and ``b``; write the alignment to ``room``, and the differences between them to ``into``."""
    align(a.slots, a.last - a.first, b.slots, b.last - b.first, room)
    n_a, n_b, n = a.last - a.first, b.last - b.first, np.int64(0)
    at_a, at_b = np.int64(0), np.int64(0)
    while at_a < n_a or at_b < n_b:
        next_a = at_a
        while next_a < n_a and room.partners[next_a] < 0:
            next_a += 1
        next_b = np.int64(room.partners[next_a]) if next_a < n_a else n_b
        if next_a > at_a or next_b > at_b:
            n = put_difference(posts, a, into.bounds, n, at_a, next_a, at_b, next_b)
        at_a, at_b = next_a + 1, next_b + 1
        if next_a == n_a:
            break
    into.n[0] = n


@njit(cache=True, nogil=True, inner=True)
def put_difference(
    posts: ParsedPosts, a: Side, bounds: Int64s, n: int, from_a: int, to_a: int, from_b: int, to_b: int
) -> int:
    """Append a difference to ``bounds[:n]``, or merge it into the last one; return the new number of differences.

    The difference is tokens ``from_a`` to ``to_a - 1`` of a, and ``from_b`` to ``to_b - 1`` of b. Two replacements are
    merged if the tokens of a between them weigh at most `LIGHT`.
    """
    extends = n > 0 and to_a > from_a and to_b > from_b
    extends = extends and bounds[n - 1, 1] > bounds[n - 1, 0] and bounds[n - 1, 3] > bounds[n - 1, 2]
    if extends and weigh(posts, a.first + bounds[n - 1, 1], a.first + from_a) <= LIGHT:
        bounds[n - 1, 1], bounds[n - 1, 3] = to_a, to_b
        return n
    bounds[n, 0], bounds[n, 1], bounds[n, 2], bounds[n, 3] = from_a, to_a, from_b, to_b
    return n + 1


@njit(cache=True, nogil=True, inner=True)
def measure_sharing(posts: ParsedPosts, of_a: Side, of_b: Side, common_letters: int, row: Float64s) -> None:
    """Write the features of the length, the shared words (in any order) and the shared letters to ``row``.

    ``common_letters``: length of the longest common subsequence of the two posts' letters.
    """
    row[CONTAINED], row[LACKING], row[LENGTH] = known_to(posts, of_a, of_b)
    row[COVERED], row[ADDING], _ = known_to(posts, of_b, of_a)
    n_a = posts.starts[of_a.last] - posts.starts[of_a.first]
    n_b = posts.starts[of_b.last] - posts.starts[of_b.first]
    row[LETTERS_SHARED] = 2.0 * common_letters / (n_a + n_b) if n_a + n_b > 0 else 1.0
    row[LETTERS_CONTAINED] = common_letters / max(n_a, 1)


@njit(cache=True, nogil=True, inner=True)
def known_to(posts: ParsedPosts, of_one: Side, of_other: Side) -> tuple[float, float, float]:
    """Return the share of a post's weight that is also in the other post, and two logarithms of weights.

    The logarithms are log(1 + weight) of the words that the other post lacks, and log(1 + weight) of the whole post.
    """
    known, lacking, total = 0.0, 0.0, 0.0
    for token in range(of_one.first, of_one.last):
        weight, n = np.float64(posts.weights[token]), count_in(of_one, of_other, token - of_one.first)
        total += weight
        known += weight if of_one.ranks[token - of_one.first] < n else REPEATED * weight if n > 0 else 0.0
        lacking += weight if n == 0 else 0.0
    return known / max(total, 0.5) if total > 0.0 else 1.0, np.log1p(lacking), np.log1p(total)


@njit(cache=True, nogil=True, inner=True)
def measure_differences(
    posts: ParsedPosts,
    kinds: UInt8s,
    spelling: Spelling,
    a: Side,
    b: Side,
    partners: Int32s,
    differences: Differences,
    row: Float64s,
) -> None:
    """Write the features that depend on the alignment to ``row``.

    These are the weights of words that are shared, replaced, moved, or added before, within or after the shared words.
    """
    head, tail, shared = aligned_ends(posts, a, partners)
    row[SHARED] = np.log1p(shared)
    for i in range(differences.n[0]):
        from_a, to_a = differences.bounds[i, 0], differences.bounds[i, 1]
        from_b, to_b = differences.bounds[i, 2], differences.bounds[i, 3]
        moved_a, only_a = split_moved(posts, a, b, from_a, to_a)
        moved_b, only_b = split_moved(posts, b, a, from_b, to_b)
        row[MOVED] += moved_a + moved_b
        if only_a > NOTHING and only_b > NOTHING:
            of_a, of_b = (a.first + from_a, a.first + to_a), (b.first + from_b, b.first + to_b)
            replaced = max(min(only_a, only_b), A_WORD) if has_other_vowels(posts, kinds, of_a, of_b) else 0.0
            if replaced == 0.0 and not is_respelled(posts, spelling, of_a, of_b):
                replaced = min(only_a, only_b)
            row[REPLACED] += replaced
            row[LARGEST_REPLACED] = max(row[LARGEST_REPLACED], replaced)
        elif only_b > NOTHING:
            row[ADDED_AFTER if from_a > tail else ADDED_BEFORE if to_a <= head else ADDED_WITHIN] += only_b
    for column in (REPLACED, LARGEST_REPLACED, MOVED, ADDED_BEFORE, ADDED_WITHIN, ADDED_AFTER):
        row[column] = np.log1p(row[column])


@njit(cache=True, nogil=True, inner=True)
def aligned_ends(posts: ParsedPosts, a: Side, partners: Int32s) -> tuple[int, int, float]:
    """Return the first and last aligned token of post ``a`` with weight above 0, and the weight of all aligned tokens.

    The tokens are given by their indices in ``a``. If no aligned token has weight, the result is -1, the number of
    tokens of ``a``, and 0.0.
    """
    n = a.last - a.first
    head, tail, shared = n, np.int64(n), 0.0
    for token in range(n):
        weight = np.float64(posts.weights[a.first + token])
        if partners[token] >= 0 and weight > 0.0:
            head, tail, shared = min(head, token), token, shared + weight
    return (head, tail, shared) if shared > 0.0 else (-1, n, 0.0)


@njit(cache=True, nogil=True, inner=True)
def split_moved(posts: ParsedPosts, one: Side, other: Side, first: int, last: int) -> tuple[float, float]:
    """Return two weights: of the tokens of a difference that have moved, and of all its other tokens.

    The difference is tokens ``first`` to ``last - 1`` of post ``one``. A token has moved if the other post has it at
    least as often, and so has it in another place.
    """
    moved, only = 0.0, 0.0
    for token in range(first, last):
        if count_in(one, other, token) >= count_in(one, one, token):
            moved += posts.weights[one.first + token]
        else:
            only += posts.weights[one.first + token]
    return moved, only


@njit(cache=True, nogil=True, inner=True)
def has_other_vowels(posts: ParsedPosts, kinds: UInt8s, of_a: tuple[int, int], of_b: tuple[int, int]) -> bool:
    """Return whether two words have the same letters but different vowel signs.

    They then differ only in combining marks, and at least one of these is not a tone mark. Folding has already removed
    optional marks, such as vowel points.
    """
    at, end = posts.starts[of_a[0]], posts.starts[of_a[1]]
    other, other_end = posts.starts[of_b[0]], posts.starts[of_b[1]]
    differs = False
    while at < end or other < other_end:
        one = posts.letters[at] if at < end else np.uint32(0)
        another = posts.letters[other] if other < other_end else np.uint32(0)
        if one == another:
            at, other = at + 1, other + 1
        elif is_mark(kinds, one):
            at, differs = at + 1, differs or not FIRST_TONE <= one <= LAST_TONE
        elif is_mark(kinds, another):
            other, differs = other + 1, differs or not FIRST_TONE <= another <= LAST_TONE
        else:
            return False
    return differs


@njit(cache=True, nogil=True, inner=True)
def is_mark(kinds: UInt8s, point: np.uint32) -> bool:
    """Return whether a code point is a combining mark."""
    return bool(kinds[point] & EXTENDS)


@njit(cache=True, nogil=True, inner=True)
def is_respelled(posts: ParsedPosts, spelling: Spelling, of_a: tuple[int, int], of_b: tuple[int, int]) -> bool:
    """Return whether tokens ``of_a`` and the tokens ``of_b`` that replace them have nearly the same letters.

    ``of_a`` and ``of_b``: begin and end, as indices of all posts' tokens.
    """
    start, end = posts.starts[of_a[0]], posts.starts[of_a[1]]
    other_start, other_end = posts.starts[of_b[0]], posts.starts[of_b[1]]
    n, n_other = end - start, other_end - other_start
    if n > LONGEST_SPELLING or n_other > LONGEST_SPELLING:
        return False
    for i in range(n):
        slot = slot_of_letter(spelling, posts.letters[start + i])
        spelling.letters[slot] = posts.letters[start + i]
        spelling.masks[slot] |= ONE << np.uint64(i)
    state = ALL_ONES
    for i in range(other_start, other_end):
        common = state & spelling.masks[slot_of_letter(spelling, posts.letters[i])]
        state = (state + common) | (state - common)
    for slot in range(len(spelling.letters) if n > 0 else 0):
        spelling.letters[slot], spelling.masks[slot] = np.uint32(0), np.uint64(0)
    return bool(2.0 * popcount(~state) >= SAME_SPELLING * (n + n_other))


@njit(cache=True, nogil=True, inner=True)
def slot_of_letter(spelling: Spelling, letter: np.uint32) -> np.uint64:
    """Return the slot of a letter, or the empty slot for inserting it."""
    mask = np.uint64(len(spelling.letters) - 1)
    slot = (np.uint64(letter) * SPREAD >> HALF) & mask
    while spelling.letters[slot] != letter and spelling.masks[slot] != np.uint64(0):
        slot = (slot + ONE) & mask
    return slot


@njit(cache=True, nogil=True, inner=True)
def measure_sets(posts: ParsedPosts, a: int, b: int, row: Float64s) -> None:
    """Write the features that compare the two posts' sets of numbers, hashtags, sources, emoji and names."""
    row[NUMBERS_DIFFER], row[NUMBERS_ADDED] = compare_sets(posts, a, b, NUMBERS)
    row[HASHTAGS_DIFFER], row[HASHTAGS_OF_ONE] = compare_sets(posts, a, b, TAGS)
    row[SOURCES_DIFFER], row[SOURCE_OF_ONE] = compare_sets(posts, a, b, SOURCES)
    row[EMOJI_DIFFER], _ = compare_sets(posts, a, b, EMOJIS)
    row[NAMES_DIFFER], _ = compare_sets(posts, a, b, NAMES)


@njit(cache=True, nogil=True, inner=True)
def compare_sets(posts: ParsedPosts, a: int, b: int, which: int) -> tuple[float, float]:
    """Compare set ``which`` of two posts; return two flags, 1.0 or 0.0.

    The first is 1.0 if each post has a key that the other lacks; the second is 1.0 if only one post has such a key.
    """
    one, end = posts.set_offsets[N_SETS * a + which], posts.set_offsets[N_SETS * a + which + 1]
    other, other_end = posts.set_offsets[N_SETS * b + which], posts.set_offsets[N_SETS * b + which + 1]
    only_a, only_b = False, False
    while one < end or other < other_end:
        if other == other_end or (one < end and posts.set_keys[one] < posts.set_keys[other]):
            only_a, one = True, one + 1
        elif one == end or posts.set_keys[other] < posts.set_keys[one]:
            only_b, other = True, other + 1
        else:
            one, other = one + 1, other + 1
    return np.float64(only_a and only_b), np.float64(only_a != only_b)


@njit(cache=True, nogil=True, inner=True)
def comment_of(posts: ParsedPosts, a: Side, b: Side, partners: Int32s) -> float:
    """Return log(1 + weight) of a post's comment on a quote, leaving out words that are also in the other post.

    If both posts have a comment, the heavier one counts. The result is 0 unless most of the shared words are in quotes.
    """
    own_a, own_b, quoted, shared = 0.0, 0.0, 0.0, 0.0
    for token in range(a.first, a.last):
        weight = np.float64(posts.weights[token])
        partner = partners[token - a.first]
        if partner >= 0:
            shared += weight
            quoted += 0.0 if posts.is_own[token] or posts.is_own[b.first + partner] else weight
        elif posts.is_own[token]:
            own_a += weight
    for token in range(b.first, b.last):
        own_b += posts.weights[token] if posts.is_own[token] else 0.0
    for token in range(a.first, a.last):
        partner = partners[token - a.first]
        if partner >= 0 and posts.is_own[b.first + partner]:
            own_b -= posts.weights[b.first + partner]
    return np.log1p(max(own_a, own_b)) if 2.0 * quoted > shared else 0.0


@njit(cache=True, nogil=True, inner=True)
def begins_with(posts: ParsedPosts, a: Side, b: Side) -> bool:
    """Return whether the letters of post ``b`` begin with all letters of post ``a``."""
    start, end, other = posts.starts[a.first], posts.starts[a.last], posts.starts[b.first]
    for i in range(end - start):  # noqa: SIM110  (numba has no all)
        if posts.letters[start + i] != posts.letters[other + i]:
            return False
    return True
