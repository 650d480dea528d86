"""Features of pairs of posts, computed from their shared words and their differences.

In a pair, *a* is the post with fewer letters and *b* the other post, so that the features are symmetric. A *difference*
consists of the tokens that a and b have between two aligned tokens. If both have tokens there, the tokens of b
*replace* the tokens of a.
"""

import numpy as np

from hybriddup.data.records import Bools, Float64s, Int64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import longest_of
from hybriddup.kernels.posts.alignments import Room, Side, align, enter_pair, make_room
from hybriddup.kernels.posts.curves import Curves, sum_of
from hybriddup.kernels.posts.parsing import EMOJIS, N_SETS, NAMES, NUMBERS, SOURCES, TAGS, ParsedPosts
from hybriddup.kernels.posts.spellings import has_other_vowels, is_respelled
from hybriddup.kernels.posts.tokens import WORD, Characters

FEATURES = tuple(
    (  # noqa: SIM905  (one name per line would fill half a screen)
        "shared letters_shared letters_contained largest_replaced moved added_before added_after comment length "
        "adding numbers_differ hashtags_differ hashtags_of_one sources_differ source_of_one emoji_differ "
        "names_differ goes_on"
    ).split()
)
"""Names of the features in the order of the columns; `hybriddup.steps.verifiers.post.features` explains them."""
SHARED, LETTERS_SHARED, LETTERS_CONTAINED, LARGEST_REPLACED, MOVED, ADDED_BEFORE, ADDED_AFTER, COMMENT = range(8)
LENGTH, ADDING, NUMBERS_DIFFER, HASHTAGS_DIFFER, HASHTAGS_OF_ONE, SOURCES_DIFFER, SOURCE_OF_ONE = range(8, 15)
EMOJI_DIFFER, NAMES_DIFFER, GOES_ON = range(15, 18)
BY_PLACE = (SHARED, LARGEST_REPLACED, MOVED, ADDED_BEFORE, ADDED_AFTER, COMMENT)
"""Columns of the features that are computed from an alignment of the two posts. The other features need none, except
`ADDING` if `may_be_respelled`: before the alignment, it is then 0."""
LIGHT = 0.8
"""Two replacements are merged if the aligned tokens between them weigh at most this much."""
NOTHING = 0.05
"""Maximum weight of a difference that is ignored."""
A_WORD = 3.0
"""Weight that a replacement gets at least if two words have the same letters but different vowel signs: about the
weight of a whole word."""


@njit(cache=True, nogil=True)
def compare_posts(
    posts: ParsedPosts,
    known: Characters,
    earlier: Int64s,
    later: Int64s,
    common_letters: Int64s,
    bound: Curves,
    least: Float64s,
) -> Float64s:
    """Return float64[n_pairs, n_features]: the features of each pair, in the order of `FEATURES`.

    Parameters
    ----------
    known
        The tables of characters.
    earlier, later
        int64[n_pairs]: for each pair, the indices in ``posts`` of the earlier and the later post.
    common_letters
        int64[n_pairs]: length of the longest common subsequence of the letters of the two posts.
    bound, least
        Curves of features that are not in `BY_PLACE`, and float64[n_pairs], their least sum: below it, the posts are
        not aligned, and the features that need an alignment stay 0. If the sum is below it even without added words,
        `ADDING` stays 0, too.
    """
    longest = longest_of(posts.offsets)
    room, bounds = make_room(longest), np.empty((longest + 1, 4), np.int64)
    features = np.zeros((len(earlier), len(FEATURES)), np.float64)
    for pair in range(len(earlier)):
        a, b, row = earlier[pair], later[pair], features[pair]
        if not is_before(posts, a, b):
            a, b = b, a
        one, other = sides_of(posts, a, b)
        measure_sharing(posts, one, other, common_letters[pair], row)
        measure_sets(posts, a, b, row)
        may_go_on = one.last > one.first and (posts.is_cut[a] or posts.headings[b] == n_letters(posts, a))
        is_sure = may_go_on or row[LETTERS_SHARED] == 1.0
        if not is_sure and sum_of(bound, row) < least[pair]:
            continue
        enter_pair(posts.keys, one, other, room)
        has_spellings = may_be_respelled(posts, one, room)
        row[ADDING] = 0.0 if has_spellings else np.log1p(weigh_new(posts, other, one, room))
        if is_sure or sum_of(bound, row) >= least[pair]:
            n = find_differences(posts, one, other, room, bounds)
            respelled = measure_differences(posts, known, one, other, room, bounds[:n], row)
            if has_spellings:
                row[ADDING] = np.log1p(max(weigh_new(posts, other, one, room) - respelled, 0.0))
            row[COMMENT] = comment_of(posts, one, other, room)
            row[GOES_ON] = np.float64(may_go_on and n_equal_letters(posts, a, b) == n_letters(posts, a))
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
        if not (posts.is_cut[a] or posts.is_cut[b]) and compare_sets(posts, a, b, NUMBERS)[0] == 1.0:
            differ[pair] = n_equal_letters(posts, a, b) < max(n_letters(posts, a), n_letters(posts, b))
    return differ


