"""Spelling variants: for each script, the letters and signs by which the spellings of one word can differ.

The table is for comparing only, and contains no doubtful variants: only optional signs, and letters that writers of the
script use interchangeably. It excludes vowel signs of Indic scripts, tone marks, and accents of Latin letters, which
distinguish words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

import xxhash

from hybriddup.data.records import characters_between

OPTIONAL = {
    # Vowel points, Quranic marks and tatweel (a stretched line); the press and most posts omit them.
    "Arabic": "\u0610-\u061a\u0640\u064b-\u0652\u0656-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u08d3-\u08e1\u08e3-\u08ff",
    # Vowel points and cantillation marks.
    "Hebrew": "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7",
    # Overlay strokes, which no language uses for spelling (U+0338 turns = into ≠, see below).
    "any": "\u0334-\u0337",
    # Zero-width non-joiner: optional in Persian.
    "Persian": "\u200c",
}
"""Optional signs by script, as character ranges; folding removes them."""

LETTERS = {
    # As in Lucene: alef with hamza or madda, final ya and ta marbuta are often typed as the plain letter.
    "Arabic": {"\u0627": "\u0622\u0623\u0625\u0671-\u0673", "\u064a": "\u0649", "\u0647": "\u0629"},
    # Persian and Urdu keyboards have code points of their own for ya, kaf and ha.
    "Persian": {"\u064a": "\u06cc\u06d2", "\u0643": "\u06a9\u06aa", "\u0647": "\u06be\u06c0-\u06c2"},
    # As in Lucene: words in capitals have no accents, and many posts omit them.
    "Greek": {
        "\u03b1": "\u03ac",
        "\u03b5": "\u03ad",
        "\u03b7": "\u03ae",
        "\u03b9": "\u03af\u03ca\u0390",
        "\u03bf": "\u03cc",
        "\u03c5": "\u03cd\u03cb\u03b0",
        "\u03c9": "\u03ce",
        "\u0391": "\u0386",
        "\u0395": "\u0388",
        "\u0397": "\u0389",
        "\u0399": "\u038a\u03aa",
        "\u039f": "\u038c",
        "\u03a5": "\u038e\u03ab",
        "\u03a9": "\u038f",
    },
    # Only texts for learners print the dots.
    "Cyrillic": {"\u0435": "\u0451", "\u0415": "\u0401"},
    # Phones and programs that change case confuse the Turkish i with and without dot.
    "Latin": {"I": "\u0130", "i": "\u0131"},
    # Keyboards without the Romanian comma below type a cedilla.
    "Romanian": {"\u015f": "\u0219", "\u0163": "\u021b", "\u015e": "\u0218", "\u0162": "\u021a"},
    # Typographic signs and their typed equivalents.
    "any": {
        "'": "\u0060\u00b4\u02b9\u02bb-\u02bd\u02ca\u02cb\u05f3\u055a\u2018-\u201b\u2032\u2035\u2039\u203a\uff07",
        '"': "\u00ab\u00bb\u05f4\u201c-\u201f\u2033\u2036\u300c-\u300f\u301d-\u301f\uff02",
        "-": "\u05be\u2010-\u2015\u2212\u2e3a\u2e3b\ufe58\uff0d",
        "~": "\u223c\u301c",
        "\u2026": "\u22ef",
    },
}
"""Interchangeable letters by script: the folded character, and its variants as character ranges."""


class Sequence(NamedTuple):
    """A spelling variant of more than one character, and its replacement."""

    pattern: str
    """Regular expression that matches the variant."""
    becomes: str
    """Template of the replacement, as for `re.sub`."""
    needs: str
    """Literal that every match contains. It must end with a character that is folded only with its neighbors; the
    normalizer recognizes possible matches by this character."""


_EMOJI = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff\U000e007f"
SEQUENCES = {
    # The lower case of a dotted capital I is i and a combining dot.
    "Latin": [Sequence("(?<=[iI])\u0307", "", "\u0307")],
    # A stroke through a letter or digit; a stroke through a sign changes its meaning.
    "any": [Sequence(r"(?<=\w)\u0338", "", "\u0338")],
    "Devanagari": [
        # Most posts omit the dot of letters in Persian words; not of ड and ढ, where it distinguishes words.
        Sequence("(?<=[\u0915-\u0917\u091c\u092b])\u093c", "", "\u093c"),
        # A nasal before a consonant of its own row is also written as a dot: हिन्दी, हिंदी.
        Sequence("\u0919\u094d(?=[\u0915-\u0918])", "\u0902", "\u0919\u094d"),
        Sequence("\u091e\u094d(?=[\u091a-\u091d])", "\u0902", "\u091e\u094d"),
        Sequence("\u0923\u094d(?=[\u091f-\u0922])", "\u0902", "\u0923\u094d"),
        Sequence("\u0928\u094d(?=[\u0924-\u0927])", "\u0902", "\u0928\u094d"),
        Sequence("\u092e\u094d(?=[\u092a-\u092d])", "\u0902", "\u092e\u094d"),
        # After a vowel sign above the line, the nasal sign loses its bow.
        Sequence("(?<=[\u093f\u0940\u0945-\u094c])\u0901", "\u0902", "\u0901"),
    ],
    # Final consonants have their own code points; older text joins consonant and virama.
    "Malayalam": [
        Sequence(f"{consonant}\u0d4d\u200d", final, "\u200d")
        for consonant, final in zip(
            "\u0d23\u0d28\u0d30\u0d32\u0d33\u0d15", "\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f", strict=True
        )
    ],
    "Bengali": [Sequence("\u09a4\u09cd\u200d", "\u09ce", "\u200d")],
    "Thai": [
        # Two e look like one ae; the ring of am is typed before or after the tone mark.
        Sequence("\u0e40\u0e40", "\u0e41", "\u0e40\u0e40"),
        Sequence("\u0e4d([\u0e48-\u0e4b])", "\\1\u0e4d", "\u0e4d"),
    ],
    # Joiners combine emoji; between letters they only select a glyph.
    "emoji": [Sequence(f"(?<![{_EMOJI}])\u200d", "", "\u200d"), Sequence(f"\u200d(?![{_EMOJI}])", "", "\u200d")],
}
"""By script, the spelling variants that are longer than one character, in the order in which they are replaced."""


class Spellings(NamedTuple):
    """The tables of spelling variants, compiled for folding."""

    becomes: dict[str, str]
    """Folded form of single characters; empty for optional signs."""
    pattern: re.Pattern[str]
    """Matches any key of `becomes`."""
    sequences: tuple[tuple[re.Pattern[str], str, str], ...]
    """For each sequence, its pattern, its replacement template, and the literal that every match contains."""
    together: frozenset[str]
    """Characters whose folding depends on their neighbors."""

    def fold(self, text: str) -> str:
        """Fold the spelling variants of a text in one pass; a replacement can create a new match for another pass."""
        for pattern, template, needs in self.sequences:
            if needs in text:
                text = pattern.sub(template, text)
        return self.pattern.sub(self._folded, text)

    def _folded(self, match: re.Match[str]) -> str:
        return self.becomes[match[0]]


@cache
def spellings() -> Spellings:
    """Return the compiled tables of spelling variants."""
    becomes = dict.fromkeys(_members("".join(OPTIONAL.values())), "")
    becomes |= {
        variant: folded
        for table in LETTERS.values()
        for folded, ranges in table.items()
        for variant in _members(ranges)
    }
    becomes |= _digits()
    sequences = [sequence for of_script in SEQUENCES.values() for sequence in of_script]
    return Spellings(
        becomes,
        re.compile(f"[{''.join(map(re.escape, becomes))}]"),
        tuple((re.compile(sequence.pattern), sequence.becomes, sequence.needs) for sequence in sequences),
        frozenset(sequence.needs[-1] for sequence in sequences),
    )


@cache
def spellings_checksum() -> str:
    """Return a checksum of the tables, for the recipe id."""
    return xxhash.xxh3_128_hexdigest(repr([OPTIONAL, LETTERS, SEQUENCES]).encode())


def _members(ranges: str) -> list[str]:
    """Return the characters of ranges such as ``a-cx``."""
    parts = re.findall("(.)-(.)|(.)", ranges)
    return [chr(point) for first, last, one in parts for point in range(ord(first or one), ord(last or one) + 1)]


def _digits() -> dict[str, str]:
    """Map each decimal digit of other scripts to its ASCII digit."""
    return {digit: str(unicodedata.decimal(digit)) for digit in re.findall(r"\d", characters_between(0x80, 0x10000))}
