"""The plain twin of the kernels of `post`: the tokens of posts, their structure, and the features of pairs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import exp, log1p
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import regex
from rapidfuzz.distance import LCSseq

from hybriddup.steps.posts.characters import FILLERS, LABELS, PARTICLES, hash_of, words_in
from hybriddup.steps.verifiers.post.model import Points, shipped_models

EXTEND, CLUSTER = r"[[\p{WB=Extend}\p{WB=ZWJ}]--[\U00040000-\U0010ffff]]", r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
HAN, HANGUL = rf"[\p{{Han}}--{EXTEND}]", rf"[\p{{Hangul}}--{EXTEND}]"
KANA = rf"[[\p{{Hiragana}}\p{{Katakana}}ー]--{EXTEND}]"
SPACELESS = f"[{HAN}{KANA}{HANGUL}{CLUSTER}]"
DIGIT = rf"[\p{{Nd}}--[{CLUSTER}]]"
PICTURE = rf"[[\p{{Extended_Pictographic}}\p{{Regional_Indicator}}\ue000-\uf8ff]--[©®{EXTEND}]--{SPACELESS}]"
LETTER = rf"[[\p{{L}}\p{{Nl}}]--{EXTEND}--{SPACELESS}--{PICTURE}]"
TAG_LETTER = rf"[[\w{EXTEND}]--[\U00040000-\U0010ffff]]"
TOKEN = regex.compile(
    r"(?w)(?P<repost><repost>)|(?P<mask><[a-z]+>)|(?P<name>https?:/(?=[\s\S])[!-\u2e7f]*|@[\w·\-]{1,30})"
    rf"|(?P<word>{LETTER}(?:(?!\b|{SPACELESS})[\s\S])*)|(?P<number>{DIGIT}(?:{DIGIT}|[.,](?={DIGIT}))*)"
    rf"|(?P<character>{SPACELESS}{EXTEND}*)|(?P<emoji>{PICTURE}(?:(?!\b)[\s\S])*|\[(?!_|{DIGIT})\w{{1,10}}\])"
    rf"|(?P<tag>#(?=[^\x00- ])[^#<]{{1,60}}(?<=[^\x00- ])#|#(?={DIGIT}*[{TAG_LETTER}--{DIGIT}]){TAG_LETTER}+)",
    regex.V1,
)
CHARACTER_WEIGHTS = {HAN: 1.0, KANA: 0.5, CLUSTER: 0.35, HANGUL: 0.6}
CONTENT, WORDS = {"word", "character", "number"}, {"word", "character", "number", "name"}
QUOTATION_MARKS = ("“”", '""', "「」", "『』", "«»")
SETS = {"number": "numbers", "tag": "hashtags", "emoji": "emoji", "name": "names", "source": "sources"}


@dataclass
class Token:
    """A part of a post that counts."""

    key: str
    kind: str
    weight: float
    start: int
    end: int
    part: int
    spelling: str
    is_own: bool = False


@dataclass
class Post:
    """What a post says."""

    text: str
    words: list[Token] = field(default_factory=list)
    around: dict[str, Counter[str]] = field(default_factory=dict)
    """Numbers, hashtags, emoji, names and sources; only numbers more than once."""
    is_cut: bool = False
    heading: str = ""
    """The letters of the heading of a cut post."""

    @property
    def letters(self) -> str:
        return spelling(self.words)


@cache
def known(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(words_in(name))


def without_label(text: str) -> str:
    """A post without the label after its ellipsis."""
    match = regex.search(r"(?:…|\.\.\.)([^….]{1,29})\Z", text)
    letters = "" if match is None else "".join(regex.findall(TAG_LETTER, match[1], regex.V1))
    return text[: match.start(1)] if match is not None and letters in known(LABELS) else text


def single(weight: float) -> float:
    """A weight as the kernels hold it."""
    return float(np.float32(weight))


def weigh(tokens: Iterable[Token]) -> float:
    return sum(token.weight for token in tokens)


def weigh_single(tokens: Iterable[Token]) -> np.float32:
    """The same in the precision of the kernels, which limits are compared with."""
    return sum((np.float32(token.weight) for token in tokens), np.float32(0.0))


def tokens_of(text: str) -> list[Token]:
    tokens: list[Token] = []
    part = 0
    for match in TOKEN.finditer(text):
        kind, found = match.lastgroup, match[0]
        part += kind == "repost"
        if kind in {"repost", "mask"}:
            continue
        token = Token(found.replace("\u200d", "").replace("\ufe0f", ""), kind, 1.0, *match.span(), part, found)
        if kind == "word":
            token.key = token.spelling = spelling_of(found)
            token.weight = 0.0 if token.key in known(FILLERS) or is_laughter(found) else word_weight(token.key)
        elif kind == "number":
            token.key = value_of(found)
        elif kind == "tag":
            token.key, token.weight = "".join(regex.findall(TAG_LETTER, found, regex.V1)).replace("_", ""), 0.0
        elif kind == "emoji" and regex.match(r"\p{Regional_Indicator}", found):
            token.kind = "name"
        elif kind == "emoji":
            token.weight = 0.0
        elif kind == "character":
            token.weight = character_weight(found[0])
            token.spelling = found[0] + found[1:].partition(found[0])[0]
        if is_said_again(token, tokens):
            tokens[-1].end = token.end if tokens[-1].end == token.start else tokens[-1].end
        else:
            tokens.append(token)
    return tokens


def is_said_again(token: Token, before: list[Token]) -> bool:
    """Whether a word or character is what the two tokens before it in the same part are."""
    is_same = [(one.key, one.part) for one in before[-2:]] == [(token.key, token.part)] * 2
    return is_same and token.kind in {"word", "character"}


@cache
def spelling_of(word: str) -> str:
    """The letters of a word: no apostrophes and joiners, drawn-out letters once."""
    once = regex.sub(r"(?s)(.)\1{2,}", r"\1", word)
    return "".join(letter for letter in regex.findall(TAG_LETTER, once, regex.V1) if letter != "\u200d")


@cache
def word_weight(spelling: str) -> float:
    """A quarter for each letter without marks, up to eight."""
    return min(len(regex.sub(EXTEND, "", spelling, flags=regex.V1)), 8) / 4


@cache
def character_weight(character: str) -> float:
    """By script; particles weigh nothing."""
    weights = (
        weight for script, weight in CHARACTER_WEIGHTS.items() if regex.match(f"[{script}]", character, regex.V1)
    )
    return 0.0 if character in PARTICLES else single(next(weights))


def is_laughter(word: str) -> bool:
    """Whether a word is made of two letters, one of them an h, j, k or х."""
    return len(word) > 3 and len(set(word)) == 2 and bool(set(word) & set("hjkх"))


def value_of(number: str) -> str:
    """A number without leading zeros, thousands' separators and empty fractions."""
    of_thousands = r"[.,](?=[^.,]{3}(?![^.,]))"
    number = regex.sub(r"\.0{1,2}\Z", "", number)
    return regex.sub(of_thousands, "", regex.sub(rf"\A(?:0(?!\.|\Z)|{of_thousands})*", "", number))


