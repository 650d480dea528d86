"""Adapters: a plain function that handles one text becomes a batch component, and what it returns is checked.

An adapter pickles when its function does, and runs in the interpreter: more workers means more processes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

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
from hybriddup.plugin.registered import PASSED_ON, PluginPart, Registered, kind_of
from hybriddup.plugin.roles import RoleName
from hybriddup.steps.blocks import BlockIndex


class _Adapter(PluginPart):
    """What all adapters share: calling the function, and naming what it failed on."""

    holds_interpreter = True
    allowed: str
    """What the function may return, for errors."""

    def _ask(self, *arguments: Any) -> Any:
        try:
            return self.part(*arguments)
        except PASSED_ON:
            raise
        except BaseException as error:
            raise self._failed(error, *arguments) from error

    def _listed(self, *arguments: Any) -> list[Any]:
        """Return the items that the function gives, in order."""
        items = self._ask(*arguments)
        if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
            raise self._refuse(kind_of(items), *arguments)
        if isinstance(items, Set):
            raise self._refuse(f"{kind_of(items)}, whose order changes from run to run", *arguments)
        try:
            return list(items)
        except PASSED_ON:
            raise
        except BaseException as error:  # of a generator, which does its work only now
            raise self._failed(error, *arguments) from error

    def _failed(self, error: BaseException, *arguments: Any) -> PluginError:
        what = f"failed on {_shorten(arguments)}: {type(error).__name__}: {error}"
        return PluginError(f"{self._label} {what}")

    def _refuse(self, given: object, *arguments: Any) -> PluginError:
        return self._wrong("", self.allowed, given, _shorten(arguments))


class NormalizerAdapter(_Adapter):
    """A normalizer made of a function ``(text: str) -> str``."""

    allowed = "a str"

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, in the same order, one for each."""
        return [self._normalize(text) for text in texts]

    def _normalize(self, text: str) -> str:
        normalized = self._ask(text)
        if not isinstance(normalized, str):
            raise self._refuse(kind_of(normalized), text)
        return normalized


class TokenizerAdapter(_Adapter):
    """A tokenizer made of a function ``(text: str) -> list[str]``."""

    allowed = "a list of str"

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the tokens of each text, in order; empty tokens are left out."""
        return tokens_from_lists([self._tokenize(text) for text in texts])

    def _tokenize(self, text: str) -> list[str]:
        tokens = self._listed(text)
        for token in tokens:
            if not isinstance(token, str):
                raise self._refuse(f"a list with {kind_of(token)}", text)
        return tokens


class WeighterAdapter(_Adapter):
    """A weighter made of a function ``(tokens: list[str]) -> list[float]``."""

    needs_fit = False
    allowed = "one weight a token, each a number above 0 and at most 1000"

    def fit(self, sample: Tokens) -> None:
        """Learn nothing: the function weighs each text by itself."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens], one weight for each token, from above 0 to 1,000."""
        weights = [self._weigh(tokens.strings(text)) for text in range(tokens.n_texts)]
        return np.array([weight for of_text in weights for weight in of_text], np.float32)

    def _weigh(self, tokens: list[str]) -> list[float]:
        weights = self._listed(tokens)
        if len(weights) != len(tokens):
            raise self._refuse(f"{len(weights)} weights for {len(tokens)} tokens", tokens)
        for weight in weights:
            if not (isinstance(weight, Real) and 0 < float(np.float32(weight)) <= MAX_WEIGHT):
                raise self._refuse(f"a weight of {weight!r}", tokens)
        return [float(weight) for weight in weights]


class HasherAdapter(_Adapter):
    """A hasher made of a function ``(token: str, bits: int) -> int``."""

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]; word 0 holds the lowest 64 bits of the function's number."""
        seen = dict[str, list[int]]()
        hashes = np.empty((len(tokens.starts), words), np.uint64)
        in_order = (token for text in range(tokens.n_texts) for token in tokens.strings(text))
        for row, token in enumerate(in_order):
            if token not in seen:
                seen[token] = self._hash(token, 64 * words)
            hashes[row] = seen[token]
        return hashes

    def _hash(self, token: str, bits: int) -> list[int]:
        number = self._ask(token, bits)
        if isinstance(number, bool) or not isinstance(number, Integral) or not 0 <= int(number) < 2**bits:
            given = number if isinstance(number, Integral) else kind_of(number)
            raise self._wrong("", f"an int from 0 to 2**{bits} - 1", given, _shorten((token, bits)))
        return [(int(number) >> shift) & (2**64 - 1) for shift in range(0, bits, 64)]


class VerifierAdapter(_Adapter):
    """A verifier made of a function ``(a: str, b: str) -> float``.

    Scores are rounded to 12 decimals, so that a pair exactly on a threshold, however many
    decimals that has, is not lost to a rounding error.
    """

    allowed = "a number from 0.0 to 1.0"

    def prepare(self, context: Any) -> None:
        """Remember the texts of the run."""
        self._texts: Sequence[str] = context.texts

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the function's score of each pair, the earlier text first."""
        texts, scores = self._texts, np.empty(len(thresholds), np.float64)
        for row, (earlier, later) in enumerate(zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)):
            scores[row] = self._score(texts[earlier], texts[later])
        return round_onto(scores, thresholds)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - nothing is known
        """Return 2**31 - 1 for each length: of a plain function nothing is known that length could rule out."""
        return np.full(len(lengths), NO_BOUND, np.int32)

    def _score(self, a: str, b: str) -> float:
        score = self._ask(a, b)
        is_score = isinstance(score, Real) and math.isfinite(score) and 0.0 <= round(float(score), DECIMALS) <= 1.0
        if not is_score:
            raise self._refuse(score if isinstance(score, Real) else kind_of(score), a, b)
        return float(score)


class GuardAdapter(_Adapter):
    """A guard made of a function ``(a: str, b: str) -> str | None``."""

    allowed = "a str that is not empty, or None"

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: for which pairs of posts the function gives a reason."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.reason(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    def reason(self, a: str, b: str) -> str | None:
        """Return what the function gives for two posts."""
        reason = self._ask(a, b)
        if reason is not None and not (isinstance(reason, str) and reason):
            raise self._refuse("''" if reason == "" else kind_of(reason), a, b)
        return reason


class BlockIndexAdapter(_Adapter, BlockIndex):
    """A block index made of a function ``(text: str) -> list[int]``, the keys of a text."""

    max_bucket_size = 256
    max_candidates = 64
    allowed = "a list of ints from 0 to 2**64 - 2"

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (a function of the text)
        """Return uint64[n, n_keys]: the keys of each text, none twice."""
        listed = [self._keys(text) for text in texts]
        keys = np.full((len(texts), max(map(len, listed), default=0) or 1), NO_KEY, np.uint64)
        for row, some in zip(keys, listed, strict=True):
            row[: len(some)] = some
        return keys

    def _keys(self, text: str) -> list[int]:
        keys = self._ask(text)
        if not isinstance(keys, (list, tuple)):
            raise self._refuse(kind_of(keys), text)
        for key in keys:
            if isinstance(key, bool) or not isinstance(key, Integral) or not 0 <= int(key) < NO_KEY:
                raise self._refuse(f"a key of {key!r}", text)
        return list(dict.fromkeys(map(int, keys)))

    def describe(self) -> str:
        """Return the function's name."""
        return self._label


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
