"""Weight: tokens -> weights of their votes on the bits of the fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np
import xxhash
from numpy.typing import NDArray
from pydantic import AfterValidator, Field

from hybriddup.data.limits import MAX_WEIGHT
from hybriddup.data.records import Float32s, Float64s, Int32s, Tokens, UInt64s
from hybriddup.kernels.text.token_table import build_table, count_documents, count_occurrences, look_up
from hybriddup.steps.hashers import Hasher, Xxh3
from hybriddup.steps.options import Options as ComponentOptions

KEY_SEED = 0


@runtime_checkable
class Weighter(Protocol):
    """Gives each occurrence of a token a positive weight; the weights of a token's occurrences add up."""

    needs_fit: bool
    """Whether `fit` must be called before `weigh_batch`."""

    def fit(self, sample: Tokens) -> None:
        """Learn from the tokens of a sample of the corpus; called once, and only if `needs_fit` is true."""
        ...

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens]: the weight of each token, above 0 and up to 1,000."""
        ...


class TermFrequency:
    """Every occurrence of a token weighs 1, so that a token's total weight is its number of occurrences."""

    needs_fit = False

    def fit(self, sample: Tokens) -> None:
        """Learn nothing."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens]: 1 for every token."""
        return np.ones(len(tokens.starts), np.float32)


