"""Wrappers around the batch components of plugins, which check every return value and attribute errors to the plugin.

Compiled kernels do not check arrays, so an array with a wrong shape or dtype must raise an error before it reaches a
kernel. The error names the component and its plugin. `OF_BATCHES` has the check of each batch method;
`hybriddup.plugin.adapters` checks plain functions. Built-in components are not wrapped: they are tested instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hybriddup.data.limits import MAX_WEIGHT
from hybriddup.data.records import NO_KEY, CandidatePairs, Tokens, UInt64s
from hybriddup.errors import PluginError
from hybriddup.plugin.registered import Registered, blamed_on, kind_of
from hybriddup.plugin.roles import ROLES

A_REASON = "a str that is not empty, or None"
OPTIONAL_METHODS = ("learn_within", "least_in_common")
"""Methods that a batch component may have in addition to those of its role."""


class PluginPart:
    """Base class of the wrappers around a plugin's function or component."""

    def __init__(self, part: Any, found: Registered) -> None:
        self.part = part
        """The plugin's function or instance."""
        self.found = found

    def recipe(self) -> dict[str, Any]:
        """Return the component's data for the recipe id (a hash): its own ``recipe()`` or else `Owner.recipe`."""
        own = getattr(self.part, "recipe", None)
        return dict(own()) if callable(own) else self.found.owner.recipe(self.part)

    def wrong(self, allowed: str, given: object, *, method: str = "", case: str = "") -> PluginError:
        """Return the error for a wrong return value.

        Parameters
        ----------
        allowed, given
            Descriptions of the allowed values, and of the returned value.
        method, case
            Method name and arguments of the call, for the message; empty = not mentioned.
        """
        who = f"{self.found.label}: {method}" if method else self.found.label
        return PluginError(f"{who} must return {allowed}; {case}it returned {given}.")


class Answer(NamedTuple):
    """The return value of a batch method, with methods to check it."""

    part: Checked
    method: str
    value: Any

    def must(self, holds: object, allowed: str, given: object, of: str = "") -> None:
        """Raise PluginError if ``holds``, the result of a check, is false.

        ``allowed`` and ``given`` describe the allowed values and the returned value. ``of``, such as ``: starts``, is
        appended to the method's name in the message, if only a part of the value was checked.
        """
        if not holds:
            raise self.part.wrong(allowed, given, method=self.method + of)

    def must_be_array(self, dtype: type[Any], *shape: int, value: Any = None, of: str = "") -> None:
        """Raise PluginError unless ``value`` is a contiguous array of this dtype and shape; None = the return value."""
        array = self.value if value is None else value
        right = isinstance(array, np.ndarray) and array.dtype == dtype and array.shape == shape
        allowed = f"{np.dtype(dtype)}[{', '.join(map(str, shape))}], C-contiguous"
        self.must(right and array.flags.c_contiguous, allowed, _describe(array), of)


class Checked(PluginPart):
    """Wraps a batch component and checks the results of its methods; missing attributes have the role's defaults."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in {"part", "found"}:  # not set yet during unpickling
            raise AttributeError(name)
        role = ROLES[self.found.role]
        try:
            value = getattr(self.part, name)
        except AttributeError as error:
            if error.name != name:  # raised inside a property: a fault of the plugin
                raise
            if name == "learn_within" and role.name == "block_index":  # optional for plugins
                return lambda texts, scopes: self.call("learn", texts)  # noqa: ARG005
            if name not in role.defaults:
                raise
            return role.defaults[name]
        return partial(self.call, name) if name in role.methods or name in OPTIONAL_METHODS else value

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method and return its result; raise PluginError if the call fails or the result is not allowed."""
        with blamed_on(self.found.label, f"failed in {method}"):
            value = getattr(self.part, method)(*arguments)
        if method in OF_BATCHES:
            OF_BATCHES[method](Answer(self, method, value), *arguments)
        return value


class CheckedReader(Checked):
    """Wraps a reader, because ``read`` may fail at any step of the iteration and not only when it is called."""

    def read(self, *arguments: Any) -> Iterator[Any]:
        """Yield the batches; raise PluginError if the reader fails."""
        batches: Iterator[Any] | None = None
        while True:
            with blamed_on(self.found.label, "failed in read"):  # without the yield, where the caller may raise
                batches = iter(self.part.read(*arguments)) if batches is None else batches
                batch = next(batches, None)
            if batch is None:
                return
            yield batch


def _texts(answer: Answer, texts: Sequence[str]) -> None:
    given, allowed = answer.value, f"a list of {len(texts)} str"
    answer.must(isinstance(given, list) and len(given) == len(texts), allowed, _describe(given))
    wrong = [text for text in given if not isinstance(text, str)]
    answer.must(not wrong, allowed, f"a list with {kind_of(next(iter(wrong), None))}")


