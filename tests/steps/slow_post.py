"""The plain twin of the kernels of `post`: what posts say, and what pairs of them share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import groupby, pairwise
from math import exp, log1p
from typing import Any

from rapidfuzz.distance import LCSseq

from hybriddup.kernels.post_features import NAMES
from hybriddup.steps.posts.dictionary import COMMON, HAN_CHARACTERS, NO_NUMERALS, NUMBERS, PARTICLES, PICTURES, SUFFIXES
from hybriddup.steps.verifiers.post.model import shipped_models

HAN = f"[{HAN_CHARACTERS}]"
LETTER = f"(?![{HAN_CHARACTERS}{PICTURES}])[^\\W_]"
SINGLE = rf"(?![\d{HAN_CHARACTERS}{PICTURES}])[^\W_]"
TOKEN = re.compile(
    rf"(?P<repost><repost>)|(?P<mask><[a-z]+>)|(?P<emoji>\[[^\W\d_]\w{{0,9}}\]|[{PICTURES}]+)"
    r"|(?P<headline_end>】)|(?P<hashtag>#(?=[^ \t-\r#])[^#<]{0,60}?(?<=[^ \t-\r#])#|#(?=\d*[^\W\d])\w+)"
    rf"|(?P<number>\d+(?:[.,]\d+)*)|(?P<han>{HAN})"
    rf"|(?P<letters>{SINGLE}(?:\.{SINGLE})++(?!{LETTER})|(?:{LETTER})+(?:'(?:{LETTER})+)*)"
)
LINK_TITLE = re.compile(
    rf"(?<!{LETTER})(?<!/)(?<!(?!{HAN}|{LETTER})[\s\S]\))o(?=[\d\"【《「“]*(?!型|(?<=\d)[年月日号时点]){HAN})[^#<]{{6,}}"
)
NUMERAL, COUNTED = "[零〇一二两三四五六七八九十百千]", "[月日号集季期届级]"
TOLD = re.compile(
    rf"(?:周|(?<=星)期|(?<=礼)拜)(?P<weekday>[日天]|{NUMERAL}(?!{NUMERAL}))"
    rf"|第(?P<ordinal>{NUMERAL}{{1,12}})(?!{NUMERAL})(?:(?={COUNTED})|(?<!第一)(?![….]))"
    rf"|(?<!第)(?<!{NUMERAL})(?<!周)(?<!星期)(?<!礼拜)(?P<counted>{NUMERAL}{{1,12}})(?={COUNTED})"
)
FREQUENT = re.findall(r"^(\d) (.+)$", (files("hybriddup.steps.posts") / "frequent_words.txt").read_text("utf-8"), re.M)
RARITIES = {stem: float(rarity) for rarity, stems in FREQUENT for stem in stems.split()}
CLAUSE, BODY, OWN_WORDS, LITTLE, LEAST_CONTAINED = 8.0, 5.0, 5.0, 3.0, 0.75


@dataclass(frozen=True)
class Word:
    """A word of a post."""

    key: str
    prefix: str
    weight: float
    letters: str
    is_number: bool = False
    tells: tuple[str, ...] = ()
    """The numbers that it tells."""
    in_title: bool = False
    """Whether it stands in the title of a link."""


@dataclass
class Post:
    """What a post says."""

    whole: str
    words: list[Word] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
    hashtags: set[str] = field(default_factory=set)
    emoji: list[str] = field(default_factory=list)
    n_headline: int = 0
    """How many of the words stand before the end of the headline."""

    @property
    def letters(self) -> str:
        """The letters of the words."""
        return "".join(word.letters for word in self.words)


def stem(word: str) -> str:
    """The word without its ending."""
    for suffix in SUFFIXES:
        if len(word) - len(suffix) >= 4 and word.endswith(suffix):
            return word.removesuffix(suffix)
    return word


def number(digits: str) -> Word:
    """A number as a word."""
    value = re.sub(r",(?=\d{3}(?!\d))", "", digits).lstrip("0") or "0"
    return Word(f"0{value}", f"0{value}", 1.0, f"{digits} ", is_number=True, tells=(f"0{value}",))


def value_of(numerals: str) -> int:
    """The number that Han numerals tell."""
    if not re.search("[十百千]", numerals):
        return int("".join(str("零一二三四五六七八九".index(one)) for one in plain_numerals(numerals)))
    groups = re.findall("([^十百千]*)([十百千]?)", plain_numerals(numerals))
    units = {"十": 10, "百": 100, "千": 1000, "": 1}
    return sum((value_of(digits) if digits else int(bool(unit))) * units[unit] for digits, unit in groups)


def plain_numerals(numerals: str) -> str:
    """Numerals by one character for each value."""
    return numerals.replace("〇", "零").replace("两", "二")


def told_from(text: str, place: int) -> tuple[str, ...]:
    """The number that Han characters tell from here on."""
    match = TOLD.match(text, place)
    if match is None:
        return ()
    if day := match["weekday"]:
        return (f"0{2**40 + (7 if day in '日天' else value_of(day))}",)
    return (f"0{value_of(match['ordinal'] or match['counted'])}",)


def spelled_value(word: str) -> int | None:
    """The number that a word is: *two* and *ii* are 2."""
    if word in NUMBERS:
        return NUMBERS.index(word)
    if word in NO_NUMERALS or not re.fullmatch("x{0,3}(ix|iv|v?i{0,3})", word):
        return None
    values = [{"x": 10, "v": 5, "i": 1}[letter] for letter in word]
    return sum(value if value >= max(values[place:]) else -value for place, value in enumerate(values))


def words_of(text: str, place: int = 0, end: int | None = None) -> list[Word]:
    """The words of a text without hashtags."""
    words = []
    for match in TOKEN.finditer(text, place, len(text) if end is None else end):
        found = match[0]
        if match.lastgroup == "han":
            prefix = "particle" if found in PARTICLES else found
            words.append(Word(found, prefix, 1.0, found, tells=told_from(text, match.start())))
        elif match.lastgroup == "number":
            words.append(number(found))
        elif match.lastgroup == "letters" and (value := spelled_value(found)) is not None:
            key = f"0{value}"
            words.append(Word(key, key, 1.0, f"{found} ", is_number=True, tells=(key,)))
        elif match.lastgroup == "letters":
            found = found.replace(".", "")
            plain = found.replace("'", "")
            weight = 0.0 if plain in COMMON.split() else min(len(found), 8) / 4
            at_end = re.fullmatch(r"[^\W\d_]+(\d{1,4})", found)
            tells = number(at_end[1]).tells if at_end else ()
            words.append(Word(stem(plain), stem(plain)[:4], weight, f"{found} ", tells=tells))
    return words


def tokens_of(text: str) -> Iterator[re.Match[str]]:
    """The tokens of a post; a link's title is one."""
    place = 0
    while match := min(
        filter(None, (LINK_TITLE.search(text, place), TOKEN.search(text, place))), key=re.Match.start, default=None
    ):
        yield match
        place = match.end()


