"""What a plugin's batch component returns is checked once a batch, because compiled kernels trust it.

A wrong shape or type becomes an error that names the component and its plugin. Built-ins are tested instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from hybriddup.data.limits import MAX_WEIGHT
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
)
from hybriddup.plugin.registered import PluginPart, Registered, blamed_on, kind_of
from hybriddup.plugin.roles import ROLES, RoleName


class Checked(PluginPart):
    """A component whose attributes are reached as if the checks were not there, or are its role's defaults.

    What a method of its role raises is blamed on it.
    """

    def __init__(self, part: Any, found: Registered) -> None:
        super().__init__(part, found)
        role = ROLES[found.role]
        self._methods, self._defaults = role.methods, dict(role.defaults)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "part":  # not there yet while a pickle is read
            raise AttributeError(name)
        try:
            value = getattr(self.part, name)
        except AttributeError as error:
            if error.name != name or name not in self._defaults:  # another name: raised inside a property, a fault
                raise
            return self._defaults[name]
        return partial(self._ask, name) if name in self._methods else value

    def _ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        with blamed_on(self._label, f"failed in {method}"):
            return getattr(self.part, method)(*arguments, **named)

    def _demand(self, holds: object, method: str, allowed: str, given: object) -> None:
        if not holds:
            raise self._wrong(method, allowed, given)

    def _demand_array(self, value: Any, method: str, dtype: type[Any], shape: tuple[int, ...]) -> None:
        right = isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == shape
        allowed = f"{np.dtype(dtype)}[{', '.join(map(str, shape))}], C-contiguous"
        self._demand(right and value.flags.c_contiguous, method, allowed, _describe(value))


class CheckedNormalizer(Checked):
    """A normalizer that returns one text for each."""

    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        """Return the normalized texts, checked."""
        normalized, allowed = self._ask("normalize_batch", texts), f"a list of {len(texts)} str"
        right = isinstance(normalized, list) and len(normalized) == len(texts)
        self._demand(right, "normalize_batch", allowed, _describe(normalized))
        wrong = [text for text in normalized if not isinstance(text, str)]
        self._demand(not wrong, "normalize_batch", allowed, f"a list with {kind_of(next(iter(wrong), None))}")
        return list(normalized)


class CheckedTokenizer(Checked):
    """A tokenizer whose tokens are slices inside their code points."""

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        """Return the tokens, checked."""
        tokens = self._ask("tokenize_batch", texts)
        self._demand(isinstance(tokens, Tokens), "tokenize_batch", "hybriddup.data.records.Tokens", _describe(tokens))
        self._check_arrays(tokens, len(texts))
        return Tokens(*tokens)

    def _check_arrays(self, tokens: Tokens, n_texts: int) -> None:
        n_tokens, n_points = len(tokens.starts), len(tokens.code_points)
        self._demand_array(tokens.code_points, "tokenize_batch: code_points", np.uint32, (n_points,))
        self._demand_array(tokens.starts, "tokenize_batch: starts", np.int64, (n_tokens,))
        self._demand_array(tokens.lengths, "tokenize_batch: lengths", np.int32, (n_tokens,))
        self._demand_array(tokens.offsets, "tokenize_batch: offsets", np.int64, (n_texts + 1,))
        offsets, ends = tokens.offsets, tokens.starts + tokens.lengths
        covers = offsets[0] == 0 and offsets[-1] == n_tokens and (np.diff(offsets) >= 0).all()
        self._demand(covers, "tokenize_batch: offsets", f"numbers rising from 0 to {n_tokens}", offsets.tolist()[:8])
        inside = n_tokens == 0 or (tokens.starts.min() >= 0 and ends.max() <= n_points and tokens.lengths.min() >= 1)
        self._demand(inside, "tokenize_batch: starts and lengths", "tokens inside code_points", "others")


class CheckedWeighter(Checked):
    """A weighter that gives one weight a token, in range."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return the weights, checked."""
        weights: Float32s = self._ask("weigh_batch", tokens)
        self._demand_array(weights, "weigh_batch", np.float32, (len(tokens.starts),))
        wrong = weights[~((weights > 0) & (weights <= MAX_WEIGHT))]
        self._demand(not len(wrong), "weigh_batch", "weights above 0 and at most 1000", wrong.tolist()[:3])
        return weights


