"""Normalizer `microblog`: drops from a post what differs between copies of it, such as links and who is mentioned."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hybriddup.data.records import text_lengths
from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.cleaning import Cleaner
from hybriddup.steps.normalizers.decoration import LITTLE_LENGTH, MENTIONS_WHERE, Said, said_in
from hybriddup.steps.normalizers.folding import Folded, Folder, Folding, shared_folder
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.patterns import BOUNDARY, CUT, Pattern, Replacement, Rule, rules
from hybriddup.steps.normalizers.residue import dropper
from hybriddup.steps.normalizers.spellings import spellings_checksum
from hybriddup.steps.normalizers.tables import TRADITIONAL_FILE, table_checksum
from hybriddup.steps.normalizers.wordless import has_words, without_repeats

AT_HEAD = frozenset("#@<【《“\"'(")
"""What mostly begins posts with words."""
MASKS = {
    "urls": " <url> ",
    "mentions": " <user> ",
    "reposts": " <repost> ",
    "hashtags": " <tag> ",
    "emoji": " <emoji> ",
    "digits": "0",
}
"""What stands for a masked part, by option. The spaces keep it apart from marks that it would run into."""

LATER = ("", CUT)
"""What rules may need without it being in a folded text."""

BATCH_CHARACTERS = 1 << 15
"""Texts are folded up to about this many characters together: enough to forget the cost of a call, few enough for the
cache."""


class MicroblogNormalizer:
    """Rewrites posts by its options: a pure function of each text, in time linear in its length.

    A text of which only masks and white space would be left comes out empty, as one of which nothing is left does, so
    that links and mentions alone never make two posts repeats.

    Notes
    -----
    Normalizing twice is the same as once, except with ``white_space: drop``, which can bring together what only
    spaces kept apart (``@ name``), with patterns of one's own, which may match what others left, where brackets around
    a cross-post hold more than 200 characters, where residue stood within a repost marker (``//收起全文d@name``), and
    where markup was escaped more than four times.
    """

    Options = MicroblogOptions

    def __init__(self, options: MicroblogOptions) -> None:
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options only; the rules are compiled anew."""
        return type(self), (self.options,)

    def recipe(self) -> dict[str, str]:
        """Return the checksums of the tables that are in use."""
        options = self.options
        traditional = (
            {"traditional_table": table_checksum(TRADITIONAL_FILE)} if options.traditional == "simplify" else {}
        )
        return traditional | ({"spellings": spellings_checksum()} if options.spelling == "fold" else {})

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        return [text for slice_ in _slices(texts) for text in self._normalize_slice(slice_)]

    def _normalize_slice(self, texts: Sequence[str]) -> list[str]:
        folded = self._folder.fold(texts)
        signs = np.flatnonzero(folded.has_sign).tolist()
        places, cleaned = self._cleaned(signs, texts)
        if places:
            again = self._folder.fold(cleaned)
            put_at(places, again.texts, folded.texts)
            folded.has_literal[places] = again.has_literal
            folded.literals.update(again.literals)
        normalized = self._normalize_folded(folded)
        places, cleaned = self._cleaned(signs, normalized)  # full-width signs are markup only now
        return put_at(places, self._normalize_slice(cleaned), normalized) if places else normalized

    def _cleaned(self, places: Sequence[int], texts: Sequence[str]) -> tuple[list[int], list[str]]:
        """Return at which of the places cleaning changes a text, and what becomes of it."""
        cleaned = [(place, self._cleaner.clean(texts[place])) for place in places]
        changed = [(place, text) for place, text in cleaned if text != texts[place]]
        return [place for place, _ in changed], [text for _, text in changed]

    def _normalize_folded(self, folded: Folded) -> list[str]:
        texts, has_literal = folded.texts, folded.has_literal
        if self._drop_residue is not None:
            shortened = list(map(self._drop_residue, texts))
            has_literal |= np.array([new != old for new, old in zip(shortened, texts, strict=True)], np.bool_)
            texts = shortened
        places = range(len(texts)) if self._rewrites_all else np.flatnonzero(has_literal).tolist()
        rules = {said: rules_that_may_match(rules, folded.literals) for said, rules in self._rules.items()}
        rewritten = put_at(places, self._rewrite(rules, [texts[place] for place in places]), texts)
        return rewritten if self.options.repeated_punctuation == "keep" else signs_once(rewritten)

    def _rewrite(self, rules: dict[Said, list[Rule]], texts: Sequence[str]) -> list[str]:
        """Return folded texts after the rules, which are others where little is said."""
        rewritten = self._rewrite_by(rules[Said.ENOUGH], texts)
        if "drop_decoration" not in (self.options.urls, self.options.mentions):
            return rewritten
        by_said: dict[Said, list[int]] = {said: [] for said in Said}
        for place, (text, rest) in enumerate(zip(texts, rewritten, strict=True)):
            may_be_little = rest and (len(rest) <= LITTLE_LENGTH or not rest[0].isalnum())
            if may_be_little and rest != text and ("@" in text or "/" in text or "www." in text):
                said = said_in(rest, text)
                is_quote = said is Said.LITTLE and MASKS["reposts"].strip() in rest  # what is quoted counts
                by_said[Said.ENOUGH if is_quote else said].append(place)
        for said in (Said.LITTLE, Said.NOTHING):
            again = self._rewrite_by(rules[said], [texts[place] for place in by_said[said]])
            put_at(by_said[said], again, rewritten)
        return rewritten

    def _rewrite_by(self, rules: list[Rule], texts: Sequence[str]) -> list[str]:
        joined = BOUNDARY.join(texts)
        if joined.count(BOUNDARY) >= max(len(texts), 1):  # a text holds the boundary itself: each goes alone
            return self._finish([apply_rules(rules, text) for text in texts])
        return self._finish(apply_rules(rules, joined).split(BOUNDARY)) if texts else []

    def _finish(self, texts: list[str]) -> list[str]:
        """Return texts after the last steps, which look at each as a whole."""
        if self.options.white_space == "collapse":
            texts = [text.strip() for text in texts]
        if self._masks is not None:
            texts = ["" if self._masks.fullmatch(text) else text for text in texts]
        return ["" if text.isspace() else text for text in texts] if self.options.white_space == "keep" else texts

    @cached_property
    def _cleaner(self) -> Cleaner:
        return Cleaner(markup=self.options.markup == "drop", mojibake=self.options.mojibake == "repair")

    @cached_property
    def _folder(self) -> Folder:
        options = self.options
        folding = Folding(
            nfkc=options.unicode == "nfkc",
            case=options.case == "fold",
            simplify=options.traditional == "simplify",
            plain_space=options.white_space != "keep",
            spelling=options.spelling == "fold",
        )
        once = patterns.marks() if options.repeated_punctuation == "collapse" else ""
        once += " " if options.white_space == "collapse" else ""
        literals = tuple(self._literals)
        joins_dots = options.repeated_punctuation == "collapse"
        return shared_folder(
            folding,
            once=once,
            literals=literals,
            signs=self._cleaner.signs,
            drops_questions=self._drops_questions,
            joins_dots=joins_dots,
        )

    @cached_property
    def _drops_questions(self) -> bool:
        """Whether question marks that stand alone go already when a text is folded.

        In some crawls, half of the posts have such marks and nothing else that any rule looks for.
        """
        return self.options.residue != "keep" and self.options.white_space == "collapse"

    @cached_property
    def _drop_residue(self) -> Callable[[str], str] | None:
        """What drops the residue that the user has patterns of; None where there are none."""
        residue = self.options.residue
        return None if isinstance(residue, str) else dropper(residue, ignore_case=self.options.case == "fold")

    @cached_property
    def _literals(self) -> list[str]:
        """What rules look for in a folded text."""
        needed = [*(rule.needs for rule in self._rules[Said.ENOUGH]), *self._mask_literals()]
        if self._drops_questions:
            needed = [CUT if literal == patterns.QUESTIONS.needs else literal for literal in needed]
        return list(dict.fromkeys(filter(None, needed)))

    @cached_property
    def _rewrites_all(self) -> bool:
        """Whether texts without any of the literals are rewritten too."""
        finish_all = self.options.white_space == "keep"  # texts of white space become empty
        return finish_all or any(not rule.needs for rule in self._rules[Said.ENOUGH])

    @cached_property
    def _rules(self) -> dict[Said, list[Rule]]:
        """The rules in order, by how much a post says."""
        return {said: self._rules_where(said) for said in Said}

    def _rules_where(self, said: Said) -> list[Rule]:
        """Return the rules in order. Each comes after those whose work could give it something more to find."""
        options = self.options
        return [
            *self._rules_for(options.digits, patterns.DIGITS, replacement=MASKS["digits"]),
            *self._link_rules(said),
            *self._rules_for(options.hashtags, *patterns.HASHTAGS, replacement=self._left_by("hashtags")),
            *self._rules_for(options.emoji, patterns.EMOJI, replacement=self._left_by("emoji")),
            *self._rules_for(options.reposts, *patterns.REPOST_MARKERS, replacement=self._left_by("reposts")),
            *self._rules_for(options.cross_posts, *patterns.CROSS_POSTS, replacement=" "),
            *self._rules_for(str(options.residue), *patterns.RESIDUE, replacement=" "),
            *self._rules_for(options.urls, patterns.WORD_LINK, replacement=self._left_by("urls")),
            *self._rules_for(options.reposts, *patterns.REPOST_COMMENTS, replacement=self._left_by("reposts")),
            *self._mention_rules(said),
            *self._rules_for(str(options.residue), patterns.QUESTIONS, replacement=" "),
            *self._trail_rules(),
            *self._white_space_rules(),
        ]

    def _link_rules(self, said: Said) -> list[Rule]:
        treatment = self.options.urls
        links = () if treatment == "drop_decoration" and said is not Said.ENOUGH else patterns.LINKS
        return self._rules_for(treatment, *links, patterns.ICON_LINK, replacement=self._left_by("urls"))

    def _mention_rules(self, said: Said) -> list[Rule]:
        treatment = self.options.mentions
        if treatment != "drop_decoration":
            return self._rules_for(treatment, patterns.MENTION, replacement=self._left_by("mentions"))
        replacement = MENTIONS_WHERE[said]
        return [] if replacement is None else self._rules_for(treatment, patterns.MENTIONS, replacement=replacement)

    def _rules_for(self, treatment: str, *looked_for: Pattern, replacement: Replacement) -> list[Rule]:
        if treatment == "keep":
            return []
        return rules(*looked_for, replacement=replacement, ignore_case=self.options.case == "keep")

    def _left_by(self, part: str) -> str:
        treatment = getattr(self.options, part)
        return {"mask": MASKS[part], "drop_trail": CUT}.get(treatment, " ")

    def _trail_rules(self) -> list[Rule]:
        if self.options.reposts != "drop_trail":
            return []
        return rules(patterns.TRAIL, replacement=_first_comment, ignore_case=False)

    def _white_space_rules(self) -> list[Rule]:
        if self.options.white_space == "drop":
            return rules(patterns.SPACES, replacement="", ignore_case=False)
        if self.options.white_space == "collapse":
            return rules(patterns.SEVERAL_SPACES, replacement=" ", ignore_case=False)
        return []

    @cached_property
    def _masks(self) -> re.Pattern[str] | None:
        masks = [re.escape(literal) for literal in self._mask_literals()]
        return re.compile(rf"(?:\s|{'|'.join(masks)})++") if masks else None

    def _mask_literals(self) -> list[str]:
        return [mask.strip() for part, mask in MASKS.items() if getattr(self.options, part) == "mask"]


def rules_that_may_match(rules: Sequence[Rule], literals: Collection[str]) -> list[Rule]:
    """Return the rules of which folded texts hold the literal; what is dropped may bring one with a space together."""
    return [
        rule for rule in rules if rule.needs in literals or rule.needs.strip(" ") != rule.needs or rule.needs in LATER
    ]


def apply_rules(rules: Sequence[Rule], text: str) -> str:
    """Return a text after rules, one after another."""
    for rule in rules:
        if rule.needs in text:
            text = rule.pattern.sub(rule.replacement, text)
    return text


def put_at(places: Sequence[int], texts: Sequence[str], among: list[str]) -> list[str]:
    """Put texts at places of a list, which is changed in place; return it."""
    for place, text in zip(places, texts, strict=True):
        among[place] = text
    return among


def _slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the texts in slices of about `BATCH_CHARACTERS`; a longer text is a slice of its own size."""
    ends = np.cumsum(text_lengths(texts), dtype=np.int64)
    start = 0
    while start < len(texts):
        before = int(ends[start - 1]) if start else 0
        end = int(np.searchsorted(ends, before + BATCH_CHARACTERS)) + 1
        yield texts[start:end]
        start = end


def _first_comment(text: re.Match[str]) -> str:
    """Return the first part with a letter or digit of a text that was cut at its repost markers, else all of it."""
    parts = text[0].split(CUT)
    return next((part for part in parts if any(map(str.isalnum, part))), " ".join(parts))


def signs_once(texts: Sequence[str]) -> list[str]:
    """Return texts in which those without words have each sign once that follows itself.

    Those that begin with a character of `AT_HEAD` stay as they are: nearly all have words, and looking takes time.
    """
    once = list(texts)
    for place, text in enumerate(texts):
        may_lack_words = not text[:1].isalnum() and text[:1] not in AT_HEAD
        if may_lack_words and not has_words(text):
            once[place] = without_repeats(text)
    return once
