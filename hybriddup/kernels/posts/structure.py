"""The structure of a post: its own words, quoted words, and decoration.

Decoration is a hashtag at either end, a serial number at the end (``#8``, ``[2036345]``), the name of a source before a
colon or after a bar (``BREAKING: ...``, ``... | Daily Post``), and a label in brackets at the beginning (``[Daily goal]
...``). A hashtag within a sentence is an ordinary word; a ``via`` at the end, after which a mention was removed, is no
part of a sentence. A label after the ellipsis of a cut post (``... Read more``) is no part of the post. A cut post may
begin with a heading: ``Rivers receding in the north, 3 dead in floods: The two rivers that conver...``.
"""

import numpy as np

from hybriddup.data.records import UInt32s
from hybriddup.kernels.cache import njit
from hybriddup.kernels.posts.tokens import (
    CLOSE,
    ELLIPSIS,
    EMOJI,
    EXTENDS,
    HASH,
    IN_NAME,
    LONGEST,
    NUMBER,
    OFFSET_BASIS,
    OPEN,
    POINT,
    SOURCE,
    SPACE,
    TAG,
    WEIGHTS,
    WORD,
    Characters,
    Tokens,
    hashed,
    is_in,
)

DROPPED = np.uint8(0)
QUOTES = np.array([[ord(one), ord(other)] for one, other in ("“”", '""', "「」", "『』", "«»")], np.uint32)
QUOTED = np.float32(5.0)
"""Minimum total weight of quoted words; with less, a quotation counts as ordinary words. A Han character weighs 1."""
HEADLINE_END = ord("】")
SLASH, BAR = ord("/"), ord("|")
SLASHES, BARS, HEADLINE_ENDS = (SLASH, SLASH, SLASH), (BAR, BAR, BAR), (HEADLINE_END, HEADLINE_END, HEADLINE_END)
DASHES = ord("-"), ord("–"), ord("—")
SOURCE_ENDS, LABEL_ENDS = (ord(":"), BAR, HEADLINE_END), (CLOSE, CLOSE, CLOSE)
BEFORE_SERIAL = tuple(ord(mark) for mark in "#/[(×.!?。")
SOURCE_IS_SHORT = np.float32(5.0)
"""Maximum weight of the words after a bar or dash at the end of a post, for them to name the source of the post, as in
``... | Daily Post``: three or four words. The rest of the post must weigh at least twice as much as they do, plus 2."""
LABEL_IS_SHORT = np.float32(3.5)
"""Maximum weight of the words before a colon or bar at the beginning, for them to name the source of the post, as in
``BBC News: ...``. Heavier ones name its subject, as in ``Leeds weather today: ...``."""
BRACKETED = np.float32(10.0)
"""Maximum weight of a label in brackets; the rest of the post must weigh at least half as much as the label."""
LEAST_BEFORE_SERIAL = np.float32(5.0)
"""Minimum weight of the words and hashtags before a serial number; with less, the number is content, as in ``Episode
#12``."""
TAG_WEIGHT = np.float32(2.0)
"""Weight of a hashtag before a serial number: about that of a word."""
LONGEST_LABEL = 30
"""Maximum number of characters after an ellipsis at the end of a post that may be a label, as in ``... Read more``."""
HEADING = np.float32(8.0)
"""Minimum weight of the words before a colon, bar or dash in a cut post, for them to be its heading. Posts with a
heading come from the feeds of news sites; others post the heading alone."""
OWN_WORDS = np.float32(1.0)
"""Minimum weight of the words outside the quote; with less, only the quote of a post is compared."""


@njit(cache=True, nogil=True, inner=True)
def is_content(kind: np.uint8) -> bool:
    """Return whether a token is content: a word, a character of a script without spaces, or a number."""
    return bool(WORD <= kind <= NUMBER)


@njit(cache=True, nogil=True, inner=True)
def ends_of_content(tokens: Tokens, n: int) -> tuple[int, int]:
    """Return the indices of the first and the last content token of a post; ``n`` and -1 if it has none."""
    head, tail = np.int64(0), np.int64(n - 1)
    while head < n and not is_content(tokens.kinds[head]):
        head += 1
    while tail >= 0 and not is_content(tokens.kinds[tail]):
        tail -= 1
    return head, tail


@njit(cache=True, nogil=True, inner=True)
def weigh(tokens: Tokens, first: int, last: int) -> np.float32:
    """Return the total weight of tokens ``first`` to ``last - 1``."""
    weight = np.float32(0.0)
    for token in range(first, last):
        weight += tokens.weights[token]
    return np.float32(weight)