class CheckedHasher(Checked):
    """A hasher that gives as many words as were asked for."""

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return the hashes, checked."""
        hashes: UInt64s = self._ask("hash_batch", tokens, words)
        self._demand_array(hashes, "hash_batch", np.uint64, (len(tokens.starts), words))
        return hashes


class CheckedBlockIndex(Checked):
    """A block index that gives each text as many keys, `NO_KEY` filling up."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        """Return the keys of each text, checked."""
        return self._check(self._ask("keys", texts, bits), "keys", len(texts))

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:
        """Return the keys that texts are looked up by, checked."""
        return self._check(self._ask("probes", keys, bits), "probes", len(bits))

    def learn_within(self, texts: Sequence[str], scopes: Int64s) -> None:
        """Learn from texts of several scopes, or as if they were of one: a plugin need not know of scopes."""
        if hasattr(self.part, "learn_within"):
            self._ask("learn_within", texts, scopes)
        else:
            self._ask("learn", texts)

    def _check(self, keys: Any, method: str, n_texts: int) -> UInt64s:
        width = keys.shape[1] if isinstance(keys, np.ndarray) and keys.ndim == 2 else 1
        self._demand_array(keys, method, np.uint64, (n_texts, width))
        n_keys, key_bits = getattr(self, "n_keys", None), getattr(self, "key_bits", 64)
        if method == "keys" and n_keys is not None:
            self._demand(width <= n_keys, method, f"at most {n_keys} keys of a text, as n_keys says", width)
        if key_bits < 64:
            too_large = keys[(keys >> np.uint64(key_bits) > 0) & (keys != np.uint64(NO_KEY))].tolist()
            self._demand(not too_large, method, f"keys below 2**{key_bits}, as key_bits says", too_large[:3])
        return np.asarray(keys)


class CheckedVerifier(Checked):
    """A verifier that gives one score a pair, at most 1.0."""

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        """Return the scores, checked."""
        scores: Float64s = self._ask("score_pairs", pairs, thresholds)
        self._demand_array(scores, "score_pairs", np.float64, (len(pairs.earlier),))
        wrong = scores[~(scores <= 1.0)]
        self._demand(not len(wrong), "score_pairs", "scores of at most 1.0", wrong.tolist()[:3])
        return scores

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:
        """Return the bounds, checked."""
        bounds: Int32s = self._ask("max_partner_lengths", lengths, threshold)
        self._demand_array(bounds, "max_partner_lengths", np.int32, (len(lengths),))
        return bounds

    def least_in_common(self, threshold: float) -> tuple[float, float]:
        """Return the shares, checked; nothing where the verifier does not tell."""
        tells = hasattr(self.part, "least_in_common")
        shares: Any = self._ask("least_in_common", threshold) if tells else (0.0, 0.0)
        right = isinstance(shares, tuple) and len(shares) == 2 and all(isinstance(share, float) for share in shares)
        allowed = "two shares of 0.0 or more, at most 1.0 together"
        self._demand(right and min(shares) >= 0.0 and sum(shares) <= 1.0, "least_in_common", allowed, shares)
        return shares[0], shares[1]


class CheckedGuard(Checked):
    """A guard that answers yes or no for each pair, and gives its reasons as text."""

    def refuse(self, posts: Sequence[str], earlier: Int64s, later: Int64s) -> Bools:
        """Return which pairs are kept apart, checked."""
        refused: Bools = self._ask("refuse", posts, earlier, later)
        self._demand_array(refused, "refuse", np.bool_, (len(earlier),))
        return refused

    def reason(self, a: str, b: str) -> str | None:
        """Return the reason, checked."""
        given: str | None = self._ask("reason", a, b)
        is_reason = given is None or (isinstance(given, str) and given != "")
        self._demand(is_reason, "reason", "a str that is not empty, or None", _describe(given))
        return given


class CheckedReader(Checked):
    """A reader, which fails, where it does, while its batches are being taken."""

    def read(self, *arguments: Any) -> Iterator[Any]:
        """Yield the batches."""
        batches: Iterator[Any] | None = None
        while True:
            with blamed_on(self._label, "failed in read"):  # not around the yield, where our own side may raise
                batches = iter(self.part.read(*arguments)) if batches is None else batches
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


CHECKED: dict[RoleName, Callable[[Any, Registered], Any]] = {
    "normalizer": CheckedNormalizer,
    "tokenizer": CheckedTokenizer,
    "weighter": CheckedWeighter,
    "hasher": CheckedHasher,
    "block_index": CheckedBlockIndex,
    "verifier": CheckedVerifier,
    "guard": CheckedGuard,
    "reader": CheckedReader,
}
"""What checks the answers of a component, by the roles that have more to check than what it raises."""


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        contiguous = "" if value.flags.c_contiguous else ", not contiguous"
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]{contiguous}"
    size = f" of {len(value)}" if isinstance(value, (list, tuple)) else ""
    return kind_of(value) + size
