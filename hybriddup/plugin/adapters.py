"""Adapters that turn a plain function of one text into a batch component, and check the function's return values.

An adapter can be pickled if its function can. The function needs the interpreter, so workers are processes, not
threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

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
    """The contract for the return value of a plain function: a description of the allowed values, and a check."""

    allowed: str
    """Allowed values, for error messages; may refer to the call's arguments as ``{0}``, ``{1}``."""
    fault: Callable[..., object]
    """Function of the return value and the call's arguments; returns a description of the fault, None if there is
    none."""
    is_list: bool = False
    """Whether the value must be a list; if so, any other ordered iterable is converted to a list first."""


def _text_fault(text: Any, _: str) -> str | None:
    return None if isinstance(text, str) else kind_of(text)


def _tokens_fault(tokens: list[Any], _: str) -> str | None:
    return next((f"a list with {kind_of(token)}" for token in tokens if not isinstance(token, str)), None)


def _weights_fault(weights: list[Any], tokens: list[str]) -> str | None:
    if len(weights) != len(tokens):
        return f"{len(weights)} weights for {len(tokens)} tokens"
    right = (isinstance(weight, Real) and 0 < float(np.float32(weight)) <= MAX_WEIGHT for weight in weights)
    return next((f"a weight of {weight!r}" for weight, holds in zip(weights, right, strict=True) if not holds), None)


def _hash_fault(number: Any, _: str, bits: int) -> object:
    is_whole = isinstance(number, Integral)
    right = is_whole and not isinstance(number, bool) and 0 <= int(number) < 2**bits
    return None if right else number if is_whole else kind_of(number)


def _score_fault(score: Any, *_: str) -> object:
    is_number = isinstance(score, Real)
    right = is_number and math.isfinite(score) and 0.0 <= round(float(score), DECIMALS) <= 1.0
    return None if right else score if is_number else kind_of(score)


def _reason_fault(reason: Any, *_: str) -> str | None:
    right = reason is None or (isinstance(reason, str) and reason != "")
    return None if right else "''" if reason == "" else kind_of(reason)


def _keys_fault(keys: Any, _: str) -> str | None:
    if not isinstance(keys, (list, tuple)):
        return kind_of(keys)
    right = (isinstance(key, Integral) and not isinstance(key, bool) and 0 <= int(key) < NO_KEY for key in keys)
    return next((f"a key of {key!r}" for key, holds in zip(keys, right, strict=True) if not holds), None)


class Adapter(PluginPart):
    """Base class of adapters: calls the function, checks its return value, and names its arguments in errors."""

    holds_interpreter = True
    expected: ClassVar[Expected]

    def call(self, *arguments: Any) -> Any:
        """Return the function's result for one text or pair.

        Raises PluginError if the function raises an exception or returns an invalid value.
        """
        expected = self.expected
        try:
            answer = self.part(*arguments)
            given: object = _items_fault(answer) if expected.is_list else None
            if expected.is_list and given is None:
                answer = list(answer)  # inside the try, because a generator may fail only here
        except PASSED_ON:
            raise
        except BaseException as error:
            failure = f"failed on {_shorten(arguments)}: {type(error).__name__}: {error}"
            raise PluginError(f"{self.found.label} {failure}") from error
        given = expected.fault(answer, *arguments) if given is None else given
        if given is not None:
            raise self.wrong(expected.allowed.format(*arguments), given, case=f"for {_shorten(arguments)} ")
        return answer


def _items_fault(items: Any) -> str | None:
    if isinstance(items, Set):
        return f"{kind_of(items)}, whose order changes from run to run"
    return kind_of(items) if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable) else None


class NormalizerAdapter(Adapter):
    """A normalizer from a function ``(text: str) -> str``."""

    expected = Expected("a str", _text_fault)

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Normalize each text, in the same order."""
        return [self.call(text) for text in texts]


class TokenizerAdapter(Adapter):
    """A tokenizer from a function ``(text: str) -> list[str]``."""

    expected = Expected("a list of str", _tokens_fault, is_list=True)

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the tokens of each text, in order; empty tokens are left out."""
        return tokens_from_lists([self.call(text) for text in texts])


