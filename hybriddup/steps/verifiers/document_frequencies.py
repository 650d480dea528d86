"""How many texts hold each feature, learned in batches: memory grows with the distinct features, not with the texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Float64s, Int64s, Tokens, UInt64s
from hybriddup.steps.hashers import Xxh3
from hybriddup.steps.verifiers.features import count_features


class InverseDocumentFrequencies:
    """Inverse document frequencies, ``ln((1 + n_texts) / (1 + n_texts_with_feature)) + 1``, by feature.

    Notes
    -----
    The formula is that of scikit-learn's ``TfidfTransformer(smooth_idf=True)``; a feature never seen counts as held by
    no text. Features are kept as their 64-bit XXH3: among ten million of them, the odds that any two share an entry
    are about one in 400,000, and what they would share is a frequency.
    """

    def __init__(self) -> None:
        self._n_texts = 0
        self._keys: UInt64s = np.empty(0, np.uint64)
        self._n_with: Int64s = np.empty(0, np.int64)
        self._hasher = Xxh3(Xxh3.Options())

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the frequencies that `arrays` returned."""
        frequencies = cls()
        frequencies._n_texts = int(arrays["n_texts"])
        frequencies._keys = arrays["keys"].astype(np.uint64)
        frequencies._n_with = arrays["n_with"].astype(np.int64)
        return frequencies

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all that was learned: how many texts there were, and how many of them hold each feature."""
        return {"n_texts": np.array(self._n_texts), "keys": self._keys, "n_with": self._n_with}

    def learn(self, batches: Iterable[Tokens]) -> None:
        """Count the texts that hold each feature, given the features of some texts at a time."""
        waiting: list[tuple[UInt64s, Int64s]] = []
        for tokens in batches:
            counts, features = count_features(tokens)
            waiting.append((self._hash(features), np.bincount(counts.indices, minlength=len(features.starts))))
            self._n_texts += tokens.n_texts
            # Merging only when as much waits as is there keeps the cost linear, up to a logarithm.
            if sum(len(keys) for keys, _ in waiting) > len(self._keys):
                self._merge(waiting)
                waiting = []
        self._merge(waiting)

    def look_up(self, features: Tokens) -> Float64s:
        """Return float64[n_features]: the inverse document frequency of each, 1.0 where every text holds it."""
        keys = self._hash(features)
        places = np.searchsorted(self._keys, keys).clip(max=max(len(self._keys) - 1, 0))
        n_with = np.zeros(len(keys), np.int64)
        if len(self._keys):
            n_with = np.where(self._keys[places] == keys, self._n_with[places], 0)
        return np.asarray(np.log((1 + self._n_texts) / (1 + n_with)) + 1.0)

    def _hash(self, features: Tokens) -> UInt64s:
        return self._hasher.hash_batch(features, 1)[:, 0]

    def _merge(self, waiting: list[tuple[UInt64s, Int64s]]) -> None:
        keys = np.concatenate([self._keys, *(keys for keys, _ in waiting)])
        n_with = np.concatenate([self._n_with, *(counts for _, counts in waiting)])
        self._keys, places = np.unique(keys, return_inverse=True)
        self._n_with = np.zeros(len(self._keys), np.int64)
        np.add.at(self._n_with, places, n_with)