def bounds_of_content(tokens: list[Token]) -> tuple[int, int]:
    """The first and the last token that is content; -1 as the last one if there is none."""
    places = [place for place, token in enumerate(tokens) if token.kind in CONTENT]
    return (places[0], places[-1]) if places else (len(tokens), -1)


def read(text: str) -> Post:
    text = without_label(text)
    tokens = tokens_of(text)
    post = Post(text)
    first, last = bounds_of_content(tokens)
    if last >= 0:
        post.is_cut = text.rstrip(" ").endswith(("…", "...", "】"))
        arrange(text, tokens, first, last)
    for kind, name in SETS.items():
        keys = [token.key for token in tokens if token.kind == kind]
        post.around[name] = Counter(keys if kind == "number" else set(keys))
    words = [token for token in tokens if token.kind in WORDS]
    own, quoted = ([word for word in words if (word.part > 0) == is_quoted] for is_quoted in (False, True))
    if weigh(quoted) > 0 and weigh_single(own) < 1:
        words = quoted
    elif weigh(quoted) > 0:
        for word in own:
            word.is_own = True
    post.words = words
    if post.is_cut:
        end = end_of_heading(text, tokens)
        post.heading = spelling([word for word in words if word.start < end])
    return post


def end_of_heading(text: str, tokens: list[Token]) -> int:
    """Where the heading of a cut post ends, before a colon, bar or dash; 0 without a heading."""
    if "】" in text[tokens[-1].end :]:
        return 0
    for place, token in enumerate(tokens[:-1]):
        is_end = regex.search(r"[:|】]| [-–—]", between(text, tokens, place + 1))
        if is_end and weigh_single([one for one in tokens[: place + 1] if one.kind in CONTENT]) >= 8:
            return token.end
    return 0


