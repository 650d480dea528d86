"""Adapters: a plain function that handles one text becomes a batch component, and what it returns is checked.

An adapter pickles when its function does, and runs in the interpreter: more workers means more processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.limits import DECIMALS, MAX_WEIGHT, NO_BOUND, round_onto
from hybriddup.data.records import (
    NO_KEY,
    Bools,
    CandidatePairs,
    Float32s,
    Float64s,
    Int32s,
    Int64s,
    Tokens,
    UInt64s,
    tokens_from_lists,
)
from hybriddup.errors import PluginError
from hybriddup.plugin.checked import A_REASON, PluginPart
from hybriddup.plugin.registered import PASSED_ON, Registered, kind_of
from hybriddup.plugin.roles import RoleName
from hybriddup.steps.blocks import BlockIndex


class Expected(NamedTuple):
    """What a function of a role may return."""

    allowed: str
    """For errors; a format of the arguments."""
    fault: Callable[..., object]
    """Returns what is wrong with an answer, given the arguments too; None = nothing."""
    is_list: bool = False
    """Whether it may be anything that gives items in order."""


def _no_text(text: Any, _: str) -> str | None:
    return None if isinstance(text, str) else kind_of(text)


def _no_tokens(tokens: list[Any], _: str) -> str | None:
    return next((f"a list with {kind_of(token)}" for token in tokens if not isinstance(token, str)), None)


def _no_weights(weights: list[Any], tokens: list[str]) -> str | None:
    if len(weights) != len(tokens):
        return f"{len(weights)} weights for {len(tokens)} tokens"
    right = (isinstance(weight, Real) and 0 < float(np.float32(weight)) <= MAX_WEIGHT for weight in weights)
    return next((f"a weight of {weight!r}" for weight, holds in zip(weights, right, strict=True) if not holds), None)


def _no_hash(number: Any, _: str, bits: int) -> object:
    is_whole = isinstance(number, Integral)
    right = is_whole and not isinstance(number, bool) and 0 <= int(number) < 2**bits
    return None if right else number if is_whole else kind_of(number)


def _no_score(score: Any, *_: str) -> object:
    is_number = isinstance(score, Real)
    right = is_number and math.isfinite(score) and 0.0 <= round(float(score), DECIMALS) <= 1.0
    return None if right else score if is_number else kind_of(score)


def _no_reason(reason: Any, *_: str) -> str | None:
    right = reason is None or (isinstance(reason, str) and reason != "")
    return None if right else "''" if reason == "" else kind_of(reason)


def _no_keys(keys: Any, _: str) -> str | None:
    if not isinstance(keys, (list, tuple)):
        return kind_of(keys)
    right = (isinstance(key, Integral) and not isinstance(key, bool) and 0 <= int(key) < NO_KEY for key in keys)
    return next((f"a key of {key!r}" for key, holds in zip(keys, right, strict=True) if not holds), None)


EXPECTED: dict[RoleName, Expected] = {
    "normalizer": Expected("a str", _no_text),
    "tokenizer": Expected("a list of str", _no_tokens, is_list=True),
    "weighter": Expected("one weight a token, each a number above 0 and at most 1000", _no_weights, is_list=True),
    "hasher": Expected("an int from 0 to 2**{1} - 1", _no_hash),
    "block_index": Expected("a list of ints from 0 to 2**64 - 2", _no_keys),
    "verifier": Expected("a number from 0.0 to 1.0", _no_score),
    "guard": Expected(A_REASON, _no_reason),
}


class Adapter(PluginPart):
    """What all adapters share: calling the function, checking its answer, and naming what it failed on."""

    holds_interpreter = True

    def ask(self, *arguments: Any) -> Any:
        """Return what the function gives for one text, checked."""
        expected = EXPECTED[self.found.role]
        try:
            answer = self.part(*arguments)
            given: object = _no_items(answer) if expected.is_list else None
            if expected.is_list and given is None:
                answer = list(answer)  # a generator does its work only now
        except PASSED_ON:
            raise
        except BaseException as error:
            what = f"failed on {_shorten(arguments)}: {type(error).__name__}: {error}"
            raise PluginError(f"{self.found.label} {what}") from error
        given = expected.fault(answer, *arguments) if given is None else given
        if given is not None:
            raise self.wrong(expected.allowed.format(*arguments), given, case=f"for {_shorten(arguments)} ")
        return answer


def _no_items(items: Any) -> str | None:
    if isinstance(items, Set):
        return f"{kind_of(items)}, whose order changes from run to run"
    return kind_of(items) if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable) else None


class NormalizerAdapter(Adapter):
    """A normalizer made of a function ``(text: str) -> str``."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        return [self.ask(text) for text in texts]


