"""Verify: candidate pairs -> scores. Stage 2, a second look at the text itself; it decides precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

from numpy.typing import NDArray

from hybriddup.data.records import CandidatePairs, Float64s, Int32s, Int64s, text_lengths
from hybriddup.steps.tokenizers import Tokenizer
from hybriddup.steps.verifiers.bounds import texts_at


@dataclass(frozen=True)
class VerifierContext:
    """What a verifier may look at: the distinct texts of the run, by position, and how they were split."""

    texts: Sequence[str]
    """What is compared: the normalized posts, or their bodies by the setting ``compare``."""
    tokenizer: Tokenizer
    bits: int
    """Width of the fingerprint."""
    workers: int
    normalized: Sequence[str] | None = None
    """All of the normalized posts where the texts are only their bodies; None = the texts are all."""

    @property
    def posts(self) -> Sequence[str]:
        """The normalized posts with all their parts."""
        return self.texts if self.normalized is None else self.normalized

    @cached_property
    def lengths(self) -> Int32s:
        """int32[n]: the code points of each text."""
        return text_lengths(self.texts)

    def take(self, rows: Int64s) -> VerifierContext:
        """Return the same of some texts, which may stand among these several times."""
        normalized = None if self.normalized is None else texts_at(self.normalized, rows)
        return replace(self, texts=texts_at(self.texts, rows), normalized=normalized)


class LeastInCommon(NamedTuple):
    """How many characters a pair needs in common, whatever their order: shares of its two lengths, added up.

    A verifier may tell by a method ``least_in_common(threshold)``, so that other pairs are not even listed.
    """

    of_shorter: float = 0.0
    """0.0 to 1.0."""
    of_longer: float = 0.0
    """0.0 to 1.0."""


@runtime_checkable
class Verifier(Protocol):
    """Scores pairs of texts from 0.0 (nothing in common) to 1.0 (same); symmetric in the two texts.

    One that can tell what makes a score has a method ``explain_pair(earlier, later)``, which returns lines of text.

    Scores are compared with ``score >= threshold``, so a pair exactly on the threshold must not come out a rounding
    error below it: divide two whole numbers once, or round to 12 decimals.
    """

    def prepare(self, context: VerifierContext) -> None:
        """Look at the texts of the run; called once, before any pair is scored.

        In a live window, texts change from batch to batch. A verifier that learns from a corpus has a method ``renew``
        too, which looks at other texts and keeps what was learned; of others ``prepare`` is called each time. One with
        the other methods of `LearningVerifier` as well learns once; without them it learns at each opening of the
        window, so that a pair's score may move a little from one to the next.
        """
        ...

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs].

        Below its threshold a score may be any number below the threshold: a cheap bound is enough to refuse.
        """
        ...

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return, for texts of these lengths, the longest text that could still score ``threshold`` with each.

        Lengths are code points; 2**31 - 1 where length alone rules nothing out.
        """
        ...


class LearningVerifier(Verifier, Protocol):
    """A verifier that learns from a corpus and can tell what: in a live window, a pair's score then stays the same."""

    def renew(self, context: VerifierContext) -> None:
        """Look at other texts, and keep what was learned."""
        ...

    def learned(self) -> Mapping[str, NDArray[Any]]:
        """Return what `prepare` learned as arrays by name, of numbers or strings, to be kept in a file."""
        ...

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:
        """Score by what another instance with the same options learned; `renew` follows before any pair is scored."""
        ...


KEEPING = ("renew", "learned", "use_learned")
"""The methods that a `LearningVerifier` has and others lack."""


def keeps_learning(verifier: Verifier) -> TypeGuard[LearningVerifier]:
    """Return whether what a verifier learns can be kept."""
    return all(callable(getattr(verifier, method, None)) for method in KEEPING)