def arrange(text: str, tokens: list[Token], first: int, last: int) -> None:
    """Settle what is quoted, a serial number, a source and a hashtag within a sentence."""
    if tokens[-1].part == tokens[first].part:
        for token in tokens:
            token.part = 0
        mark_quote(text, tokens, first, last)
    if is_serial(text, tokens, first, last):
        tokens[last].kind = "dropped"
        first, last = bounds_of_content(tokens)
    if last >= 0:
        mark_source_at_head(text, tokens, first)
        mark_source_at_tail(text, tokens)
    while last > first and tokens[last].weight == 0:
        last -= 1
    for token in tokens[first + 1 : max(last, 0)]:
        if token.kind == "tag" and not token.spelling.endswith("#"):
            token.kind, token.weight = "word", min(token.end - token.start - 1, 8) / 4
            token.spelling = spelling_of(token.spelling)


def between(text: str, tokens: list[Token], place: int) -> str:
    """What is between a token and the one before."""
    return text[tokens[place - 1].end : tokens[place].start]


def mark_quote(text: str, tokens: list[Token], first: int, last: int) -> None:
    """Make a quote in quotation marks, or after two slashes, part 1."""
    after = text[tokens[last].end : tokens[last + 1].start if last + 1 < len(tokens) else len(text)]
    opening = next((one for mark in after for one, other in QUOTATION_MARKS if mark == other), "//")
    for place in range(first + 1, last + 1):
        before = between(text, tokens, place)
        is_quote = "//" in before or opening in before
        if is_quote and weigh_single(tokens[place:]) >= 5:
            for token in tokens[place:]:
                token.part = 1
            return


def is_serial(text: str, tokens: list[Token], first: int, last: int) -> bool:
    """Whether the last word is a number that counts posts."""
    n_tags = sum(token.kind == "tag" for token in tokens[:last])
    if tokens[last].kind != "number" or weigh_single(tokens[first:last]) + 2 * n_tags < 5:
        return False
    if not {token.kind for token in tokens[last + 1 :]} <= {"tag", "emoji"}:
        return False
    if tokens[last - 1].kind in {"tag", "emoji"}:
        return True
    return text[: tokens[last].start].rstrip(" ").endswith(tuple("#/[(×.!?。"))


def mark_source_at_head(text: str, tokens: list[Token], first: int) -> None:
    """One or two words before a colon or bar are a source, and so are a few in brackets."""
    is_label = text[: tokens[first].start].endswith("[")
    ends, most = ("]", 10) if is_label else (":|】", 3.5)
    for place in range(first, len(tokens) - 1):
        if tokens[place].kind == "number" or weigh_single(tokens[first : place + 1]) > most:
            return
        if set(between(text, tokens, place + 1)) & set(ends):
            mark_source(tokens, first, place + 1, weigh_single(tokens[first : place + 1]), is_label=is_label)
            return


def mark_source_at_tail(text: str, tokens: list[Token]) -> None:
    """Few words after a bar or a dash are a source."""
    for place in range(len(tokens) - 1, 0, -1):
        if tokens[place].kind == "number" or weigh_single(reversed(tokens[place:])) > 5:
            return
        if regex.search(r"\|| [-–—]", between(text, tokens, place)):
            mark_source(tokens, place, len(tokens), weigh_single(reversed(tokens[place:])))
            return


def mark_source(tokens: list[Token], first: int, last: int, weight: np.float32, *, is_label: bool = False) -> None:
    """Make words a source if the rest of the post weighs more; a label if it weighs half as much."""
    total = weigh_single(tokens)
    if weight and total - weight >= (weight / 2 if is_label else 2 * weight + 2):
        for token in tokens[first:last]:
            token.kind = "source" if token.kind in CONTENT else token.kind


class Difference(NamedTuple):
    """Some words of either post between aligned ones."""

    a: slice
    b: slice


def differences_of(a: Post, b: Post) -> tuple[list[Difference], list[tuple[int, int]]]:
    """What is between aligned words, and the aligned places of both posts."""
    found: list[Difference] = []
    aligned: list[tuple[int, int]] = []
    for step in LCSseq.opcodes([word.key for word in a.words], [word.key for word in b.words]):
        of_a, of_b = slice(step.src_start, step.src_end), slice(step.dest_start, step.dest_end)
        if step.tag == "equal":
            aligned += zip(range(of_a.start, of_a.stop), range(of_b.start, of_b.stop), strict=True)
        elif found and found[-1].a.stop == of_a.start and found[-1].b.stop == of_b.start:
            found[-1] = Difference(slice(found[-1].a.start, of_a.stop), slice(found[-1].b.start, of_b.stop))
        else:
            found.append(Difference(of_a, of_b))
    merged: list[Difference] = []
    for one in found:
        replaces = [bool(a.words[each.a] and b.words[each.b]) for each in (*merged[-1:], one)]
        if len(replaces) == 2 and all(replaces) and weigh(a.words[merged[-1].a.stop : one.a.start]) <= 0.8:
            merged[-1] = Difference(slice(merged[-1].a.start, one.a.stop), slice(merged[-1].b.start, one.b.stop))
        else:
            merged.append(one)
    return merged, aligned


