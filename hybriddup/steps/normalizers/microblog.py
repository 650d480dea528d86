"""Normalizer `microblog`: drops from a post what differs between copies of it, such as links and who is mentioned."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hybriddup.data.records import text_lengths
from hybriddup.steps.normalizers import patterns
from hybriddup.steps.normalizers.folding import Folder, Folding, shared_folder
from hybriddup.steps.normalizers.patterns import BOUNDARY, CUT, Pattern, Rule, rules
from hybriddup.steps.normalizers.residue import ResiduePattern, dropper
from hybriddup.steps.normalizers.tables import TRADITIONAL_FILE, table_checksum
from hybriddup.steps.options import Options as ComponentOptions

Treatment = Literal["keep", "drop", "mask"]

MASKS = {
    "urls": " <url> ",
    "mentions": " <user> ",
    "reposts": " <repost> ",
    "hashtags": " <tag> ",
    "emoji": " <emoji> ",
    "digits": "0",
}
"""What stands for a masked part, by option. The spaces keep it apart from marks that it would run into."""

BATCH_CHARACTERS = 1 << 15
"""Texts are folded up to about this many characters together: enough to forget the cost of a call, few enough for the
cache."""


class MicroblogOptions(ComponentOptions):
    """What `microblog` does with each part of a post; the defaults suit Weibo."""

    unicode: Literal["nfkc", "none"] = Field(
        "nfkc", description="nfkc: one form for full-width, ligature and accented characters (Unicode NFKC)."
    )
    case: Literal["fold", "keep"] = Field("fold", description="fold: upper and lower case count as the same.")
    traditional: Literal["simplify", "keep"] = Field(
        "simplify", description="simplify: traditional Chinese characters become simplified ones, one by one."
    )
    urls: Treatment = Field("drop", description="http:// and www. addresses, t.cn links, and Weibo's O网页链接.")
    mentions: Treatment = Field("drop", description="@user; a mail address stays.")
    reposts: Literal["keep", "drop", "mask", "drop_trail"] = Field(
        "drop",
        description="Repost markers //@user: and RT @user:, the address 回复@user:, and the stock comment 转发微博. "
        "drop: the marks go, quoted words stay. drop_trail: the quotes go too, all after the first comment with words.",
    )
    cross_posts: Literal["keep", "drop"] = Field(
        "keep", description="(x-post from r/pics) and the like, which say where else a title was posted."
    )
    hashtags: Treatment = Field("keep", description="#topic# as on Weibo, #topic as elsewhere.")
    emoji: Treatment = Field(
        "keep", description="Emoji, icons in private characters, and emoticons in brackets such as [doge]."
    )
    residue: Literal["keep", "drop"] | Annotated[tuple[ResiduePattern, ...], Field(min_length=1)] = Field(
        "keep",
        description="What Weibo and its crawlers leave in a text: 收起全文d, L新华网的秒拍视频, a place such as "
        "2内江, and question marks that stand alone where emoji were. A list of regular expressions (of RE2, found in "
        "text in lower case, half width and simplified characters, as far as these are asked for) drops what these "
        "match, and then the same.",
    )
    digits: Literal["keep", "mask"] = Field("keep", description="mask: each run of digits becomes 0.")
    repeated_punctuation: Literal["keep", "collapse"] = Field(
        "collapse",
        description="collapse: a mark that is repeated, such as ！！！, stands once; # and / are left alone.",
    )
    white_space: Literal["keep", "collapse", "drop"] = Field(
        "collapse",
        description="collapse: runs become one space, none at either end; drop: none is left. Both drop invisible "
        "characters, such as zero-width spaces and direction marks.",
    )


class MicroblogNormalizer:
    """Rewrites posts by its options: a pure function of each text, in time linear in its length.

    A text of which only masks and white space would be left comes out empty, as one of which nothing is left does, so
    that links and mentions alone never make two posts repeats.

    Notes
    -----
    Normalizing twice is the same as once, except with ``white_space: drop``, which can bring together what only
    spaces kept apart (``@ name``), with patterns of one's own, which may match what others left, and where brackets
    around a cross-post hold more than 200 characters.
    """

    Options = MicroblogOptions

    def __init__(self, options: MicroblogOptions) -> None:
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options only; the rules are compiled anew."""
        return type(self), (self.options,)

    def recipe(self) -> dict[str, str]:
        """Return the checksum of the traditional-to-simplified table, where it is in use."""
        return {"traditional_table": table_checksum(TRADITIONAL_FILE)} if self.options.traditional == "simplify" else {}

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        return [text for slice_ in _slices(texts) for text in self._normalize_slice(slice_)]

    def _normalize_slice(self, texts: Sequence[str]) -> list[str]:
        normalized, has_literal = self._folder.fold(texts)
        if self._drop_residue is not None:
            shortened = list(map(self._drop_residue, normalized))
            has_literal |= np.array([new != old for new, old in zip(shortened, normalized, strict=True)], np.bool_)
            normalized = shortened
        places = range(len(texts)) if self._literals is None else np.flatnonzero(has_literal).tolist()
        rewritten = self._rewrite([normalized[place] for place in places])
        for place, text in zip(places, self._finish(rewritten), strict=True):
            normalized[place] = text
        return normalized

    def _rewrite(self, texts: Sequence[str]) -> list[str]:
        """Return folded texts after the rules."""
        joined = BOUNDARY.join(texts)
        if joined.count(BOUNDARY) >= max(len(texts), 1):  # a text holds the boundary itself: each goes alone
            return [self._apply_rules(text) for text in texts]
        return self._apply_rules(joined).split(BOUNDARY) if texts else []

    def _apply_rules(self, joined: str) -> str:
        for rule in self._rules:
            if rule.needs in joined:
                joined = rule.pattern.sub(rule.replacement, joined)
        return joined

    def _finish(self, texts: list[str]) -> list[str]:
        """Return texts after the last steps, which look at each as a whole."""
        if self.options.white_space == "collapse":
            texts = [text.strip() for text in texts]
        if self._masks is not None:
            texts = ["" if self._masks.fullmatch(text) else text for text in texts]
        return ["" if text.isspace() else text for text in texts] if self.options.white_space == "keep" else texts

    @cached_property
    def _folder(self) -> Folder:
        options = self.options
        folding = Folding(
            nfkc=options.unicode == "nfkc",
            case=options.case == "fold",
            simplify=options.traditional == "simplify",
            plain_space=options.white_space != "keep",
        )
        once = patterns.marks() if options.repeated_punctuation == "collapse" else ""
        once += " " if options.white_space == "collapse" else ""
        literals = tuple(self._literals or ())
        return shared_folder(folding, once=once, literals=literals, drops_questions=self._drops_questions)

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
    def _literals(self) -> list[str] | None:
        """The literals of which a folded text must hold one to be rewritten; None where any text may be."""
        needed = [*(rule.needs for rule in self._rules), *self._mask_literals()]
        if self._drops_questions:
            needed = [literal for literal in needed if literal != patterns.QUESTIONS.needs]
        finish_all = self.options.white_space == "keep"  # texts of white space become empty
        return None if finish_all or "" in needed else list(dict.fromkeys(needed))

    @cached_property
    def _rules(self) -> list[Rule]:
        """The rules in order. Each comes after those whose work could give it something more to find."""
        return [
            *self._rules_for(self.options.digits, patterns.DIGITS, replacement=MASKS["digits"]),
            *self._rules_for(self.options.urls, *patterns.URLS, replacement=self._left_by("urls")),
            *self._rules_for(self.options.hashtags, *patterns.HASHTAGS, replacement=self._left_by("hashtags")),
            *self._rules_for(self.options.emoji, patterns.EMOJI, replacement=self._left_by("emoji")),
            *self._rules_for(self.options.reposts, *patterns.REPOST_MARKERS, replacement=self._left_by("reposts")),
            *self._rules_for(self.options.cross_posts, *patterns.CROSS_POSTS, replacement=" "),
            *self._rules_for(self.options.mentions, patterns.MENTION, replacement=self._left_by("mentions")),
            *self._rules_for(str(self.options.residue), *patterns.RESIDUE, replacement=" "),
            *self._rules_for(self.options.reposts, *patterns.REPOST_COMMENTS, replacement=self._left_by("reposts")),
            *self._trail_rules(),
            *self._white_space_rules(),
        ]

    def _rules_for(self, treatment: str, *looked_for: Pattern, replacement: str) -> list[Rule]:
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
