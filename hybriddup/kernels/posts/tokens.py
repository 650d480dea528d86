"""Tokens of normalized posts: words, characters of scripts without spaces, numbers, names, hashtags and emoji.

Words end at the boundaries of `hybriddup.kernels.text.words`. Scripts that are written without spaces (Han, kana, Thai,
Lao, Khmer, Myanmar) are split by grapheme cluster, and so is Hangul, whose endings differ more than its words.
"""

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float32s, Int32s, Int64s, UInt8s, UInt32s, UInt64s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.growing_arrays import longest_of

LETTER, DIGIT, HAN, KANA, CLUSTER, HANGUL, PICTURE = (np.uint8(number) for number in range(1, 8))
"""Kinds of characters, in the bits of `KIND`; 0 = none of these. `CLUSTER`: Thai, Lao, Khmer, Myanmar."""
KIND, IN_NAME, EXTENDS, IS_PARTICLE = np.uint8(7), np.uint8(8), np.uint8(16), np.uint8(32)
"""Mask of the kind, and three flags: character of names and hashtags (``\\w``), combining mark or joiner, particle."""

WORD, CHARACTER, NUMBER, NAME, TAG, EMOJI, SOURCE = (np.uint8(number) for number in range(1, 8))
"""Kinds of tokens. `NAME`: a mention, link or flag; `SOURCE`: a word that names the source of the post."""