def split_moved(words: list[Token], one: Post, other: Post) -> tuple[float, float]:
    """The weight of words that the other post has too, at least as often, and of the rest."""
    own, others = (Counter(word.key for word in post.words) for post in (one, other))
    moved = [word for word in words if others[word.key] >= own[word.key]]
    return weigh(moved), weigh(word for word in words if others[word.key] < own[word.key])


def spelling(words: list[Token]) -> str:
    return "".join(word.spelling for word in words)


def has_other_vowels(a: list[Token], b: list[Token]) -> bool:
    """Whether combining marks differ, tones aside, and nothing else."""
    one, other = (regex.sub(r"[\u0e48-\u0e4b]", "", spelling(words)) for words in (a, b))
    return one != other and len({regex.sub(EXTEND, "", letters, flags=regex.V1) for letters in (one, other)}) == 1


def is_respelled(a: list[Token], b: list[Token]) -> bool:
    """Whether two runs of words have the same letters in order, but for few more, and one that is another if long."""
    short, long = sorted([spelling(a), spelling(b)], key=len)
    least = len(short) - (len(short) >= 8)
    if len(long) > min(64, least + 4) or 2 * least < 0.7 * (len(short) + len(long)):
        return False
    best = [0] * (len(long) + 1)  # longest common subsequence, row by row
    for one in short:
        row = [0]
        for place, other in enumerate(long):
            row.append(best[place] + 1 if is_same_letter(one, other) else max(best[place + 1], row[-1]))
        best = row
    return best[-1] >= least


def is_same_letter(one: str, other: str) -> bool:
    """Whether two letters are equal, or one is the other one with a diacritic."""
    return one == other or one == without_diacritic(other) or other == without_diacritic(one)


@cache
def without_diacritic(letter: str) -> str:
    """A Latin letter without its diacritic."""
    plain = normalize("NFD", letter)[0]
    return plain if plain < "\x80" and letter < "\u2000" else {"đ": "d", "ø": "o", "ł": "l"}.get(letter, letter)


def measure_differences(a: Post, b: Post) -> dict[str, float]:
    """What is replaced, moved and added."""
    differences, aligned = differences_of(a, b)
    weights = {"largest_replaced": 0.0, "moved": 0.0, "added_before": 0.0, "added_after": 0.0}
    weighty = [of_a for of_a, _ in aligned if a.words[of_a].weight > 0]
    known_to_a, respelled = {word.key for word in a.words}, 0.0
    for of_a, of_b in differences:
        moved_a, only_a = split_moved(a.words[of_a], a, b)
        moved_b, only_b = split_moved(b.words[of_b], b, a)
        weights["moved"] += moved_a + moved_b
        if only_a > 0.05 and only_b > 0.05:
            replaced = min(only_a, only_b)
            if has_other_vowels(a.words[of_a], b.words[of_b]):
                replaced = max(replaced, 3.0)
            elif is_respelled(a.words[of_a], b.words[of_b]):
                replaced, respelled = 0.0, respelled + only_b
            weights["largest_replaced"] = max(weights["largest_replaced"], replaced)
        elif only_b > 0.05:
            weights["added_after"] += only_b if weighty and of_a.start > weighty[-1] else 0.0
            weights["added_before"] += only_b if weighty and of_a.stop <= weighty[0] else 0.0
    weights["shared"] = weigh(a.words[of_a] for of_a, _ in aligned)
    weights["adding"] = weigh(word for word in b.words if word.key not in known_to_a)
    known_to_b = {word.key for word in b.words}
    if any(word.kind == "word" and len(word.spelling) > 1 and word.key not in known_to_b for word in a.words):
        weights["adding"] = max(weights["adding"] - respelled, 0.0)
    return {name: log1p(weight) for name, weight in weights.items()}


def comment_of(a: Post, b: Post) -> float:
    """The weight of own words beside a quote that the other lacks, if what both have is mostly the quote."""
    _, aligned = differences_of(a, b)
    shared = weigh(a.words[of_a] for of_a, _ in aligned)
    quoted = weigh(a.words[of_a] for of_a, of_b in aligned if not (a.words[of_a].is_own or b.words[of_b].is_own))
    pairs = {"a": {of_a for of_a, _ in aligned}, "b": {of_b for _, of_b in aligned}}
    own = [
        weigh(word for place, word in enumerate(post.words) if word.is_own and place not in pairs[name])
        for name, post in (("a", a), ("b", b))
    ]
    return log1p(max(own)) if 2 * quoted > shared else 0.0


