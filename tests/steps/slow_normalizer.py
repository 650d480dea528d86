"""A slow twin of `microblog`: one text at a time, rule after rule, each as its option describes it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import regex

from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.folding import INVISIBLE
from hybriddup.steps.normalizers.microblog import MASKS, MicroblogOptions
from hybriddup.steps.normalizers.patterns import CUT, Pattern
from hybriddup.steps.normalizers.tables import simplified_characters


def normalize_slowly(text: str, options: MicroblogOptions) -> str:
    """The text as `microblog` must leave it; it holds no `patterns.BOUNDARY`."""
    text = fold_slowly(text, options)
    if options.repeated_punctuation == "collapse":
        text = re.sub(rf"({patterns.MARKS})\1+", r"\1", text)
    if options.residue != "keep" and options.white_space == "collapse":
        text = re.sub(r" \?+(?= |\Z)", "", re.sub(" +", " ", text).strip(" "))
    for part, *looked_for in RULES:
        text = rewrite(text, options, part, looked_for)
    if options.reposts == "drop_trail":
        text = first_comment(text)
    return finish(text, options)


def fold_slowly(text: str, options: MicroblogOptions) -> str:
    """Characters that look or mean the same become one."""
    plain_space = options.white_space != "keep"
    text = text.translate(INVISIBLE) if plain_space else text
    nfkc: Callable[[str], str] = compose if options.unicode == "nfkc" else str
    before = None
    while text != before:
        before = text
        text = nfkc(nfkc(text).casefold() if options.case == "fold" else text)
    if options.traditional == "simplify":
        text = "".join(simplified_characters().get(character, character) for character in text)
    return "".join(" " if character.isspace() else character for character in text) if plain_space else text


def compose(text: str) -> str:
    """Unicode normalization form KC, with long runs of marks broken as UAX 15 describes."""
    return unicodedata.normalize("NFKC", regex.sub(r"(?V1)([\p{M}--\u034f]{30})(?=[\p{M}--\u034f])", "\\1\u034f", text))


RULES: list[tuple[str, *tuple[Pattern, ...]]] = [
    ("digits", patterns.DIGITS),
    ("urls", *patterns.URLS),
    ("hashtags", *patterns.HASHTAGS),
    ("emoji", patterns.EMOJI),
    ("reposts", *patterns.REPOST_MARKERS),
    ("cross_posts", *patterns.CROSS_POSTS),
    ("mentions", patterns.MENTION),
    ("residue", *patterns.RESIDUE),
    ("reposts", *patterns.REPOST_COMMENTS),
]
"""The part of a post that each rule is about, in order."""


def rewrite(text: str, options: MicroblogOptions, part: str, looked_for: list[Pattern]) -> str:
    """The text without the part, or with its mask."""
    treatment = getattr(options, part)
    if treatment == "keep":
        return text
    left = {"mask": MASKS.get(part, ""), "drop": " ", "drop_trail": CUT}[treatment]
    for pattern in looked_for:
        text = re.sub(pattern.source, left, text, flags=re.IGNORECASE if options.case == "keep" else re.NOFLAG)
    return text


def first_comment(text: str) -> str:
    """The first part with a letter or digit of a text that was cut at its repost markers, else all parts."""
    parts = text.split(CUT)
    with_words = [part for part in parts if any(character.isalnum() for character in part)]
    return with_words[0] if with_words else " ".join(parts)


def finish(text: str, options: MicroblogOptions) -> str:
    """The text after what is done with its white space; empty where only masks are left."""
    text = {
        "keep": lambda: text,
        "collapse": lambda: re.sub(" +", " ", text).strip(),
        "drop": lambda: text.replace(" ", ""),
    }[options.white_space]()
    left = text
    for part, mask in MASKS.items():
        if getattr(options, part) == "mask":
            left = left.replace(mask.strip(), " ")
    return text if left and not left.isspace() else ""