class TokenizerAdapter(Adapter):
    """A tokenizer made of a function ``(text: str) -> list[str]``."""

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the tokens of each text, in order; empty tokens are left out."""
        return tokens_from_lists([self.ask(text) for text in texts])


class WeighterAdapter(Adapter):
    """A weighter made of a function ``(tokens: list[str]) -> list[float]``."""

    needs_fit = False

    def fit(self, sample: Tokens) -> None:
        """Learn nothing: the function weighs each text by itself."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens], one weight for each token, from above 0 to 1,000."""
        weights = (self.ask(tokens.strings(text)) for text in range(tokens.n_texts))
        return np.array([float(weight) for of_text in weights for weight in of_text], np.float32)


class HasherAdapter(Adapter):
    """A hasher made of a function ``(token: str, bits: int) -> int``."""

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]; word 0 holds the lowest 64 bits of the function's number."""
        seen = dict[str, list[int]]()
        hashes = np.empty((len(tokens.starts), words), np.uint64)
        in_order = (token for text in range(tokens.n_texts) for token in tokens.strings(text))
        for row, token in enumerate(in_order):
            if token not in seen:
                number = int(self.ask(token, 64 * words))
                seen[token] = [number >> shift & 2**64 - 1 for shift in range(0, 64 * words, 64)]
            hashes[row] = seen[token]
        return hashes


class VerifierAdapter(Adapter):
    """A verifier made of a function ``(a: str, b: str) -> float``.

    Scores are rounded to 12 decimals, so that a pair exactly on a threshold, however many
    decimals that has, is not lost to a rounding error.
    """

    def prepare(self, context: Any) -> None:
        """Remember the texts of the run."""
        self._texts: Sequence[str] = context.texts

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the function's score of each pair, the earlier text first."""
        texts, both = self._texts, zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)
        scores = [float(self.ask(texts[earlier], texts[later])) for earlier, later in both]
        return round_onto(np.array(scores, np.float64), thresholds)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - nothing is known
        """Return 2**31 - 1 for each length: of a plain function nothing is known that length could rule out."""
        return np.full(len(lengths), NO_BOUND, np.int32)


class GuardAdapter(Adapter):
    """A guard made of a function ``(a: str, b: str) -> str | None``."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: for which pairs of posts the function gives a reason."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.ask(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    def reason(self, a: str, b: str) -> str | None:
        """Return what the function gives for two posts."""
        reason: str | None = self.ask(a, b)
        return reason


class BlockIndexAdapter(Adapter, BlockIndex):
    """A block index made of a function ``(text: str) -> list[int]``, the keys of a text."""

    max_bucket_size = 256
    max_candidates = 64

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (a function of the text)
        """Return uint64[n, n_keys]: the keys of each text, none twice."""
        listed = [list(dict.fromkeys(map(int, self.ask(text)))) for text in texts]
        keys = np.full((len(texts), max(map(len, listed), default=0) or 1), NO_KEY, np.uint64)
        for row, some in zip(keys, listed, strict=True):
            row[: len(some)] = some
        return keys

    def describe(self) -> str:
        """Return the function's name."""
        return self.found.label


ADAPTERS: dict[RoleName, Callable[[Any, Registered], Any]] = {
    "normalizer": NormalizerAdapter,
    "tokenizer": TokenizerAdapter,
    "weighter": WeighterAdapter,
    "hasher": HasherAdapter,
    "block_index": BlockIndexAdapter,
    "verifier": VerifierAdapter,
    "guard": GuardAdapter,
}
"""What makes a batch component of a function, by the roles that have such an adapter."""


def _shorten(arguments: tuple[Any, ...]) -> str:
    """Return the arguments of a call, each cut to 40 characters, for an error message."""
    texts = (ascii(value) if _has_surrogate(value) else repr(value) for value in arguments)
    return ", ".join(text if len(text) <= 40 else text[:37] + "..." for text in texts)


def _has_surrogate(value: object) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in str(value))