@njit(cache=True, nogil=True)
def differences_of(posts: ParsedPosts) -> Int64s:
    """Return int64[n, 4]: the differences between posts 0 and 1, in order.

    Each row has the begin and end of a difference in post 0, then in post 1, as indices into the tokens of all posts.
    """
    longest = longest_of(posts.offsets)
    room, bounds = make_room(longest), np.empty((longest + 1, 4), np.int64)
    one, other = sides_of(posts, 0, 1)
    enter_pair(posts.keys, one, other, room)
    return bounds[: find_differences(posts, one, other, room, bounds)].copy()


@njit(cache=True, nogil=True, inner=True)
def sides_of(posts: ParsedPosts, a: int, b: int) -> tuple[Side, Side]:
    """Return the tokens of posts ``a`` and ``b``, as the two sides of a pair."""
    return Side(posts.offsets[a], posts.offsets[a + 1], 0), Side(posts.offsets[b], posts.offsets[b + 1], 1)


@njit(cache=True, nogil=True, inner=True)
def n_letters(posts: ParsedPosts, post: int) -> int:
    """Return the number of letters of a post."""
    return np.int64(posts.starts[posts.offsets[post + 1]] - posts.starts[posts.offsets[post]])


@njit(cache=True, nogil=True, inner=True)
def n_equal_letters(posts: ParsedPosts, one: int, other: int) -> int:
    """Return the length of the common prefix of the letters of two posts."""
    start, other_start = posts.starts[posts.offsets[one]], posts.starts[posts.offsets[other]]
    n, end = np.int64(0), min(n_letters(posts, one), n_letters(posts, other))
    while n < end and posts.letters[start + n] == posts.letters[other_start + n]:
        n += 1
    return n


@njit(cache=True, nogil=True, inner=True)
def is_before(posts: ParsedPosts, one: int, other: int) -> bool:
    """Return whether a post sorts before another one, or is equal to it.

    The order is by the number of letters, then by the letters; then by the number of tokens, by their keys and weights;
    then, a post that is cut off comes first.
    """
    n, n_other = n_letters(posts, one), n_letters(posts, other)
    if n != n_other:
        return n < n_other
    first, second, equal = posts.offsets[one], posts.offsets[other], n_equal_letters(posts, one, other)
    if equal < n:
        return bool(posts.letters[posts.starts[first] + equal] < posts.letters[posts.starts[second] + equal])
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
    """Return the total weight of tokens ``first`` to ``last - 1``, indices into the tokens of all posts."""
    weight = 0.0
    for token in range(first, last):
        weight += posts.weights[token]
    return weight