def read(text: str) -> Post:
    """What a post says."""
    hashtags_are_words = re.search(HAN, text) is None
    post, parts = Post(text), list[list[Word]]([[]])
    for match in tokens_of(text):
        kind, found = match.lastgroup or "title", match[0]
        if kind == "repost":
            parts.append([])
        elif kind == "emoji":
            pictures = [found] if found.startswith("[") else [one for one in found if one not in "\u200d\ufe0f"]
            post.emoji = [one for one, _ in groupby([*post.emoji, *pictures])]
        elif kind == "hashtag":
            post.hashtags.add("".join(letter for letter in found if letter.isalnum()))
            parts[-1] += words_of(found.strip("#")) if hashtags_are_words else []
        elif kind == "title":
            parts[-1] += [replace(word, in_title=True) for word in words_of(text, match.start() + 1, match.end())]
        elif kind == "headline_end":
            post.n_headline = post.n_headline or (len(parts[0]) if len(parts) == 1 else 0)
        elif kind != "mask":
            parts[-1] += words_of(text, *match.span())
    is_cut = re.search(r"(?:\.\.\.|…) *\Z", text)
    if is_cut:
        last = next((part for part in reversed(parts) if part), [])
        del last[-1:]
    numbers = [(key, word.in_title) for part in parts for word in part for key in word.tells]
    if not is_cut and ends_in_serial_number(text, parts, is_han=not hashtags_are_words):
        del numbers[-1]
    own = sum(word.weight for part in parts for word in part if not word.in_title)
    asks = any(match.lastgroup is None and match[0].rstrip(" ").endswith("?") for match in tokens_of(text))
    if own >= (1 if asks else OWN_WORDS):
        parts = [[word for word in part if not word.in_title] for part in parts]
        numbers = [(key, in_title) for key, in_title in numbers if not in_title]
    post.numbers = Counter(key for key, _ in numbers)
    weights = [sum(word.weight for word in part) for part in parts]
    quotes_count = len(parts) > 1 and weights[0] < CLAUSE and max(weights[1:]) > 0
    post.n_headline = 0 if quotes_count else post.n_headline
    post.words = (
        parts[weights.index(max(weights[1:]), 1)] if quotes_count else [word for part in parts for word in part]
    )
    return post