def _tokens(answer: Answer, texts: Sequence[str]) -> None:
    """Check the arrays of tokens: dtypes, shapes, and that every token is a slice of the code points."""
    tokens = answer.value
    answer.must(isinstance(tokens, Tokens), "hybriddup.data.records.Tokens", _describe(tokens))
    n_tokens, n_points = len(tokens.starts), len(tokens.code_points)
    answer.must_be_array(np.uint32, n_points, value=tokens.code_points, of=": code_points")
    answer.must_be_array(np.int64, n_tokens, value=tokens.starts, of=": starts")
    answer.must_be_array(np.int32, n_tokens, value=tokens.lengths, of=": lengths")
    answer.must_be_array(np.int64, len(texts) + 1, value=tokens.offsets, of=": offsets")
    offsets, ends = tokens.offsets, tokens.starts + tokens.lengths
    covers = offsets[0] == 0 and offsets[-1] == n_tokens and (np.diff(offsets) >= 0).all()
    answer.must(covers, f"ascending numbers from 0 to {n_tokens}", offsets.tolist()[:8], ": offsets")
    inside = n_tokens == 0 or (tokens.starts.min() >= 0 and ends.max() <= n_points and tokens.lengths.min() >= 1)
    answer.must(inside, "tokens inside code_points", "others", ": starts and lengths")


def _weights(answer: Answer, tokens: Tokens) -> None:
    answer.must_be_array(np.float32, len(tokens.starts))
    wrong = answer.value[~((answer.value > 0) & (answer.value <= MAX_WEIGHT))]
    answer.must(not len(wrong), "weights above 0 and at most 1000", wrong.tolist()[:3])


def _keys(answer: Answer, texts: Sequence[str], bits: UInt64s) -> None:  # noqa: ARG001  the arguments of the method
    """Check the array of keys, including its agreement with the block index's ``n_keys`` and ``key_bits``."""
    keys, n_keys, key_bits = answer.value, getattr(answer.part, "n_keys", None), getattr(answer.part, "key_bits", 64)
    width = keys.shape[1] if isinstance(keys, np.ndarray) and keys.ndim == 2 else 1
    answer.must_be_array(np.uint64, len(bits), width)
    if answer.method == "keys" and n_keys is not None:
        answer.must(width <= n_keys, f"at most {n_keys} keys of a text, as n_keys says", width)
    if key_bits < 64:
        too_large = keys[(keys >> np.uint64(key_bits) > 0) & (keys != np.uint64(NO_KEY))].tolist()
        answer.must(not too_large, f"keys below 2**{key_bits}, as key_bits says", too_large[:3])


def _scores(answer: Answer, pairs: CandidatePairs, *_: Any) -> None:
    answer.must_be_array(np.float64, len(pairs.earlier))
    wrong = answer.value[~(answer.value <= 1.0)]
    answer.must(not len(wrong), "scores of at most 1.0", wrong.tolist()[:3])


def _shares(answer: Answer, *_: Any) -> None:
    given = answer.value
    right = isinstance(given, tuple) and len(given) == 2 and all(isinstance(share, float) for share in given)
    right = right and min(given) >= 0.0 and sum(given) <= 1.0
    answer.must(right, "two shares of 0.0 or more, at most 1.0 together", given)


def _reason(answer: Answer, *_: Any) -> None:
    given = answer.value
    answer.must(given is None or (isinstance(given, str) and given), A_REASON, _describe(given))


OF_BATCHES: dict[str, Callable[..., None]] = {
    "normalize_batch": _texts,
    "tokenize_batch": _tokens,
    "weigh_batch": _weights,
    "hash_batch": lambda answer, tokens, words: answer.must_be_array(np.uint64, len(tokens.starts), words),
    "keys": _keys,
    "probes": _keys,
    "score_pairs": _scores,
    "max_partner_lengths": lambda answer, lengths, *_: answer.must_be_array(np.int32, len(lengths)),
    "least_in_common": _shares,
    "refuse": lambda answer, _, earlier, *__: answer.must_be_array(np.bool_, len(earlier)),
    "reason": _reason,
}
"""Maps each batch method to a function that checks its return value, given an `Answer` and the call's arguments."""


def _describe(value: object) -> str:
    if isinstance(value, np.ndarray):
        contiguous = "" if value.flags.c_contiguous else ", not contiguous"
        return f"{value.dtype}[{', '.join(map(str, value.shape))}]{contiguous}"
    size = f" of {len(value)}" if isinstance(value, (list, tuple)) else ""
    return kind_of(value) + size