@njit(cache=True, nogil=True, inner=True)
def find_differences(posts: ParsedPosts, a: Side, b: Side, room: Room, bounds: Int64s) -> int:
    """Align posts ``a`` and ``b``, write the differences to ``bounds``, as in `differences_of`; return their number."""
    n_a, n_b, n = a.last - a.first, b.last - b.first, np.int64(0)
    align(n_a, n_b, room)
    at_a, at_b = np.int64(0), np.int64(0)
    while at_a < n_a or at_b < n_b:
        next_a = at_a
        while next_a < n_a and room.partners[next_a] < 0:
            next_a += 1
        next_b = np.int64(room.partners[next_a]) if next_a < n_a else n_b
        if next_a > at_a or next_b > at_b:
            where = (a.first + at_a, a.first + next_a, b.first + at_b, b.first + next_b)
            n = put_difference(posts, bounds, n, where)
        at_a, at_b = next_a + 1, next_b + 1
    return n


@njit(cache=True, nogil=True, inner=True)
def put_difference(posts: ParsedPosts, bounds: Int64s, n: int, where: tuple[int, int, int, int]) -> int:
    """Append a difference, as in `differences_of`, to ``bounds[:n]``; return the new number of differences.

    Two replacements are merged if, in the post with fewer letters, the tokens between them weigh at most `LIGHT`.
    """
    bounds[n, 0], bounds[n, 1], bounds[n, 2], bounds[n, 3] = where
    extends = n > 0 and is_replacement(bounds, n) and is_replacement(bounds, n - 1)
    if extends and weigh(posts, bounds[n - 1, 1], bounds[n, 0]) <= LIGHT:
        bounds[n - 1, 1], bounds[n - 1, 3] = bounds[n, 1], bounds[n, 3]
        return n
    return n + 1


@njit(cache=True, nogil=True, inner=True)
def is_replacement(bounds: Int64s, n: int) -> bool:
    """Return whether both posts have tokens in difference ``n``."""
    return bool(bounds[n, 1] > bounds[n, 0] and bounds[n, 3] > bounds[n, 2])


@njit(cache=True, nogil=True, inner=True)
def measure_sharing(posts: ParsedPosts, a: Side, b: Side, common_letters: int, row: Float64s) -> None:
    """Write the features of the length and the shared letters to ``row``.

    ``common_letters``: length of the longest common subsequence of the two posts' letters.
    """
    row[LENGTH] = np.log1p(weigh(posts, a.first, a.last))
    n_a, n_b = posts.starts[a.last] - posts.starts[a.first], posts.starts[b.last] - posts.starts[b.first]
    row[LETTERS_SHARED] = 2.0 * common_letters / (n_a + n_b) if n_a + n_b > 0 else 1.0
    row[LETTERS_CONTAINED] = common_letters / max(n_a, 1)


@njit(cache=True, nogil=True, inner=True)
def weigh_new(posts: ParsedPosts, one: Side, other: Side, room: Room) -> float:
    """Return the weight of the words of post ``one`` that post ``other`` lacks."""
    weight = 0.0
    for token in range(one.last - one.first):
        if room.counts[room.slots[one.which, token], other.which] == 0:
            weight += posts.weights[one.first + token]
    return weight