@njit(cache=True, nogil=True, inner=True)
def arrange(points: UInt32s, first: int, end: int, tokens: Tokens, n: int) -> bool:
    """Mark the quote and the decoration among a post's tokens; return whether the post ends in ``...`` or the like."""
    head, tail = ends_of_content(tokens, n)
    if tail < 0:
        return False
    if tokens.parts[head] == tokens.parts[n - 1]:  # a retweet without a comment is parsed like the post that it repeats
        tokens.parts[:n] = np.int32(0)
        mark_quote(points, end, tokens, n, head, tail)
    if is_serial(points, first, tokens, n, head, tail):
        tokens.kinds[tail] = DROPPED
        head, tail = ends_of_content(tokens, n)
    if tail >= 0:
        mark_source_at_head(points, first, tokens, n, head)
        mark_source_at_tail(points, tokens, n)
    while tail > head and tokens.weights[tail] == np.float32(0.0):  # such as the "via" before a name
        tail -= 1
    for token in range(n):
        if tokens.kinds[token] == TAG and head < token < tail and points[tokens.bounds[token, 1] - 1] != HASH:
            tokens.kinds[token] = WORD
            n_letters = tokens.bounds[token, 1] - tokens.bounds[token, 0] - 1
            tokens.weights[token] = WEIGHTS[1] * min(n_letters, LONGEST)
    return is_cut_off(points, first, end)


@njit(cache=True, nogil=True, inner=True)
def is_cut_off(points: UInt32s, first: int, end: int) -> bool:
    """Return whether a post ends with three dots, an ellipsis, or the closing bracket of 【headline】."""
    while end > first and points[end - 1] == SPACE:
        end -= 1
    if end > first and points[end - 1] in (ELLIPSIS, HEADLINE_END):
        return True
    return end > first + 2 and points[end - 1] == POINT and points[end - 2] == POINT and points[end - 3] == POINT


@njit(cache=True, nogil=True, inner=True)
def start_of_label(points: UInt32s, first: int, end: int, known: Characters) -> int:
    """Return where the label that follows the ellipsis of a cut post begins; ``end`` if there is no label."""
    start, key = end, OFFSET_BASIS
    while start > first and end - start < LONGEST_LABEL and points[start - 1] not in (ELLIPSIS, POINT):
        start -= 1
    if end - start == LONGEST_LABEL or not is_cut_off(points, first, start):
        return end
    for at in range(start, end):
        if known.kinds[points[at]] & (IN_NAME | EXTENDS):
            key = hashed(key, points[at])
    return start if is_in(known.labels, key) else end


@njit(cache=True, nogil=True, inner=True)
def has_mark(points: UInt32s, start: int, end: int, marks: tuple[int, int, int], before: int) -> bool:
    """Return whether ``points[start:end]`` contains one of three marks.

    Unless ``before`` is 0, a mark counts only if the character before it is ``before``.
    """
    for at in range(start, end):
        if points[at] in marks and (before == 0 or (at > start and points[at - 1] == before)):
            return True
    return False


@njit(cache=True, nogil=True, inner=True)
def end_of_heading(points: UInt32s, end: int, tokens: Tokens, n: int) -> int:
    """Return the number of tokens up to the end of the heading of a cut post; 0 if it has no heading.

    A post that ends with 】 is a heading itself, and has none.
    """
    weight, is_whole = np.float32(0.0), has_mark(points, tokens.bounds[n - 1, 1], end, HEADLINE_ENDS, 0)
    for token in range(0 if is_whole else n - 1):
        weight += tokens.weights[token] if is_content(tokens.kinds[token]) else np.float32(0.0)
        start, stop = tokens.bounds[token, 1], tokens.bounds[token + 1, 0]
        ends = has_mark(points, start, stop, SOURCE_ENDS, 0) or has_mark(points, start, stop, DASHES, SPACE)
        if ends and weight >= HEADING:
            return token + 1
    return 0