def ends_in_serial_number(text: str, parts: list[list[Word]], *, is_han: bool) -> bool:
    """Whether a post ends in a number, marks and pictures left aside, before which a sentence ends if it has no Han."""
    last = next((part[-1] for part in reversed(parts) if part), None)
    if last is None or not last.is_number:
        return False
    start, end = last_word(text, hashtags_are_words=not is_han)
    if re.search(rf"{HAN}|{LETTER}|\d", text[end:]):
        return False
    return is_han or text[:start].rstrip(" ").endswith((".", "!", "?"))


def last_word(text: str, *, hashtags_are_words: bool) -> tuple[int, int]:
    """Where the last word of a post begins and ends."""
    span = (0, 0)
    for match in tokens_of(text):
        if match.lastgroup in {"number", "letters", "han"}:
            span = match.span()
        elif match.lastgroup is None or (match.lastgroup == "hashtag" and hashtags_are_words):
            inner = TOKEN.finditer(text, match.start() + 1, match.end() - match[0][1:].endswith("#"))
            span = ([span] + [one.span() for one in inner if one.lastgroup in {"number", "letters", "han"}])[-1]
    return span


def weigh(words: list[Word], known: list[bool]) -> tuple[float, float]:
    """The weight of distinct words that are not known, and of all."""
    distinct = {word.key: (word, is_known) for word, is_known in zip(reversed(words), reversed(known), strict=True)}
    return (
        sum(word.weight for word, is_known in distinct.values() if not is_known),
        sum(word.weight for word, _ in distinct.values()),
    )


def rarities(post: Post, other: Post) -> tuple[float, float, float]:
    """The rarity of distinct words that the other lacks, half where it has the beginning; the rarest; that of all."""
    if re.search(HAN, post.whole + other.whole):
        return 0.0, 0.0, 0.0
    keys, heads = {word.key for word in other.words}, {word.prefix for word in other.words}
    distinct = {word.key: word for word in post.words}
    all_of = {key: RARITIES.get(key, 8.0) for key in distinct}
    lacking = [all_of[key] / (1 + (word.prefix in heads)) for key, word in distinct.items() if key not in keys]
    return sum(lacking), max(lacking, default=0.0), sum(all_of.values())


def places(words: list[Word], known: list[bool]) -> tuple[int, int, int]:
    """How many words with weight are unknown before the first known one, after the last, and between."""
    flags = [is_known for word, is_known in zip(words, known, strict=True) if word.weight]
    if True not in flags:
        return len(flags), 0, 0
    head, tail = flags.index(True), flags[::-1].index(True)
    return head, tail, flags[head : len(flags) - tail].count(False)


def longest_run(a: Post, b: Post) -> int:
    """How many words of a stand in b one after another, by neighbors."""
    neighbors = {(one.prefix, other.prefix) for one, other in zip(b.words, b.words[1:], strict=False)}
    heads = {word.prefix for word in b.words}
    run = longest = 0
    for place, word in enumerate(a.words):
        goes_on = run and (a.words[place - 1].prefix, word.prefix) in neighbors
        run = 0 if word.prefix not in heads else run + 1 if goes_on else 1
        longest = max(longest, run)
    return longest


