"""Guard `words`: refuses posts that do not have the same words from a list that the user sets."""

from __future__ import annotations

from pydantic import Field

from hybriddup.steps.guards import PairGuard
from hybriddup.steps.guards.reading import holds_word
from hybriddup.steps.options import Options as ComponentOptions


class Words(PairGuard):
    """Keeps two posts apart if only one of them has a word from a list."""

    class Options(ComponentOptions):
        """The list of words to look for."""

        words: tuple[str, ...] = Field(
            ("不", "没", "not", "no"),
            min_length=1,
            description="Words that must be in both posts or in neither, in upper or lower case, and as whole words in "
            "scripts with spaces.",
        )

    def __init__(self, options: Options) -> None:
        self.words = tuple(dict.fromkeys(word.casefold() for word in options.words))

    def reason(self, a: str, b: str) -> str | None:
        """Return the listed words that only one of the two posts has; None if there are none."""
        if a == b:
            return None
        a, b = a.casefold(), b.casefold()
        in_a, in_b = ([word for word in self.words if holds_word(text, word)] for text in (a, b))
        only_a, only_b = ([word for word in one if word not in other] for one, other in ((in_a, in_b), (in_b, in_a)))
        if not only_a and not only_b:
            return None
        return f"words {', '.join(only_a) or 'none'} / {', '.join(only_b) or 'none'}"