class WeighterAdapter(Adapter):
    """A weighter from a function ``(tokens: list[str]) -> list[float]``."""

    needs_fit = False
    expected = Expected("one weight per token, each a number above 0 and at most 1000", _weights_fault, is_list=True)

    def fit(self, sample: Tokens) -> None:
        """Do nothing, because the function's result depends on a single text."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens]: the weight of each token, above 0 and at most 1,000."""
        weights = (self.call(tokens.strings(text)) for text in range(tokens.n_texts))
        return np.array([float(weight) for text_weights in weights for weight in text_weights], np.float32)


class HasherAdapter(Adapter):
    """A hasher from a function ``(token: str, bits: int) -> int``."""

    expected = Expected("an int from 0 to 2**{1} - 1", _hash_fault)

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]: the function's hash of each token in 64-bit words, the lowest bits first."""
        seen = dict[str, list[int]]()
        hashes = np.empty((len(tokens.starts), words), np.uint64)
        in_order = (token for text in range(tokens.n_texts) for token in tokens.strings(text))
        for row, token in enumerate(in_order):
            if token not in seen:
                number = int(self.call(token, 64 * words))
                seen[token] = [number >> shift & 2**64 - 1 for shift in range(0, 64 * words, 64)]
            hashes[row] = seen[token]
        return hashes


class VerifierAdapter(Adapter):
    """A verifier from a function ``(a: str, b: str) -> float``.

    Scores are rounded to 12 decimals, so that a rounding error does not push a score below a threshold that it equals.
    """

    expected = Expected("a number from 0.0 to 1.0", _score_fault)

    def prepare(self, context: Any) -> None:
        """Store the texts of the run."""
        self._texts: Sequence[str] = context.texts

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return float64[n_pairs]: the function's score for each pair; its first argument is the earlier text."""
        texts, both = self._texts, zip(pairs.earlier.tolist(), pairs.later.tolist(), strict=True)
        scores = [float(self.call(texts[earlier], texts[later])) for earlier, later in both]
        return round_onto(np.array(scores, np.float64), thresholds)

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - no bound is known
        """Return 2**31 - 1 for each length, since no length bound is known for a plain function."""
        return np.full(len(lengths), NO_BOUND, np.int32)


class GuardAdapter(Adapter):
    """A guard from a function ``(a: str, b: str) -> str | None``."""

    expected = Expected(A_REASON, _reason_fault)

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return bool[n_pairs]: whether the function rejects each pair, by returning a reason."""
        pairs = zip(earlier.tolist(), later.tolist(), strict=True)
        return np.fromiter((self.call(posts[a], posts[b]) is not None for a, b in pairs), np.bool_, len(earlier))

    def reason(self, a: str, b: str) -> str | None:
        """Return the function's reason for rejecting the pair, or None if it accepts the pair."""
        reason: str | None = self.call(a, b)
        return reason


class BlockIndexAdapter(Adapter, BlockIndex):
    """A block index from a function ``(text: str) -> list[int]``, the keys of a text."""

    expected = Expected("a list of ints from 0 to 2**64 - 2", _keys_fault)
    max_bucket_size = 256
    max_candidates = 64

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (a function of the text)
        """Return uint64[n, n_keys]: the distinct keys of each text, padded with `NO_KEY`."""
        listed = [list(dict.fromkeys(map(int, self.call(text)))) for text in texts]
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
"""Adapter class of each role that accepts plain functions."""


def _shorten(arguments: tuple[Any, ...]) -> str:
    """Return the arguments of a call, each cut to 40 characters, for an error message."""
    texts = map(repr, arguments)
    return ", ".join(text if len(text) <= 40 else text[:37] + "..." for text in texts)
