"""The base of a generated corpus: its texts, and what is made of them, which is edits, mixtures and other versions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from random import Random

MAX_EDITED_SHARE = 0.2
MOVED_SHARE = 0.05
"""Share of the edited copies in which the edits are one passage moved to another place."""
RANK_WINDOW = 64
"""How many letters of about the same frequency change places among each other."""
LINKS = re.compile(r"(https?://\S+)")
CLAUSES = re.compile(r"[^，。！？；：、,!?;\s]*[，。！？；：、,!?;\s]*")
"""A clause with the marks after it."""


@dataclass(frozen=True)
class Base:
    """The texts that a corpus is made from, and the random numbers by which it is made."""

    texts: list[str]
    random: Random

    @cached_property
    def pool(self) -> str:
        """All texts, one after another: where characters and phrases are drawn from, each as often as it occurs."""
        return "".join(self.texts)

    @cached_property
    def lengths(self) -> list[int]:
        """Code points of each text."""
        return list(map(len, self.texts))

    def phrase(self, length: int) -> str:
        """Return ``length`` characters that stand together in the base."""
        start = int(self.random.random() * (len(self.pool) - length + 1))
        return self.pool[start : start + length]

    def unrelated(self, length: int) -> str:
        """Return a text of phrases of 2 to 4 characters from anywhere; two such texts have little in common."""
        phrases: list[str] = []
        missing = length
        while missing > 0:
            phrases.append(self.phrase(min(missing, 2 + int(self.random.random() * 3))))
            missing -= len(phrases[-1])
        return "".join(phrases)

    @cached_property
    def clauses(self) -> list[str]:
        """All clauses of all texts, each as often as it occurs."""
        return [clause for text in self.texts for clause in CLAUSES.findall(text) if clause]

    def spliced(self, length: int) -> str:
        """Return a text of clauses from anywhere, each at most half of it; the last may be the end of one.

        So two such texts that share a clause are still far from being copies.
        """
        draw, clauses = self.random.random, self.clauses
        longest = (length + 1) // 2
        parts: list[str] = []
        missing = length
        while missing > 0:
            parts.append(clauses[int(draw() * len(clauses))][-min(longest, missing) :])
            missing -= len(parts[-1])
        return "".join(parts)

    def edited(self, text: str) -> str:
        """Return a copy of which 0 to 20 % of the characters are replaced, inserted, deleted, or moved elsewhere."""
        draw = self.random.random
        n_edits = int(draw() * MAX_EDITED_SHARE * len(text))
        if n_edits > 1 and draw() < MOVED_SHARE:
            return self.moved(text, n_edits)
        characters, pool = list(text), self.pool
        for _ in range(n_edits):
            place, kind = int(draw() * len(characters)), draw()
            if kind < 0.25:
                del characters[place]
            else:
                # an insertion is a replacement of no characters
                characters[place : place + (kind < 0.75)] = pool[int(draw() * len(pool))]
        return "".join(characters)

    def moved(self, text: str, length: int) -> str:
        """Return the text with one passage of ``length`` characters at another place."""
        start = self.random.randrange(len(text) - length + 1)
        passage, rest = text[start : start + length], text[:start] + text[start + length :]
        place = self.random.randrange(len(rest) + 1)
        return rest[:place] + passage + rest[place:]

    def relettered(self) -> Base:
        """Return other posts that repeat each other exactly as these do: letters are exchanged for others, one for one.

        Letters change places with letters about as frequent, so that common ones stay common; links stay as they are.
        """
        ranked = [letter for letter, _ in Counter(self.pool).most_common() if letter.isalpha()]
        table: dict[int, str] = {}
        for group in ([c for c in ranked if c.isascii()], [c for c in ranked if not c.isascii()]):
            for start in range(0, len(group), RANK_WINDOW):
                window = group[start : start + RANK_WINDOW]
                table |= zip(map(ord, window), self.random.sample(window, len(window)), strict=True)
        return Base([exchange_letters(text, table) for text in self.texts], self.random)


def exchange_letters(text: str, table: dict[int, str]) -> str:
    """Return the text with its letters exchanged, but for those of links."""
    if "http" not in text:
        return text.translate(table)
    parts = LINKS.split(text)
    return "".join(part if place % 2 else part.translate(table) for place, part in enumerate(parts))