WEIGHTS = np.array([0.0, 0.25, 1.0, 1.0, 0.5, 0.35, 0.6, 0.0], np.float32)
"""Weight of a token per character, indexed by the kind of the character; a Han character weighs 1.0. At most `LONGEST`
letters of a word count."""
LONGEST = 8
N_PLAIN = 0x2000
"""End of the code points of Latin letters with diacritics, exclusive."""
FIRST_FLAG, LAST_FLAG = 0x1F1E6, 0x1F1FF  # a flag is a name, and no decoration
HASH, AT, LEFT, RIGHT, OPEN, CLOSE, SPACE, ZERO = 35, 64, 60, 62, 91, 93, 32, 48
COMMA, POINT, ELLIPSIS, JOINER, STYLE = 44, 46, 0x2026, 0x200D, 0xFE0F
MIDDLE_DOT, HYPHEN = 0xB7, 45
REPOST = np.array([ord(letter) for letter in "<repost>"], np.uint32)
HTTP = np.array([ord(letter) for letter in "http"], np.uint32)
LONGEST_TAG, LONGEST_EMOTICON, LONGEST_NAME = 60, 10, 30
OFFSET_BASIS, PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Constants of the 64-bit hash FNV-1a (Fowler, Noll, Vo 1991), here over code points."""


class Characters(NamedTuple):
    """Properties of characters and words, which do not depend on the posts."""

    kinds: UInt8s
    """uint8[0x110000]: kind and flags of each code point."""
    plain: UInt32s
    """uint32[`N_PLAIN`]: the plain letter of each Latin letter with a diacritic, otherwise the code point itself."""
    word_classes: UInt8s
    """uint8[0x110000]: Word_Break class of each code point, for `hybriddup.kernels.text.words.mark_words`."""
    fillers: UInt64s
    """uint64[n], ascending: hashes of words without content, such as interjections."""
    labels: UInt64s
    """uint64[n], ascending: hashes of the letters of labels after an ellipsis, such as ``readmore``."""


class Tokens(NamedTuple):
    """The tokens of one post, in arrays of length ``n``, the number of code points of the longest post."""

    keys: UInt64s
    kinds: UInt8s
    weights: Float32s
    bounds: Int32s
    """int32[n, 2]: begin and end of each token, as indices into the code points of all texts."""
    parts: Int32s
    """int32[n]: 0 for a token outside quotes, otherwise the one-based number of its quote."""


@njit(cache=True, nogil=True)
def make_tokens(offsets: Int64s) -> Tokens:
    """Allocate buffers for the tokens of the longest post; ``offsets``: as in `hybriddup.data.records.EncodedTexts`."""
    n = longest_of(offsets)
    return Tokens(
        np.empty(n, np.uint64),
        np.empty(n, np.uint8),
        np.empty(n, np.float32),
        np.empty((n, 2), np.int32),
        np.empty(n, np.int32),
    )


@njit(cache=True, nogil=True, inner=True)
def hashed(value: np.uint64, code_point: int) -> np.uint64:
    """Return the FNV-1a hash ``value``, updated with one more code point."""
    return (value ^ np.uint64(code_point)) * PRIME


@njit(cache=True, nogil=True, inner=True)
def begins_with(points: UInt32s, place: int, end: int, literal: UInt32s) -> bool:
    """Return whether ``points[place:end]`` begins with a literal."""
    if end - place < len(literal):
        return False
    for i in range(len(literal)):  # noqa: SIM110  (numba has no all)
        if points[place + i] != literal[i]:
            return False
    return True


@njit(cache=True, nogil=True, inner=True)
def read_tokens(points: UInt32s, first: int, end: int, begins: Bools, known: Characters, tokens: Tokens) -> int:
    """Write the tokens of the post ``points[first:end]``; return their number.

    ``begins``: bool[n_points], from `mark_words`: whether a word begins at each code point.
    """
    n, part, place = np.int64(0), np.int32(0), first
    while place < end:
        point = points[place]
        if is_lone_han(points, place, end, known):  # the usual case
            key, weight = hashed(OFFSET_BASIS, point), weight_of(point, known)
            n = put_token(key, CHARACTER, weight, part, place, place + 1, tokens, n)
            place += 1
            continue
        kind, after, of_token = known.kinds[point] & KIND, place, np.uint8(0)
        if kind == LETTER:
            after, of_token = end_of_link(points, place, end), NAME
            if after == place:
                after, of_token = end_of_word(points, place, end, begins, known), WORD
        elif HAN <= kind <= HANGUL:
            after, of_token = end_of_cluster(points, place, end, known), CHARACTER
        elif kind == DIGIT:
            after, of_token = end_of_number(points, place, end, known), NUMBER
        elif kind == PICTURE or point == OPEN:
            after = end_of_emoji(points, place, end, begins, known)
            of_token = NAME if FIRST_FLAG <= point <= LAST_FLAG else EMOJI
        elif point == LEFT:
            part += np.int32(begins_with(points, place, end, REPOST))
            after = end_of_mask(points, place, end)
        elif point == AT:
            after, of_token = end_of_name(points, place, end, known), NAME
        elif point == HASH:
            after, of_token = end_of_tag(points, place, end, known), TAG
        if after > place and of_token != 0:
            key, weight = key_and_weight(points, place, after, of_token, known)
            n = put_token(key, of_token, weight, part, place, after, tokens, n)
        place = max(after, place + 1)
    return n


@njit(cache=True, nogil=True, inner=True)
def is_lone_han(points: UInt32s, place: int, end: int, known: Characters) -> bool:
    """Return whether a Han character without combining marks is at ``place``."""
    if known.kinds[points[place]] & KIND != HAN:
        return False
    return place + 1 == end or known.kinds[points[place + 1]] & EXTENDS == 0


@njit(cache=True, nogil=True, inner=True)
def weight_of(point: np.uint32, known: Characters) -> np.float32:
    """Return the weight of a character of a script without spaces, or of a letter of a word."""
    kinds = known.kinds[point]
    return np.float32(0.0) if kinds & IS_PARTICLE else WEIGHTS[kinds & KIND]


@njit(cache=True, nogil=True, inner=True)
def key_and_weight(
    points: UInt32s, place: int, end: int, of_token: np.uint8, known: Characters
) -> tuple[np.uint64, np.float32]:
    """Return the key and the weight of the token ``points[place:end]``; ``of_token``: its kind."""
    if of_token == NUMBER:
        return key_of_number(points, place, end), np.float32(1.0)
    key, n_letters = OFFSET_BASIS, np.int64(0)
    for at in range(place, end):
        if is_in_key(points, place, at, end, of_token, known):
            key = hashed(key, points[at])
            n_letters += known.kinds[points[at]] & EXTENDS == 0
    if of_token == WORD:
        has_weight = not is_in(known.fillers, key) and not is_laughter(points, place, end)
        return key, WEIGHTS[LETTER] * np.float32(min(n_letters, LONGEST) if has_weight else 0)
    return key, weight_of(points[place], known) if of_token == CHARACTER else np.float32(of_token == NAME)


@njit(cache=True, nogil=True, inner=True)
def is_in_key(points: UInt32s, first: int, at: int, end: int, of_token: np.uint8, known: Characters) -> bool:
    """Return whether a character of the token ``points[first:end]`` counts for its key."""
    if of_token == WORD:
        return is_spelling(points, first, at, end, known)
    if of_token == TAG:
        return bool(known.kinds[points[at]] & (IN_NAME | EXTENDS) and points[at] != 95)
    return points[at] not in (JOINER, STYLE)


@njit(cache=True, nogil=True, inner=True)
def put_token(
    key: np.uint64, kind: np.uint8, weight: np.float32, part: np.int32, first: int, end: int, tokens: Tokens, n: int
) -> int:
    """Write ``points[first:end]`` as token ``n``, unless it is a word or character equal to the previous two tokens.

    Return the new number of tokens. ``part``: as in `Tokens.parts`.
    """
    is_repeated = n > 1 and tokens.keys[n - 1] == key and tokens.keys[n - 2] == key and tokens.parts[n - 2] == part
    if is_repeated and kind in (WORD, CHARACTER):
        if tokens.bounds[n - 1, 1] == first:
            tokens.bounds[n - 1, 1] = end
        return n
    tokens.keys[n], tokens.kinds[n], tokens.weights[n], tokens.parts[n] = key, kind, weight, part
    tokens.bounds[n, 0], tokens.bounds[n, 1] = first, end
    return n + 1


@njit(cache=True, nogil=True, inner=True)
def end_of_word(points: UInt32s, place: int, end: int, begins: Bools, known: Characters) -> int:
    """Return the end of a word: the next word boundary, or the next character of Hangul or a script without spaces."""
    at = place + 1
    while at < end and not begins[at] and not HAN <= known.kinds[points[at]] & KIND <= HANGUL:
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def end_of_cluster(points: UInt32s, place: int, end: int, known: Characters) -> int:
    """Return the end of a character and the combining marks after it."""
    at = place + 1
    while at < end and known.kinds[points[at]] & EXTENDS:
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def end_of_number(points: UInt32s, place: int, end: int, known: Characters) -> int:
    """Return the end of a number: digits, with points and commas between them."""
    at = place + 1
    while at < end:
        is_inner = at + 1 < end and points[at] in (COMMA, POINT) and known.kinds[points[at + 1]] & KIND == DIGIT
        if known.kinds[points[at]] & KIND != DIGIT and not is_inner:
            break
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def end_of_link(points: UInt32s, place: int, end: int) -> int:
    """Return the end of a link that begins with ``http``; ``place`` if there is none."""
    if not begins_with(points, place, end, HTTP):
        return place
    at = place + len(HTTP)
    at += at < end and points[at] == ord("s")
    if end - at < 3 or points[at] != ord(":") or points[at + 1] != ord("/"):
        return place
    while at < end and points[at] > SPACE and points[at] < 0x2E80:
        at += 1
    return at


@njit(cache=True, nogil=True, inner=True)
def end_of_mask(points: UInt32s, place: int, end: int) -> int:
    """Return the end of a placeholder such as ``<url>``; ``place`` if there is none."""
    at = place + 1
    while at < end and 97 <= points[at] <= 122:
        at += 1
    return at + 1 if at > place + 1 and at < end and points[at] == RIGHT else place


@njit(cache=True, nogil=True, inner=True)
def end_of_name(points: UInt32s, place: int, end: int, known: Characters) -> int:
    """Return the end of a mention whose ``@`` is at ``place``; ``place`` if no name follows."""
    at = place + 1
    while at < end and at - place <= LONGEST_NAME:
        if not known.kinds[points[at]] & IN_NAME and points[at] not in (MIDDLE_DOT, HYPHEN):
            break
        at += 1
    return at if at > place + 1 else place


@njit(cache=True, nogil=True, inner=True)
def end_of_tag(points: UInt32s, place: int, end: int, known: Characters) -> int:
    """Return the end of a hashtag, ``#two words#`` or ``#word``; ``place`` if there is none."""
    at = place + 1
    while at < end and at - place <= LONGEST_TAG and points[at] != HASH and points[at] != LEFT:
        at += 1
    is_closed = at < end and points[at] == HASH and at > place + 1
    if is_closed and points[place + 1] > SPACE and points[at - 1] > SPACE:
        return at + 1
    at, only_digits = place + 1, True
    while at < end and known.kinds[points[at]] & (IN_NAME | EXTENDS):
        only_digits &= known.kinds[points[at]] & KIND == DIGIT
        at += 1
    return place if only_digits else at