@njit(cache=True, nogil=True, inner=True)
def mark_quote(points: UInt32s, end: int, tokens: Tokens, n: int, head: int, tail: int) -> None:
    """Mark the tokens of a quotation at the end of the post in ``tokens.parts``.

    A quotation comes after other words, and is in quotation marks or follows ``//``.
    """
    until = tokens.bounds[tail + 1, 0] if tail + 1 < n else end
    mark, quote = opening_mark(points, tokens.bounds[tail, 1], until), np.int64(n)
    first = tokens.bounds[head, 1]
    if mark == 0 and not has_mark(points, first, tokens.bounds[tail, 0], SLASHES, SLASH):
        return
    for token in range(tail, head, -1):
        start, stop = tokens.bounds[token - 1, 1], tokens.bounds[token, 0]
        if has_mark(points, start, stop, SLASHES, SLASH):
            quote = token
        elif mark != 0 and has_mark(points, start, stop, (mark, mark, mark), 0):
            quote, mark = token, np.uint32(0)  # the last one: earlier ones open other quotations
    if quote < n and weigh(tokens, quote, n) >= QUOTED:
        for token in range(quote, n):
            tokens.parts[token] = np.int32(1)


@njit(cache=True, nogil=True, inner=True)
def opening_mark(points: UInt32s, start: int, end: int) -> np.uint32:
    """Find the first closing quotation mark in ``points[start:end]``; return its opening mark, 0 = none found."""
    for at in range(start, end):
        for kind in range(len(QUOTES)):
            if points[at] == QUOTES[kind, 1]:
                return np.uint32(QUOTES[kind, 0])
    return np.uint32(0)


@njit(cache=True, nogil=True, inner=True)
def is_serial(points: UInt32s, first: int, tokens: Tokens, n: int, head: int, tail: int) -> bool:
    """Return whether the last content token, ``tail``, is a serial number of the post.

    A serial number follows a hashtag, an emoji or a mark such as ``#``. The words and hashtags before it weigh at least
    `LEAST_BEFORE_SERIAL` in total.
    """
    if tokens.kinds[tail] != NUMBER:
        return False
    weight = weigh(tokens, head, tail)
    for token in range(tail):
        weight += TAG_WEIGHT if tokens.kinds[token] == TAG else np.float32(0.0)
    if weight < LEAST_BEFORE_SERIAL:
        return False
    for token in range(tail + 1, n):
        if tokens.kinds[token] not in (TAG, EMOJI):
            return False
    if tokens.kinds[tail - 1] in (TAG, EMOJI):
        return True
    before = tokens.bounds[tail, 0] - 1
    while before > first and points[before] == SPACE:
        before -= 1
    return bool(points[before] in BEFORE_SERIAL)


@njit(cache=True, nogil=True, inner=True)
def mark_source_at_head(points: UInt32s, first: int, tokens: Tokens, n: int, head: int) -> None:
    """Mark the words that name the source of a post at its beginning, if any.

    They are a few words before a colon, bar or closing bracket 】, or a label in square brackets.
    """
    weight, start = np.float32(0.0), tokens.bounds[head, 0]
    is_label = start > first and points[start - 1] == OPEN
    longest, ends = (BRACKETED, LABEL_ENDS) if is_label else (LABEL_IS_SHORT, SOURCE_ENDS)
    for token in range(head, n - 1):
        weight += tokens.weights[token]
        if tokens.kinds[token] == NUMBER or weight > longest:
            return
        if has_mark(points, tokens.bounds[token, 1], tokens.bounds[token + 1, 0], ends, 0):
            mark_source(tokens, n, head, token + 1, weight, is_label)
            return


@njit(cache=True, nogil=True, inner=True)
def mark_source_at_tail(points: UInt32s, tokens: Tokens, n: int) -> None:
    """If a post ends with a few words after a bar, or after a space and a dash, mark them as the name of its source."""
    weight = np.float32(0.0)
    for token in range(n - 1, 0, -1):
        weight += tokens.weights[token]
        if tokens.kinds[token] == NUMBER or weight > SOURCE_IS_SHORT:
            return
        start, stop = tokens.bounds[token - 1, 1], tokens.bounds[token, 0]
        if has_mark(points, start, stop, BARS, 0) or has_mark(points, start, stop, DASHES, SPACE):
            mark_source(tokens, n, token, n, weight, False)
            return


@njit(cache=True, nogil=True, inner=True)
def mark_source(tokens: Tokens, n: int, first: int, last: int, weight: np.float32, is_label: bool) -> None:
    """Mark content tokens ``first`` to ``last - 1`` as the name of the post's source, if the rest is long enough.

    ``weight``: the total weight of these tokens. ``is_label``: whether they are in brackets, so that the rest of the
    post may be shorter.
    """
    least = np.float32(0.5) * weight if is_label else np.float32(2.0) * weight + np.float32(2.0)
    if weight == np.float32(0.0) or weigh(tokens, 0, n) - weight < least:
        return
    for token in range(first, last):
        if is_content(tokens.kinds[token]):
            tokens.kinds[token] = SOURCE
