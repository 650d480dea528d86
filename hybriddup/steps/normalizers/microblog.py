"""Normalizer `microblog`: removes the parts in which copies of a post differ, such as links and mentions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from hybriddup.data.records import text_lengths
from hybriddup.data.spread import slices_of_size
from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.cleaning import Cleaner
from hybriddup.steps.normalizers.decoration import LITTLE_LENGTH, MENTION_REPLACEMENTS, Wording, wording_of
from hybriddup.steps.normalizers.folding import Folded, Folder, Folding, shared_folder
from hybriddup.steps.normalizers.microblog_options import MicroblogOptions
from hybriddup.steps.normalizers.patterns import BOUNDARY, CUT, Pattern, Replacement, Rule
from hybriddup.steps.normalizers.residue import dropper
from hybriddup.steps.normalizers.spellings import spellings_checksum
from hybriddup.steps.normalizers.tables import TRADITIONAL_FILE, table_checksum
from hybriddup.steps.normalizers.wordless import has_words, without_repeats

AT_HEAD = frozenset("#@<【《“\"'(")
"""Signs with which posts begin that nearly always have words, so that they need no check for words."""
MASKS = {
    "urls": " <url> ",
    "mentions": " <user> ",
    "reposts": " <repost> ",
    "hashtags": " <tag> ",
    "emoji": " <emoji> ",
    "digits": "0",
}
"""Placeholder of a masked part, by option. The spaces keep it apart from the marks around it."""

LATER = ("", CUT)
"""Values of `Rule.needs` that are not searched for in a folded text: a rule without a literal may match any text, and
`CUT` is put into the text by an earlier rule."""

BATCH_CHARACTERS = 1 << 15
"""Approximate number of characters folded per call: few enough for the CPU cache, enough to make calls cheap."""


class MicroblogNormalizer:
    """Rewrites posts according to its options: a pure function of each text, in time linear in its length.

    A text that is reduced to masks and white space becomes empty, so that links and mentions alone never make two posts
    repeats.

    Notes
    -----
    Normalizing is idempotent, with five exceptions: ``white_space: drop``, which can join what only spaces kept apart
    (``@ name``); custom patterns, which may match the result of other patterns; brackets around a cross-post with more
    than 200 characters; platform leftovers within a repost marker (``//收起全文d@name``); and markup escaped more than
    four times.
    """

    Options = MicroblogOptions

    def __init__(self, options: MicroblogOptions) -> None:
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options only; the rules are compiled again."""
        return type(self), (self.options,)

    def recipe(self) -> dict[str, str]:
        """Return the component's part of the recipe id: checksums of the tables of spellings and characters in use."""
        options = self.options
        traditional = (
            {"traditional_table": table_checksum(TRADITIONAL_FILE)} if options.traditional == "simplify" else {}
        )
        return traditional | ({"spellings": spellings_checksum()} if options.spelling == "fold" else {})

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return one normalized text per text, in order."""
        slices = slices_of_size(text_lengths(texts), BATCH_CHARACTERS)
        return [text for some in slices for text in self._normalize_slice(texts[some])]

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
        """Clean the texts at the indices ``places``; return the indices of changed texts, and their clean versions."""
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
        rules = {wording: rules_that_may_match(rules, folded.literals) for wording, rules in self._rules.items()}
        rewritten = put_at(places, self._rewrite(rules, [texts[place] for place in places]), texts)
        return rewritten if self.options.repeated_punctuation == "keep" else collapse_signs(rewritten)

    def _rewrite(self, rules: dict[Wording, list[Rule]], texts: Sequence[str]) -> list[str]:
        """Apply to each folded text the rules for its wording: posts with few or no words have their own rules."""
        rewritten = self._rewrite_by(rules[Wording.ENOUGH], texts)
        if "drop_decoration" not in (self.options.urls, self.options.mentions):
            return rewritten
        places: dict[Wording, list[int]] = {wording: [] for wording in Wording}
        for place, (text, rest) in enumerate(zip(texts, rewritten, strict=True)):
            may_be_little = rest and (len(rest) <= LITTLE_LENGTH or not rest[0].isalnum())
            if may_be_little and rest != text and ("@" in text or "/" in text or "www." in text):
                wording = wording_of(rest, text)
                is_quote = wording is Wording.LITTLE and MASKS["reposts"].strip() in rest  # quoted words count
                places[Wording.ENOUGH if is_quote else wording].append(place)
        for wording in (Wording.LITTLE, Wording.NONE):
            again = self._rewrite_by(rules[wording], [texts[place] for place in places[wording]])
            put_at(places[wording], again, rewritten)
        return rewritten

    def _rewrite_by(self, rules: list[Rule], texts: Sequence[str]) -> list[str]:
        joined = BOUNDARY.join(texts)
        if joined.count(BOUNDARY) >= max(len(texts), 1):  # a text contains the boundary itself: one text at a time
            return self._finish([apply_rules(rules, text) for text in texts])
        return self._finish(apply_rules(rules, joined).split(BOUNDARY)) if texts else []

    def _finish(self, texts: list[str]) -> list[str]:
        """Empty the texts that have only masks or white space; with ``white_space: collapse``, strip all texts."""
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
        return shared_folder(
            folding, once=once, literals=literals, signs=self._cleaner.signs, drops_questions=self._drops_questions
        )

    @cached_property
    def _drops_questions(self) -> bool:
        """Whether question marks between spaces are removed by folding, not by a rule.

        This saves time: in some crawls, half of the posts have such marks, but match no other rule.
        """
        return self.options.residue != "keep" and self.options.white_space == "collapse"

    @cached_property
    def _drop_residue(self) -> Callable[[str], str] | None:
        """Function that drops the matches of the user's own patterns for platform leftovers; None without patterns."""
        residue = self.options.residue
        return None if isinstance(residue, str) else dropper(residue, ignore_case=self.options.case == "fold")

    @cached_property
    def _literals(self) -> list[str]:
        """Literals that rules need: a folded text without any of them stays unchanged, unless `_rewrites_all`."""
        needed = [*(rule.needs for rule in self._rules[Wording.ENOUGH]), *self._mask_literals()]
        if self._drops_questions:
            needed = [CUT if literal == patterns.QUESTIONS.needs else literal for literal in needed]
        return list(dict.fromkeys(filter(None, needed)))

    @cached_property
    def _rewrites_all(self) -> bool:
        """Whether even texts that contain none of `_literals` are rewritten."""
        finish_all = self.options.white_space == "keep"  # texts of white space become empty
        return finish_all or any(not rule.needs for rule in self._rules[Wording.ENOUGH])

    @cached_property
    def _rules(self) -> dict[Wording, list[Rule]]:
        """For each `Wording` (how much text a post has), the rules in the order in which they apply."""
        return {wording: self._rules_for_wording(wording) for wording in Wording}

    def _rules_for_wording(self, wording: Wording) -> list[Rule]:
        """Return the rules for posts of this `Wording`, each after all rules that can create matches for it."""
        options = self.options
        return [
            *self._rules_for(options.digits, patterns.DIGITS, replacement=MASKS["digits"]),
            *self._link_rules(wording),
            *self._rules_for(options.hashtags, *patterns.HASHTAGS, replacement=self._left_by("hashtags")),
            *self._rules_for(options.emoji, patterns.EMOJI, replacement=self._left_by("emoji")),
            *self._rules_for(options.reposts, *patterns.REPOST_MARKERS, replacement=self._left_by("reposts")),
            *self._rules_for(options.cross_posts, *patterns.CROSS_POSTS, replacement=" "),
            *self._rules_for(str(options.residue), *patterns.RESIDUE, replacement=" "),
            *self._rules_for(options.urls, patterns.WORD_LINK, replacement=self._left_by("urls")),
            *self._rules_for(options.reposts, *patterns.REPOST_COMMENTS, replacement=self._left_by("reposts")),
            *self._mention_rules(wording),
            *self._rules_for(str(options.residue), patterns.QUESTIONS, replacement=" "),
            *([patterns.TRAIL] if options.reposts == "drop_trail" else []),
            *patterns.WHITE_SPACE[options.white_space],
        ]

    def _link_rules(self, wording: Wording) -> list[Rule]:
        treatment = self.options.urls
        links = () if treatment == "drop_decoration" and wording is not Wording.ENOUGH else patterns.LINKS
        return self._rules_for(treatment, *links, patterns.ICON_LINK, replacement=self._left_by("urls"))

    def _mention_rules(self, wording: Wording) -> list[Rule]:
        treatment = self.options.mentions
        if treatment != "drop_decoration":
            return self._rules_for(treatment, patterns.MENTION, replacement=self._left_by("mentions"))
        replacement = MENTION_REPLACEMENTS[wording]
        return [] if replacement is None else self._rules_for(treatment, patterns.MENTIONS, replacement=replacement)

    def _rules_for(self, treatment: str, *parts: Pattern, replacement: Replacement) -> list[Rule]:
        """Return one rule per part, in order; none with the treatment ``keep``.

        If the case of texts is kept, `Rule.needs` is empty, because it is case-sensitive.
        """
        if treatment == "keep":
            return []
        if self.options.case == "keep":
            return [Rule(re.compile(part.source, re.IGNORECASE), replacement, "") for part in parts]
        return [Rule(re.compile(part.source), replacement, part.needs) for part in parts]

    def _left_by(self, part: str) -> str:
        treatment = getattr(self.options, part)
        return {"mask": MASKS[part], "drop_trail": CUT}.get(treatment, " ")

    @cached_property
    def _masks(self) -> re.Pattern[str] | None:
        masks = [re.escape(literal) for literal in self._mask_literals()]
        return re.compile(rf"(?:\s|{'|'.join(masks)})++") if masks else None

    def _mask_literals(self) -> list[str]:
        return [mask.strip() for part, mask in MASKS.items() if getattr(self.options, part) == "mask"]


def rules_that_may_match(rules: Sequence[Rule], literals: Collection[str]) -> list[Rule]:
    """Return the rules that may match: their literal is among ``literals``, or another rule may produce it."""
    return [
        rule for rule in rules if rule.needs in literals or rule.needs.strip(" ") != rule.needs or rule.needs in LATER
    ]


def apply_rules(rules: Sequence[Rule], text: str) -> str:
    """Apply rules to a text, in order."""
    for rule in rules:
        if rule.needs in text:
            text = rule.pattern.sub(rule.replacement, text)
    return text


def put_at(places: Sequence[int], texts: Sequence[str], among: list[str]) -> list[str]:
    """Write ``texts`` to the indices ``places`` of ``among``, in place, and return ``among``."""
    for place, text in zip(places, texts, strict=True):
        among[place] = text
    return among


def collapse_signs(texts: Sequence[str]) -> list[str]:
    """Reduce repeats of an emoji, emoticon or mark to one, such as ``👍👍`` to ``👍``, in the texts without words.

    Texts that begin with a character of `AT_HEAD` stay unchanged: nearly all have words, and checking takes time.
    """
    once = list(texts)
    for place in [place for place, text in enumerate(texts) if not text[:1].isalnum()]:
        if texts[place][:1] not in AT_HEAD and not has_words(texts[place]):
            once[place] = without_repeats(texts[place])
    return once