def features(x: Post, y: Post) -> list[float]:
    """The features of a pair, in the order of the kernel."""
    a, b = (x, y) if (len(x.letters), x.letters) <= (len(y.letters), y.letters) else (y, x)
    n_a, n_b, common = len(a.letters), len(b.letters), LCSseq.similarity(a.letters, b.letters)
    as_sent = 2 * LCSseq.similarity(a.whole, b.whole) / max(len(a.whole) + len(b.whole), 1)
    known = []
    for post, other in ((a, b), (b, a)):
        keys, heads = {word.key for word in other.words}, {word.prefix for word in other.words}
        known.append([not word.weight or word.key in keys or word.prefix in heads for word in post.words])
    (only_a, weight_a), (only_b, weight_b) = weigh(a.words, known[0]), weigh(b.words, known[1])
    contained = 1 - only_a / max(weight_a, 1)
    shared = 1 - (only_a + only_b) / max(weight_a + weight_b, 1)
    head, tail, middle = places(b.words, known[1])
    run, lacking = longest_run(a, b), sum(places(a.words, known[0]))
    more = bool(a.numbers - b.numbers), bool(b.numbers - a.numbers)
    tags = bool(a.hashtags - b.hashtags), bool(b.hashtags - a.hashtags)
    all_tags = a.hashtags | b.hashtags
    (rare_a, rarest_a, all_a), (rare_b, rarest_b, all_b) = rarities(a, b), rarities(b, a)
    return [
        2 * common / (n_a + n_b) if n_a + n_b else 1.0,
        common / n_a if n_a else 0.0,
        log1p(n_a),
        log1p(n_b - common),
        log1p(n_a - common),
        as_sent,
        log1p(only_a),
        log1p(only_b),
        log1p(min(only_a, only_b)),
        contained,
        shared,
        contained * log1p(weight_a),
        shared * log1p(weight_a + weight_b),
        log1p(weight_a),
        log1p(run),
        run / max(len(a.words), 1),
        log1p(head),
        log1p(tail),
        log1p(middle),
        log1p(lacking),
        0.0 if lacking else log1p(tail),
        float(not lacking and [*known[1], False].index(False) >= max(a.n_headline, b.n_headline) > 0),
        float(all(more)),
        float(more[0] != more[1]),
        float(bool(a.numbers) and not any(more)),
        len(a.hashtags & b.hashtags) / max(len(all_tags), 1),
        float(all(tags)),
        float(bool(a.hashtags) != bool(b.hashtags)),
        float(weight_a < LITTLE),
        float(weight_a < LITTLE and a.emoji != b.emoji),
        float(a.letters == b.letters and n_a > 0),
        log1p(rare_b),
        rarest_a,
        rarest_b,
        1 - (rare_a + rare_b) / max(all_a + all_b, 1),
    ]


def body(text: str) -> str:
    """What is compared of a post."""
    post = read(text)
    return post.letters.rstrip() if sum(word.weight for word in post.words) >= BODY else text


def curve(points: list[list[float]], value: float) -> float:
    """The contribution of a value."""
    for (x, low), (next_x, high) in pairwise(points):
        if x <= value < next_x:
            return low + (high - low) * (value - x) / (next_x - x)
    return points[0][1] if value < points[0][0] else points[-1][1]


def score(a: str, b: str, compared: tuple[str, str], model: Mapping[str, Any]) -> float:
    """The score of two normalized posts, of which this is compared, by a model as a configuration writes it."""
    x, y = read(a), read(b)
    if a == b:
        return 1.0
    if LCSseq.similarity(*compared) / min(map(len, compared)) < LEAST_CONTAINED:
        return 0.0
    values = dict(zip(NAMES, features(x, y), strict=True))
    if values["similar"] == 1 and not any(values[at] for at in ("hashtags_differ", "hashtags_of_one", "emoji_differ")):
        return 1.0
    if (values["little_said"] and values["hashtags_differ"]) or (values["length"] == 0 and values["emoji_differ"]):
        return 0.0
    if values["numbers_differ"]:
        return 0.0
    total = model["intercept"] + sum(curve(points, values[name]) for name, points in model.items() if name in values)
    return 1 / (1 + exp(-total))


def model_of(a: str, b: str, name: str | dict[str, str]) -> dict[str, Any]:
    """The shipped model that judges a pair."""
    names = {"han": "weibo", "others": "twitter"} if name == "by_script" else name
    by_script = "han" if re.search(HAN, a + b) else "others"
    return shipped_models()[names if isinstance(names, str) else names[by_script]].to_dict()
