"""What is known of characters and words before any post is read."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from itertools import product

import numpy as np

from hybriddup.data.records import UInt8s, UInt32s
from hybriddup.kernels.han_numbers import MARKS, NUMERALS
from hybriddup.kernels.post_spans import (
    DIGIT,
    HAN,
    IN_NUMBER,
    IN_WORD,
    IS_PARTICLE,
    LETTER,
    OFFSET_BASIS,
    PICTURE,
    PRIME,
    Dictionary,
    FrequentWords,
)

HAN_CHARACTERS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
PICTURES = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55"
    "\ue000-\uf8ff\U0001f000-\U0001faff\u200d\ufe0f"
)
COMMON = (
    "a an the of to in on at for and or is are was were be been has have had this that these those it its i you we "
    "they he she my your our their me us them with by from as so do does did not no just all any some will would can "
    "could should may via im there here what who how when where why but about into over up out now get got go if than "
    "then too also amp lt gt quot rt http https htt ht"
)
"""English words that are in nearly every text, and what is left of marks and of links that were cut off; they have no
weight."""
PARTICLES = "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额阿哇咯喽罗哒嘞趴叭鸭吗么呢嘛"
"""Han characters that carry a tone of voice: a post with one of them knows each of the others."""
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
ROMAN_TENS, ROMAN_ONES = ("", "x", "xx", "xxx"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
NO_NUMERALS = ("", "i", "v", "x", "xi", "xx", "xxx")
"""The others are Roman numerals in lower case: these are rather a letter, a name or kisses."""
SUFFIXES = ("ings", "ing", "ers", "ies", "ied", "edly", "ed", "es", "s", "ly", "er")
RAREST, N_PLACES = 8.0, 4096
"""The rarity of words that are not among the frequent ones, of which one place in four holds one."""
N_CODE_POINTS = 0x110000
LAST_ASSIGNED = 0x40000
"""No letter, digit or picture that is known to a class stands after it."""


@cache
def load_dictionary() -> Dictionary:
    """Return what the kernels go by."""
    spelled = sorted((hash_of(word), hash_of(f"0{value}")) for word, value in spelled_numbers().items())
    hashes, values = zip(*spelled, strict=True)
    common = np.array(sorted(map(hash_of, COMMON.split())), np.uint64)
    spelled_keys, number_keys = np.array(hashes, np.uint64), np.array(values, np.uint64)
    return Dictionary(classes(), common, spelled_keys, number_keys, suffixes(), frequent_words())


def spelled_numbers() -> dict[str, int]:
    """Return the words that are numbers: up to twelve, and Roman numerals up to 39."""
    numerals = {tens + ones: value for value, (tens, ones) in enumerate(product(ROMAN_TENS, ROMAN_ONES))}
    for word in NO_NUMERALS:
        del numerals[word]
    return {word: value for value, word in enumerate(NUMBERS)} | numerals


def hash_of(word: str) -> int:
    """Return the hash by which kernels know a word."""
    value = int(OFFSET_BASIS)
    for letter in word:
        value = (value ^ ord(letter)) * int(PRIME) % 2**64
    return value


def classes() -> UInt8s:
    """Return uint8[0x110000]: the class of each code point."""
    made = np.zeros(N_CODE_POINTS, np.uint8)
    characters = np.arange(LAST_ASSIGNED, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    for kind, pattern in (
        (LETTER, r"[^\W_]"),
        (DIGIT, r"\d"),
        (HAN, f"[{HAN_CHARACTERS}]"),
        (PICTURE, f"[{PICTURES}]"),
    ):
        for run in re.finditer(f"{pattern}+", characters):
            made[run.start() : run.end()] = kind
    made[list(map(ord, NUMERALS + MARKS))] |= IN_NUMBER
    made[list(map(ord, PARTICLES))] |= IS_PARTICLE
    for run in re.finditer(r"\w+", characters):
        made[run.start() : run.end()] |= IN_WORD
    return made


def suffixes() -> UInt32s:
    """Return uint32[n, longest]: the endings, each filled up with 0."""
    longest = max(map(len, SUFFIXES))
    return np.array([[*map(ord, suffix), *[0] * (longest - len(suffix))] for suffix in SUFFIXES], np.uint32)


def frequent_words() -> FrequentWords:
    """Return the rarities of the words in ``frequent_words.txt``."""
    keys, rarities = np.zeros(N_PLACES, np.uint64), np.full(N_PLACES, RAREST, np.float32)
    lines = (files(__package__) / "frequent_words.txt").read_text("utf-8").splitlines()
    for rarity, *stems in (line.split() for line in lines if not line.startswith("#")):
        for key in map(hash_of, stems):
            place = key % N_PLACES
            while keys[place]:
                place = (place + 1) % N_PLACES
            keys[place], rarities[place] = key, float(rarity)
    return FrequentWords(keys, rarities)