@njit(cache=True, nogil=True, inner=True)
def end_of_emoji(points: UInt32s, place: int, end: int, begins: Bools, known: Characters) -> int:
    """Return the end of an emoji or an emoticon such as ``[doge]``; ``place`` if there is none."""
    at = place + 1
    if points[place] != OPEN:
        while at < end and not begins[at]:
            at += 1
        return at
    while at < end and at - place <= LONGEST_EMOTICON and known.kinds[points[at]] & IN_NAME:
        at += 1
    if at == place + 1 or at == end or points[at] != CLOSE:
        return place
    return place if points[place + 1] == 95 or known.kinds[points[place + 1]] & KIND == DIGIT else at + 1


@njit(cache=True, nogil=True, inner=True)
def is_drawn_out(points: UInt32s, first: int, at: int, end: int) -> bool:
    """Return whether a letter is the second or later of three or more in a row: ``soooo`` is read as ``so``."""
    if at == first or points[at - 1] != points[at]:
        return False
    is_third = at - 1 > first and points[at - 2] == points[at]
    return bool(is_third or (at + 1 < end and points[at + 1] == points[at]))


@njit(cache=True, nogil=True, inner=True)
def is_spelling(points: UInt32s, first: int, at: int, end: int, known: Characters) -> bool:
    """Return whether a character belongs to the spelling of its word; apostrophes and `is_drawn_out` letters do not."""
    is_part = known.kinds[points[at]] & (IN_NAME | EXTENDS) != 0 and points[at] != JOINER
    return bool(is_part and not is_drawn_out(points, first, at, end))