def disagree(one: Counter[str], other: Counter[str]) -> tuple[float, float]:
    """Whether each has something that the other lacks, and whether only one has."""
    more = bool(one - other), bool(other - one)
    return float(all(more)), float(more[0] != more[1])


def features(x: Post, y: Post) -> dict[str, float]:
    a, b = (x, y) if order(x) <= order(y) else (y, x)
    common, n_a, n_b = LCSseq.similarity(a.letters, b.letters), len(a.letters), len(b.letters)
    differ = {name: disagree(a.around[name], b.around[name]) for name in a.around}
    return {
        **measure_differences(a, b),
        "letters_shared": 2 * common / (n_a + n_b) if n_a + n_b else 1.0,
        "letters_contained": common / max(n_a, 1),
        "numbers_differ": differ["numbers"][0],
        "hashtags_differ": differ["hashtags"][0],
        "hashtags_of_one": differ["hashtags"][1],
        "comment": comment_of(a, b),
        "length": log1p(weigh(a.words)),
        "sources_differ": differ["sources"][0],
        "source_of_one": differ["sources"][1],
        "emoji_differ": differ["emoji"][0],
        "names_differ": differ["names"][0],
        "goes_on": float(bool(a.words) and (b.heading == a.letters or (a.is_cut and b.letters.startswith(a.letters)))),
    }


def order(post: Post) -> tuple[Any, ...]:
    """By which the first post of a pair is chosen: its letters, and what makes it another post with the same ones."""
    words = [(hash_of(word.key), single(word.weight)) for word in post.words]
    return len(post.letters), post.letters, len(words), words, not post.is_cut


def body(text: str) -> str:
    post = read(text)
    if weigh(post.words) < 5 and (not post.letters or post.around["hashtags"]):
        return text
    joined = ""
    for place, word in enumerate(post.words):
        joined += word.spelling
        following = post.words[place + 1 : place + 2]
        is_spaced = regex.match(f"[{CLUSTER}]|{HANGUL}", word.spelling, regex.V1) and following[:1] != []
        if following and (word.kind != "character" or (is_spaced and following[0].start > word.end)):
            joined += " "
    return joined


def contained(a: str, b: str) -> float:
    """The share of the characters of the shorter text that the other has, in any order."""
    shorter = min(len(a), len(b))
    return (Counter(a) & Counter(b)).total() / shorter if shorter else 1.0


def lacking_letter_pairs(a: str, b: str) -> int:
    """How many pairs of adjacent letters the text with fewer of them has and the other one lacks."""
    pairs = [Counter(letter_pairs(text)) for text in (a, b)]
    return min(pairs[0].total(), pairs[1].total()) - (pairs[0] & pairs[1]).total()


def letter_pairs(text: str) -> list[int]:
    """The hashes of the pairs of adjacent letters and digits of alphabets."""
    letters = regex.findall(f"[[{LETTER}{DIGIT}]--[\u2e80-\U0010ffff]]", text, regex.V1)
    return [
        ((ord(before) * 0x110001 + ord(letter)) * 0x9E3779B97F4A7C15 % 2**64) >> 52
        for before, letter in pairwise(["\0", *letters])
    ]


def curve(points: Points, value: float) -> float:
    for (x, low), (next_x, high) in pairwise(points):
        if x <= value < next_x:
            return low + (high - low) * (value - x) / (next_x - x)
    return points[0][1] if value < points[0][0] else points[-1][1]


def score(a: str, b: str, compared: tuple[str, str], model: str) -> float:
    """The score of two normalized posts by a shipped model, given what is compared of them."""
    if contained(*compared) < 0.7 or lacking_letter_pairs(*compared) > min(map(len, compared)) / 3:
        return 0.0
    values = features(read(a), read(b))
    others = ("hashtags_differ", "hashtags_of_one", "emoji_differ", "names_differ", "sources_differ")
    if values["letters_shared"] == 1 and not any(values[name] for name in others):
        return 1.0
    if values["goes_on"] and values["length"] >= log1p(3.0):
        return 1.0
    if values["comment"] >= log1p(5.0) or values["numbers_differ"]:
        return 0.0
    if (values["names_differ"] or values["sources_differ"]) and values["length"] < log1p(10.0):
        return 0.0
    if values["length"] == 0 and any(values[name] for name in others[:3]):
        return 0.0
    shipped = shipped_models()[model]
    return 1 / (
        1 + exp(-shipped.intercept - sum(curve(points, values[name]) for name, points in shipped.curves.items()))
    )
