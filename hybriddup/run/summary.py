"""The summary of a run: counts of posts, the time of each step, and the limits that applied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from hybriddup.config.settings import Settings, SingleVerifier
from hybriddup.data.records import Int32s
from hybriddup.data.spread import spread_rows
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.normalizers.markup import has_tags

FEWEST_TEXTS = 100
"""Minimum number of texts for notes on their length or kind."""
SHORT = 10
"""Smallest length of a text that can be compared by similarity, in characters."""
LONG = 1000
"""Number of characters from which a text counts as long; posts, messages and headlines are rarely as long."""


@dataclass
class StepTiming:
    """Wall time of one step, and its number of items."""

    step: str
    seconds: float
    n: int
    unit: str
    """Name of the items that ``n`` counts, such as ``posts`` or ``pairs``."""

    @property
    def rate(self) -> float:
        """Items per second; 0.0 if the step took no measurable time."""
        return self.n / self.seconds if self.seconds > 0 else 0.0


@dataclass(repr=False)
class Summary:
    """Counts, timings and estimates of one run; `to_dict` gives plain data for machines."""

    n_read: int = 0
    """Number of input posts, without bad lines. Posts of ``against`` are not included; see `n_against`."""
    n_bad_lines: int = 0
    n_exact: int = 0
    n_near: int = 0
    n_kept: int = 0
    n_originals: int = 0
    """Number of posts removed because later posts repeat them (``keep: none``); these count neither as kept nor as
    repeats."""
    n_without_text: int = 0
    """Number of posts without text after normalizing; with ``without_text: drop``, none of these counts as kept or
    removed."""
    n_against: int = 0
    """Number of posts given as ``against``, which are always kept; no other count includes these posts."""
    n_removed_against: int = 0
    """Number of removed posts that repeat a post of another corpus (``against``)."""
    n_candidate_pairs: int = 0
    n_verified_pairs: int = 0
    estimated_stage1_recall: float | None = None
    """Estimated share of all repeats that the search for candidates (stage 1) found; a sample of the kept posts is
    compared with all earlier kept posts. None if the audit is off or there was nothing to sample."""
    estimated_stage1_recall_margin: float | None = None
    """Half the width of the 95 % interval of the estimated recall."""
    recipe_id: str = ""
    config: str = ""
    """Name or path of the configuration that was used."""
    workers: int = 1
    blocks: BlockReport = field(default_factory=BlockReport)
    timings: list[StepTiming] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Remarks for the user, such as why a tokenizer ran in one process only."""

    @property
    def in_one_line(self) -> str:
        """Numbers of kept and removed posts, as one line."""
        n_removed = self.n_exact + self.n_near
        return (
            f"kept {self.n_kept:,} of {self.n_read:,}, removed {n_removed:,} "
            f"({self.n_exact:,} exact, {self.n_near:,} near)"
        )

    def __repr__(self) -> str:
        return f"Summary: {self.in_one_line}"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain data for JSON."""
        return asdict(self)


OF_POSTS, MOST_LOOKED_AT = ("posts", "twitter"), 1024
"""Names of the models for posts; maximum number of texts that are read to recognize titles or text messages."""
SIGNS = {
    "sentence": re.compile(r"[.。!！?？…~～)）」]\W*$"),
    "post": re.compile(r"@\w|https?://|\bRT\b|#\w|\[\w+\]|[\U0001f000-\U0001ffff]"),
    "message": re.compile(r"退订|验证码|取件码|verification code|\bOTP\b|reply STOP|STOP to", re.IGNORECASE),
}
FROM_TEMPLATES, NOT_A_TITLE, TITLE = 0.1, 0.15, (12, 90)
"""Thresholds for recognizing text messages and titles: minimum share of messages from templates, maximum share of texts
that are not titles, and range of the median length of titles."""


def notes_on_lengths(settings: Settings, lengths: Int32s) -> Iterator[str]:
    """Yield a note if another configuration might better suit texts of these lengths, int32[n_texts]."""
    lengths = lengths[lengths > 0]
    if len(lengths) < FEWEST_TEXTS:
        return
    median = int(np.median(lengths))
    band = next(band for _, band in settings.bands() if band.up_to is None or median <= band.up_to)
    if band.exact_only and median >= SHORT and any(not one.exact_only for one in settings.lengths):
        yield (
            f"half of the texts have at most {median:,} characters, and only equal texts of this length are repeats; "
            f"posts, weibo, twitter, sms and headlines are made for short texts."
        )
    elif median > LONG and isinstance(band.verifier, SingleVerifier) and band.verifier.use == "post":
        yield (
            f"half of the texts have more than {median:,} characters; the verifier post judges short ones, and the "
            f"configuration articles is made for long ones."
        )


def notes_on_kind(settings: Settings, texts: Sequence[str]) -> Iterator[str]:
    """Yield a note if the texts look like titles or text messages, for which there are other configurations."""
    judged = [band.verifier for band in settings.lengths if isinstance(band.verifier, SingleVerifier)]
    is_of_posts = any(one.use == "post" and one.options.get("model") in OF_POSTS for one in judged)
    if len(texts) < FEWEST_TEXTS or not is_of_posts:
        return
    some = [texts[row].strip() for row in spread_rows(len(texts), MOST_LOOKED_AT).tolist()]
    median = int(np.median([len(text) for text in some]))
    signs = {name: sum(map(bool, map(pattern.search, some))) / len(some) for name, pattern in SIGNS.items()}
    if signs["message"] >= FROM_TEMPLATES:
        yield f"{signs['message']:.0%} of the texts look like text messages from templates; sms is made for these."
    elif TITLE[0] <= median <= TITLE[1] and signs["sentence"] + signs["post"] <= NOT_A_TITLE:
        yield "hardly any text ends like a sentence or has a link, as in titles; headlines is made for these."


def notes_on_markup(settings: Settings, texts: Sequence[str]) -> Iterator[str]:
    """Yield a note on the number of posts whose HTML tags were dropped, if any."""
    drops_markup = any(chosen.to_dict().get("markup") == "drop" for chosen in settings.normalizers)
    n_with_tags = sum(map(has_tags, [text for text in texts if "<" in text])) if drops_markup else 0
    if n_with_tags:
        posts = "1 post" if n_with_tags == 1 else f"{n_with_tags:,} posts"
        yield f"HTML tags were dropped from {posts} for comparing; the output has the original text."