@njit(cache=True, nogil=True, inner=True)
def key_of_number(points: UInt32s, place: int, end: int) -> np.uint64:
    """Return the hash of a number, the same for ``05`` and ``5``, ``6,000`` and ``6000``, ``1.0`` and ``1``."""
    stop, n_zeros = end, np.int64(0)
    while end - n_zeros > place and points[end - n_zeros - 1] == ZERO:
        n_zeros += 1
    if 0 < n_zeros < 3 and end - n_zeros > place and points[end - n_zeros - 1] == POINT:
        stop = end - n_zeros - 1
    key, is_leading = OFFSET_BASIS, True
    for at in range(place, stop):
        if points[at] in (COMMA, POINT) and is_of_thousands(points, at, stop):
            continue
        is_leading &= points[at] == ZERO and at + 1 < stop and points[at + 1] != POINT
        if not is_leading:
            key = hashed(key, points[at])
    return key


@njit(cache=True, nogil=True, inner=True)
def is_of_thousands(points: UInt32s, place: int, end: int) -> bool:
    """Return whether the point or comma at ``place`` separates thousands: exactly three digits follow it."""
    stop = place + 1
    while stop < end and points[stop] not in (COMMA, POINT):
        stop += 1
    return bool(stop - place == 4)


@njit(cache=True, nogil=True, inner=True)
def is_in(keys: UInt64s, key: np.uint64) -> bool:
    """Return whether ascending keys, such as hashes of words, contain a key."""
    place = np.searchsorted(keys, key)
    return bool(place < len(keys) and keys[place] == key)


@njit(cache=True, nogil=True, inner=True)
def is_laughter(points: UInt32s, place: int, end: int) -> bool:
    """Return whether a word has only two different letters, one of them h, j, k or х: ``haha``, ``jaja``, ``ахах``."""
    one, other, n, laughs = points[place], np.uint32(0), np.int64(0), False
    for at in range(place, end):
        if points[at] != one and points[at] != other:
            n, other = n + 1, points[at]
        laughs |= points[at] in (ord("h"), ord("j"), ord("k"), 0x445)
    return bool(laughs and n == 1 and end - place > 3)