class Uniform:
    """Every distinct token of a text weighs 1, however often it occurs."""

    needs_fit = False

    def fit(self, sample: Tokens) -> None:
        """Learn nothing."""

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens]: 1 divided equally among the occurrences of a token in its text."""
        return (1.0 / count_occurrences(token_keys(tokens), tokens.offsets)).astype(np.float32)


def check_clip(clip: tuple[float, float]) -> tuple[float, float]:
    """Return ``clip`` if it is a valid range; raise ValueError if it is empty or exceeds the range of weights."""
    low, high = clip
    if not 0.0 < low <= high <= MAX_WEIGHT:
        message = f"must be [low, high] with 0 < low <= high <= {MAX_WEIGHT:.0f}"
        raise ValueError(message)
    return clip


@dataclass(frozen=True)
class FittedTable:
    """The weights of the common tokens of a corpus; every other token weighs ``rarest``."""

    keys: UInt64s
    """uint64[n]: keys of the tokens, ascending."""
    weights: Float32s
    """float32[n]: weight of each token in ``keys``."""
    rarest: float

    @cached_property
    def slots(self) -> tuple[UInt64s, Float32s]:
        """Keys and weights as a hash table, for `hybriddup.kernels.text.token_table.look_up`."""
        slots: tuple[UInt64s, Float32s] = build_table(self.keys, self.weights)
        return slots

    def checksum(self) -> str:
        """Return a checksum of the table: 32 hexadecimal digits."""
        content = self.keys.astype("<u8").tobytes() + self.weights.astype("<f4").tobytes()
        return xxhash.xxh3_128_hexdigest(content + np.float64(self.rarest).tobytes())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the table as named arrays, for `from_arrays`."""
        return {"keys": self.keys, "weights": self.weights, "rarest": np.array(self.rarest)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> FittedTable:
        """Build the table from the result of `arrays`."""
        return cls(arrays["keys"], arrays["weights"], float(arrays["rarest"]))


class FittedWeighter:
    """Base class of weighters with a table of fitted weights.

    The table contains only tokens that weigh less than the rarest tokens do, so it stays small for any corpus.
    """

    other = 0.0
    """Weight of every token in scripts other than Han, kana, hangul and emoji; 0 = from the table."""

    def __init__(self) -> None:
        self._table: FittedTable | None = None

    @property
    def needs_fit(self) -> bool:
        """Whether there is no table of weights yet."""
        return self._table is None

    def use(self, table: FittedTable) -> None:
        """Use an already fitted table instead of fitting one."""
        self._table = table

    def _keep_table(self, keys: UInt64s, weights: Float32s, rarest: float) -> None:
        common = np.flatnonzero(weights < rarest)
        common = common[np.argsort(keys[common])]
        self._table = FittedTable(keys[common], weights[common], rarest)

    @property
    def table(self) -> FittedTable:
        """The fitted table; raises RuntimeError before `fit` or `use`."""
        if self._table is None:
            raise RuntimeError("fit must be called before weigh_batch")
        return self._table

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        """Return float32[n_tokens]: the weight of each token, the highest for tokens missing from the sample."""
        return self.weigh_keys(tokens, token_keys(tokens)[:, None])

    def weigh_keys(self, tokens: Tokens, keys: UInt64s) -> Float32s:
        """Return float32[n_tokens]: the weight of each token.

        ``keys``: uint64[n_tokens, words], with the result of `token_keys` in the first column.
        """
        rarest, other = np.float32(self.table.rarest), np.float32(self.other)
        weights: Float32s = look_up(*self.table.slots, keys, rarest, tokens.code_points, tokens.starts, other)
        return weights

    def recipe(self) -> dict[str, Any]:
        """Return this component's part of the recipe id: the checksum of the fitted table."""
        return {"table": self.table.checksum()}


class TfIdf(FittedWeighter):
    """Inverse document frequency ``ln(texts / texts with the token)``, clipped, times term frequency.

    The range is narrow: full IDF would drive apart the fingerprints of edited copies of short texts, but without any
    weighting, common characters would crowd texts into a few buckets. Tokens in alphabetic scripts have one constant
    weight, about the mean weight of other tokens, so that both scripts of a mixed text count.
    """

    class Options(ComponentOptions):
        """Options of the weighter."""

        clip: Annotated[tuple[float, float], AfterValidator(check_clip)] = (2.0, 5.0)
        """Lowest and highest inverse document frequency, natural logarithm."""
        other: float | None = Field(3.5, gt=0.0, le=MAX_WEIGHT)
        """Weight of every token in scripts other than Han, kana, hangul and emoji; null: by frequency."""

    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.other = options.other or 0.0

    def fit(self, sample: Tokens) -> None:
        """Learn the document frequency of each token of the sample."""
        keys, counts = count_documents(token_keys(sample), sample.offsets)
        frequencies = inverse_document_frequencies(counts, sample.n_texts)
        low, high = self.options.clip
        self._keep_table(keys, np.clip(frequencies, low, high).astype(np.float32), high)


class Levels(FittedWeighter):
    """Weights 1 to 5: inverse document frequency in five equal steps; a token in only one text weighs 5."""

    n_levels = 5

    def fit(self, sample: Tokens) -> None:
        """Learn the level of each token from its document frequency in the sample."""
        keys, counts = count_documents(token_keys(sample), sample.offsets)
        shares = inverse_document_frequencies(counts, sample.n_texts) / np.log(max(sample.n_texts, 2))
        levels = np.clip(np.ceil(shares * self.n_levels), 1, self.n_levels).astype(np.float32)
        self._keep_table(keys, levels, float(self.n_levels))


def inverse_document_frequencies(counts: Int32s, n_texts: int) -> Float64s:
    """Return float64[n]: ``ln(n_texts / count)``, where ``count`` is the number of texts that contain a token."""
    frequencies: Float64s = np.log(max(n_texts, 1) / np.maximum(counts, 1))
    return frequencies


def token_keys(tokens: Tokens) -> UInt64s:
    """Return uint64[n_tokens]: the keys of tokens in fitted tables, independent of the hasher of the run."""
    return Xxh3(Xxh3.Options(seed=KEY_SEED)).hash_batch(tokens, 1)[:, 0]


def begin_with_keys(hasher: Hasher) -> bool:
    """Return whether a hasher's first 64-bit word for a token is the token's key (see `token_keys`)."""
    return type(hasher) is Xxh3 and hasher.options.seed == KEY_SEED  # a subclass may hash differently
