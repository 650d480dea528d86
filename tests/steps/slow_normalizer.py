"""A slow twin of `microblog`: one text at a time, rule after rule, each as its option describes it."""

import re
import unicodedata
from collections.abc import Callable

import regex

from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.decoration import MENTION_REPLACEMENTS, Wording, wording_of
from hybriddup.steps.normalizers.markup import without_markup
from hybriddup.steps.normalizers.microblog import AT_HEAD, MASKS
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.mojibake import repair
from hybriddup.steps.normalizers.patterns import CUT, Pattern, Replacement
from hybriddup.steps.normalizers.spellings import spellings
from hybriddup.steps.normalizers.tables import simplified_characters
from hybriddup.steps.normalizers.wordless import has_words


def normalize_slowly(text: str, options: MicroblogOptions) -> str:
    """The text as `microblog` must leave it; it holds no `patterns.BOUNDARY`."""
    text = normalize_plain_slowly(clean_slowly(text, options), options)
    cleaned = clean_slowly(text, options)
    return text if cleaned == text else normalize_plain_slowly(cleaned, options)


def clean_slowly(text: str, options: MicroblogOptions) -> str:
    """The text without markup and mojibake, of four layers at most."""
    for _ in range(4):
        text = without_markup(text) if options.markup == "drop" else text
        text = repair(text) if options.mojibake == "repair" else text
    return text


def normalize_plain_slowly(text: str, options: MicroblogOptions) -> str:
    """The text without markup as it must come out."""
    text = normalize_words_slowly(text, options)
    begins_as_words = text[:1].isalnum() or text[:1] in AT_HEAD
    if options.repeated_punctuation == "keep" or begins_as_words or has_words(text):
        return text
    return re.sub(r"(\[\w{1,11}\]|[^\w\s<>/])(\s*\1)+", r"\1", text)


def normalize_words_slowly(text: str, options: MicroblogOptions) -> str:
    """The same, with signs as often as they are repeated."""
    text = fold_slowly(text, options)
    if options.repeated_punctuation == "collapse":
        text = re.sub("[.。…]{3,}|…[.。…]|[.。…]…", "…", text)
        text = re.sub("([.。])[.。]", r"\1", text)
        text = re.sub(rf"({patterns.MARKS})\1+", r"\1", text)
    if options.residue != "keep" and options.white_space == "collapse":
        text = re.sub(r" \?+(?= |\Z)", "", re.sub(" +", " ", text).strip(" "))
    rest = rewrite_all(text, options, Wording.ENOUGH)
    if not rest or "drop_decoration" not in (options.urls, options.mentions):
        return rest
    has_decoration = rest != text and any(sign in text for sign in ("@", "/", "www."))
    wording = wording_of(rest, text)
    if not has_decoration or (wording is Wording.LITTLE and "<repost>" in rest):  # quoted words count
        return rest
    return rewrite_all(text, options, wording)


def rewrite_all(text: str, options: MicroblogOptions, wording: Wording) -> str:
    """The folded text after the rules for a post of this wording."""
    for part, *looked_for in RULES:
        text = rewrite(text, options, wording, part, looked_for)
    if options.reposts == "drop_trail":
        text = first_comment(text)
    return finish(text, options)


def fold_slowly(text: str, options: MicroblogOptions) -> str:
    """Characters that look or mean the same become one."""
    plain_space = options.white_space != "keep"
    nfkc: Callable[[str], str] = compose if options.unicode == "nfkc" else str
    before = None
    while text != before:
        before = text
        text = without_invisible(text) if plain_space else text
        text = spellings().fold(text) if options.spelling == "fold" else text
        text = nfkc(nfkc(text).casefold() if options.case == "fold" else text)
    if options.traditional == "simplify":
        text = "".join(simplified_characters().get(character, character) for character in text)
    return "".join(" " if character.isspace() else character for character in text) if plain_space else text


def without_invisible(text: str) -> str:
    """The text without what shows nothing: the property of Unicode, less joiners and the tags of flags."""
    text = regex.sub(r"(?V1)[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\U000e0020-\U000e007f]]", "", text)
    text = regex.sub("[\u2800\ufff9-\ufffb]", "", text)
    return regex.sub("(?<![\U0001f3f4\U000e0020-\U000e007f])[\U000e0020-\U000e007f]+", "", text)


def compose(text: str) -> str:
    """Unicode normalization form KC, of each run of sorted marks the first thirty."""
    return unicodedata.normalize("NFKC", regex.sub(r"(\P{ccc=0}{30})\P{ccc=0}+", r"\1", text))


RULES: list[tuple[str, *tuple[Pattern, ...]]] = [
    ("digits", patterns.DIGITS),
    ("urls", *patterns.LINKS, patterns.ICON_LINK),
    ("hashtags", *patterns.HASHTAGS),
    ("emoji", patterns.EMOJI),
    ("reposts", *patterns.REPOST_MARKERS),
    ("cross_posts", *patterns.CROSS_POSTS),
    ("residue", *patterns.RESIDUE),
    ("urls", patterns.WORD_LINK),
    ("reposts", *patterns.REPOST_COMMENTS),
    ("mentions", patterns.MENTION, patterns.MENTIONS),
    ("residue", patterns.QUESTIONS),
]
"""The part of a post that each rule is about, in order."""


def rewrite(text: str, options: MicroblogOptions, wording: Wording, part: str, looked_for: list[Pattern]) -> str:
    """The text without the part, or with its mask."""
    treatment = getattr(options, part)
    dropping: dict[str, Replacement | None] = {"keep": None, "drop": " ", "drop_trail": CUT, "drop_decoration": " "}
    left = MASKS.get(part, "") if treatment == "mask" else dropping[treatment]
    for pattern in looked_for:
        replacement = left
        if treatment == "drop_decoration":
            replacement = decoration(pattern, wording)
        elif pattern is patterns.MENTIONS:
            replacement = None
        if replacement is not None:
            flags = re.IGNORECASE if options.case == "keep" else re.NOFLAG
            text = re.sub(pattern.source, replacement, text, flags=flags)
    return text


def decoration(pattern: Pattern, wording: Wording) -> Replacement | None:
    """What is left of a link or of mentions where only decoration goes; None = all."""
    if pattern is patterns.MENTION or (pattern in patterns.LINKS and wording is not Wording.ENOUGH):
        return None
    return MENTION_REPLACEMENTS[wording] if pattern is patterns.MENTIONS else " "


def first_comment(text: str) -> str:
    """The first part with a letter or digit of a text that was cut at its repost markers, else all parts."""
    parts = text.split(CUT)
    with_words = [part for part in parts if any(character.isalnum() for character in part)]
    return with_words[0] if with_words else " ".join(parts)


def finish(text: str, options: MicroblogOptions) -> str:
    """The text after what is done with its white space; empty where only masks are left."""
    if options.white_space != "keep":
        text = text.replace(" ", "") if options.white_space == "drop" else re.sub(" +", " ", text).strip()
    left = text
    for part, mask in MASKS.items():
        if getattr(options, part) == "mask":
            left = left.replace(mask.strip(), " ")
    return text if left and not left.isspace() else ""
