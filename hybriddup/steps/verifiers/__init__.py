"""Verifiers score candidate pairs by comparing the texts themselves; this stage determines precision."""

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
    """The input of a verifier: the distinct texts of the run, the tokenizer, and settings."""

    texts: Sequence[str]
    """The compared texts: whole normalized posts, or, with ``compare: body``, only the words of each post."""
    tokenizer: Tokenizer
    bits: int
    """Width of the fingerprint, in bits."""
    workers: int
    normalized: Sequence[str] | None = None
    """The whole normalized post for each text, if ``texts`` has only the words of posts; None if it has whole posts."""

    @property
    def posts(self) -> Sequence[str]:
        """The whole normalized post for each text in ``texts``, even if the text is only a part of the post."""
        return self.texts if self.normalized is None else self.normalized

    @cached_property
    def lengths(self) -> Int32s:
        """int32[n]: length of each text, in code points."""
        return text_lengths(self.texts)

    def take(self, rows: Int64s) -> VerifierContext:
        """Return a context with only the texts at indices ``rows``, which may repeat."""
        normalized = None if self.normalized is None else texts_at(self.normalized, rows)
        return replace(self, texts=texts_at(self.texts, rows), normalized=normalized)


class LeastInCommon(NamedTuple):
    """Minimum number of characters that a pair must have in common, in any order, to reach a threshold.

    The minimum is a share of the shorter text's length plus a share of the longer text's length. If a verifier has a
    method ``least_in_common(threshold)`` that returns this object, pairs with fewer common characters are excluded
    early.
    """

    of_shorter: float = 0.0
    """Required share of the shorter text's length, 0.0 to 1.0."""
    of_longer: float = 0.0
    """Required share of the longer text's length, 0.0 to 1.0; added to the share of the shorter text's length."""


@runtime_checkable
class Verifier(Protocol):
    """Scores pairs of texts from 0.0 (nothing in common) to 1.0 (same); symmetric in the two texts.

    A verifier that can explain a score has a method ``explain_pair(earlier, later)``, which returns lines of text.

    Scores are compared with ``score >= threshold``, so a rounding error must not put a score that equals the threshold
    below it: divide two whole numbers once, or round to 12 decimals.
    """

    def prepare(self, context: VerifierContext) -> None:
        """Prepare for texts, and learn from them; a run calls this once, before any pair is scored.

        A live window has new texts in each batch. For each batch, it calls the method ``renew`` of a verifier that has
        one, or else `prepare`. A verifier that learns from a corpus needs ``renew``, which replaces the texts and keeps
        the learned state. A verifier with all methods of `LearningVerifier` learns only once. Any other verifier learns
        whenever the window is opened, so that its scores may change slightly.
        """
        ...

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the scores.

        If a score is below the pair's threshold, any number below the threshold will do, such as a cheap upper bound.
        """
        ...

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return int32[n]: for each text length, the length of the longest other text that can reach ``threshold``.

        Lengths are in code points; 2**31 - 1 means no bound.
        """
        ...


class LearningVerifier(Verifier, Protocol):
    """A verifier whose learned state can be saved, so that the scores of a live window stay the same."""

    def renew(self, context: VerifierContext) -> None:
        """Prepare for other texts, and keep the learned state."""
        ...

    def learned(self) -> Mapping[str, NDArray[Any]]:
        """Return the state that `prepare` learned, as named arrays of numbers or strings that a file can store."""
        ...

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:
        """Use the state that another instance with the same options learned; `renew` is called before any scoring."""
        ...


KEEPING = ("renew", "learned", "use_learned")
"""Methods of a `LearningVerifier` that a `Verifier` need not have."""


def keeps_learning(verifier: Verifier) -> TypeGuard[LearningVerifier]:
    """Return whether the learned state of a verifier can be saved."""
    return all(callable(getattr(verifier, method, None)) for method in KEEPING)