@njit(cache=True, nogil=True, inner=True)
def may_be_respelled(posts: ParsedPosts, a: Side, room: Room) -> bool:
    """Return whether post ``a`` has a word of several letters that the other post lacks, or spells otherwise."""
    for token in range(a.first, a.last):
        is_long = posts.kinds[token] == WORD and posts.starts[token + 1] - posts.starts[token] > 1
        if is_long and room.counts[room.slots[0, token - a.first], 1] == 0:
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def measure_differences(
    posts: ParsedPosts, known: Characters, a: Side, b: Side, room: Room, differences: Int64s, row: Float64s
) -> float:
    """Write the features that depend on the alignment to ``row``.

    These are the weights of words that are shared, replaced, moved, or added before or after the shared words. Return
    the weight of the words of ``b`` that are only another spelling of words of ``a``.
    """
    head, tail, row[SHARED] = aligned_ends(posts, a, room)
    respelled = 0.0
    for i in range(len(differences)):
        of_a, of_b = (differences[i, 0], differences[i, 1]), (differences[i, 2], differences[i, 3])
        moved_a, only_a = split_moved(posts, a, b, room, of_a)
        moved_b, only_b = split_moved(posts, b, a, room, of_b)
        row[MOVED] += moved_a + moved_b
        if only_a > NOTHING and only_b > NOTHING:
            replaced = min(only_a, only_b)
            if has_other_vowels(posts, known.kinds, of_a, of_b):
                replaced = max(replaced, A_WORD)
            elif is_respelled(posts, known.plain, of_a, of_b):
                replaced, respelled = 0.0, respelled + only_b
            row[LARGEST_REPLACED] = max(row[LARGEST_REPLACED], replaced)
        elif only_b > NOTHING and of_a[0] > tail:
            row[ADDED_AFTER] += only_b
        elif only_b > NOTHING and of_a[1] <= head:
            row[ADDED_BEFORE] += only_b
    for column in (SHARED, LARGEST_REPLACED, MOVED, ADDED_BEFORE, ADDED_AFTER):
        row[column] = np.log1p(row[column])
    return respelled


@njit(cache=True, nogil=True, inner=True)
def aligned_ends(posts: ParsedPosts, a: Side, room: Room) -> tuple[int, int, float]:
    """Return the first and last aligned token of post ``a`` with weight above 0, and the weight of all aligned tokens.

    If no aligned token has weight, the result is -1, ``a.last`` and 0.0.
    """
    head, tail, shared = np.int64(-1), np.int64(a.last), 0.0
    for token in range(a.first, a.last):
        if room.partners[token - a.first] >= 0 and posts.weights[token] > 0.0:
            head, tail = token if head < 0 else head, token
            shared += posts.weights[token]
    return head, tail, shared


@njit(cache=True, nogil=True, inner=True)
def split_moved(posts: ParsedPosts, one: Side, other: Side, room: Room, of_one: tuple[int, int]) -> tuple[float, float]:
    """Return two weights: of the tokens of a difference that have moved, and of all its other tokens.

    ``of_one``: begin and end of the difference in post ``one``. A token has moved if post ``other`` contains it at
    least as often as post ``one``: it then occurs in another place there.
    """
    moved, only = 0.0, 0.0
    for token in range(of_one[0], of_one[1]):
        slot = room.slots[one.which, token - one.first]
        if room.counts[slot, other.which] >= room.counts[slot, one.which]:
            moved += posts.weights[token]
        else:
            only += posts.weights[token]
    return moved, only


@njit(cache=True, nogil=True, inner=True)
def measure_sets(posts: ParsedPosts, a: int, b: int, row: Float64s) -> None:
    """Write the features that compare the posts' sets of numbers, hashtags, emoji, mentions and links, and sources.

    A source is the publisher that a post names at its beginning or end: ``BBC News: ...``, ``... | Daily Post``.
    """
    row[NUMBERS_DIFFER], _ = compare_sets(posts, a, b, NUMBERS)
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
def comment_of(posts: ParsedPosts, a: Side, b: Side, room: Room) -> float:
    """Return log(1 + weight) of a post's comment on a quote, leaving out words that are also in the other post.

    If both posts have a comment, the heavier one counts. The result is 0 unless most of the shared words are in quotes.
    """
    own_a, own_b, quoted, shared = 0.0, 0.0, 0.0, 0.0
    for token in range(b.first, b.last):
        own_b += posts.weights[token] if posts.is_own[token] else 0.0
    for token in range(a.first, a.last):
        weight = np.float64(posts.weights[token])
        partner = b.first + room.partners[token - a.first]
        if partner >= b.first:
            shared += weight
            quoted += 0.0 if posts.is_own[token] or posts.is_own[partner] else weight
            own_b -= posts.weights[partner] if posts.is_own[partner] else 0.0
        elif posts.is_own[token]:
            own_a += weight
    return np.log1p(max(own_a, own_b)) if 2.0 * quoted > shared else 0.0
