"""Makes the tables of characters and words with which posts are parsed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from unicodedata import normalize

import numpy as np
import regex

from hybriddup.data.records import UInt8s, UInt32s, UInt64s, characters_between
from hybriddup.kernels.kept_tables import load_or_make
from hybriddup.kernels.posts import tokens as kernel
from hybriddup.steps.tokenizers.words import word_classes

_KINDS = {
    r"\p{L}\p{Nl}": kernel.LETTER,
    r"\p{Nd}": kernel.DIGIT,
    r"\p{Extended_Pictographic}\p{Regional_Indicator}\p{Co}--[\u00a9\u00ae]": kernel.PICTURE,
    r"\p{Han}": kernel.HAN,
    r"\p{Hiragana}\p{Katakana}\u30fc": kernel.KANA,
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}": kernel.CLUSTER,
    r"\p{Hangul}": kernel.HANGUL,
}
"""Kinds of characters by their Unicode properties; if several match, the last one is used."""
_BITS = {r"\w": kernel.IN_NAME, r"\p{WB=Extend}\p{WB=ZWJ}": kernel.EXTENDS}
PARTICLES = "了啦吧呀啊哦噢喔哟诶欸唉哎嗯呃额哇咯喽罗哒嘞趴叭鸭吗么呢嘛滴嗷呜嘤嘻嘿哈ㅋㅎㅠㅜ"
"""Characters that express only a tone of voice or laughter."""
FILLERS, LABELS = "fillers.txt", "labels.txt"
"""Files of words without content, such as interjections, and of labels after an ellipsis, such as ``Read more``."""
_LAST_ASSIGNED = 0x40000


@cache
def load_characters() -> kernel.Characters:
    """Return the tables of characters, word boundaries, fillers and labels for the kernels."""
    hashes = hashes_of(words_in(FILLERS)), hashes_of(words_in(LABELS))
    kinds = load_or_make("kinds", character_kinds, [__file__], regex.__version__)
    return kernel.Characters(kinds, plain_letters(), word_classes(), *hashes)


def character_kinds() -> UInt8s:
    """Return uint8[0x110000]: the kind and the flags of each code point."""
    kinds = np.zeros(0x110000, np.uint8)
    characters = characters_between(0, _LAST_ASSIGNED)
    for properties, kind in _KINDS.items():
        for run in regex.finditer(rf"[{properties}]++", characters, regex.V1):
            kinds[run.start() : run.end()] = kind
    for properties, bit in _BITS.items():
        for run in regex.finditer(rf"[{properties}]++", characters, regex.V1):
            kinds[run.start() : run.end()] |= bit
    is_mark = (kinds & kernel.EXTENDS != 0) & (kinds & kernel.KIND != kernel.CLUSTER)
    kinds[is_mark] &= ~kernel.KIND
    kinds[list(map(ord, PARTICLES))] |= kernel.IS_PARTICLE
    return kinds


def plain_letters() -> UInt32s:
    """Return uint32[`N_PLAIN`]: the plain letter of each Latin letter with a diacritic, otherwise the code point."""
    plain = np.arange(kernel.N_PLAIN, dtype=np.uint32)
    for point in range(0xC0, kernel.N_PLAIN):
        base = normalize("NFD", chr(point))[0]
        if base.isascii():
            plain[point] = ord(base)
    plain[[ord(letter) for letter in "đøł"]] = [ord(letter) for letter in "dol"]
    return plain


def words_in(name: str) -> set[str]:
    """Return the words of a text file that lists them by language."""
    lines = (files(__package__) / name).read_text("utf-8").splitlines()
    return {word for line in lines if not line.startswith("#") for word in line.partition(":")[2].split()}


def hashes_of(words: Iterable[str]) -> UInt64s:
    """Return uint64[n], ascending: the hash of each word."""
    return np.sort(np.array(list(map(hash_of, words)), np.uint64))


def hash_of(word: str) -> int:
    """Return the hash of a word, as the kernels compute it."""
    value = int(kernel.OFFSET_BASIS)
    for letter in word:
        value = (value ^ ord(letter)) * int(kernel.PRIME) % 2**64
    return value
