"""scikit-learn estimators for texts: fingerprints as features, near duplicates as clusters.

Importing this module loads scikit-learn, which `import hybriddup` alone does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from hybriddup.api import dedupe
from hybriddup.config.load import open_session
from hybriddup.data.frames import describe
from hybriddup.data.records import UInt8s, UInt64s
from hybriddup.errors import InputError
from hybriddup.run.components import Components
from hybriddup.steps.parallel import available_workers

OUTPUTS = ("words", "bits")


class TextInputError(InputError, ValueError):
    """``X`` is not a list, array or column of texts; also a ValueError, like the errors of scikit-learn estimators."""


class SimhashVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Converts texts to simhash fingerprints; `fit` learns the weights of tokens, if the weighter is one that learns.

    Parameters
    ----------
    config
        Name of a shipped configuration, path of a YAML file, dict, or `Settings`.
    output
        ``words``: uint64[n_texts, bits / 64], compact, for `hybriddup` and other code that compares bits.
        ``bits``: uint8[n_texts, bits] of 0 and 1, for scikit-learn metrics such as ``hamming``.
    workers
        Number of threads or processes; None = one per core. The fingerprints do not depend on it.

    Attributes
    ----------
    settings_
        The resolved `Settings`.
    components_
        The components of the steps, with the fitted fingerprinter.

    Examples
    --------
    >>> SimhashVectorizer(output="bits").fit_transform(["big cat", "big cats"]).shape
    (2, 128)
    """

    def __init__(self, config: Any = "posts", *, output: str = "words", workers: int | None = None) -> None:
        self.config = config
        self.output = output
        self.workers = workers

    def fit(self, X: Any, y: Any = None) -> SimhashVectorizer:  # noqa: ARG002, N803 - scikit-learn's names
        """Learn the weights of tokens from these texts.

        Parameters
        ----------
        X
            List, array or single column of strings, at least one.
        y
            Ignored.

        Returns
        -------
        SimhashVectorizer
            The estimator itself.

        Raises
        ------
        TextInputError
            ``X`` is not a list, array or single column of strings, or is empty.
        ConfigError
            The configuration is invalid.
        """
        if self.output not in OUTPUTS:
            raise ValueError(f"output must be one of {OUTPUTS}; got {self.output!r}.")
        texts = read_texts(X)
        if not texts:
            raise TextInputError("fit needs at least one text; got 0.")
        self.settings_, manager = open_session(self.config)
        self.components_ = Components.create(self.settings_, manager.registry, self.workers or available_workers())
        self.components_.fingerprinter.fit(self._searched(texts))
        return self

    def transform(self, X: Any) -> UInt64s | UInt8s:  # noqa: N803 - scikit-learn's name
        """Return the fingerprints: uint64[n_texts, bits / 64], or uint8[n_texts, bits] with ``output="bits"``.

        Raises
        ------
        TextInputError
            ``X`` is not a list, array or single column of strings.
        NotFittedError
            `fit` was not called.
        """
        check_is_fitted(self)
        words = self.components_.fingerprinter.fingerprint(self._searched(read_texts(X))).bits
        return words if self.output == "words" else unpack_bits(words)

    def _searched(self, texts: list[str]) -> Sequence[str]:
        return self.components_.searched(self.components_.compared(self.components_.normalizer.normalize_batch(texts)))

    @property
    def _n_features_out(self) -> int:
        n_bits = self.components_.fingerprinter.n_bits
        return n_bits if self.output == "bits" else n_bits // 64

    def __sklearn_tags__(self) -> Tags:
        tags = _text_tags(super().__sklearn_tags__())
        tags.transformer_tags.preserves_dtype = []
        return tags


LEFT_OUT = -1


class NearDuplicates(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Clusters texts by `hybriddup.dedupe`: each removed text joins the cluster of its keeper.

    Parameters
    ----------
    config
        Name of a shipped configuration, path of a YAML file, dict, or `Settings`.
    workers
        Number of threads or processes; None = one per core. The labels do not depend on it.

    Attributes
    ----------
    labels_
        int64[n_texts]: cluster of each text. Clusters are numbered in the order of their keepers; with ``keep: first``,
        the keeper is the first text of its cluster. A text without duplicates is the only one in its cluster. Texts
        that ``without_text: drop`` leaves out are labeled -1, like noise in scikit-learn.
    keeper_indices_
        int64[n_clusters]: index of the kept text of each cluster, ascending.
    result_
        The `Result`, with the evidence for each removed text.

    Examples
    --------
    >>> NearDuplicates().fit_predict(["what a lovely day in June", "lunch?", "What a lovely day in June"]).tolist()
    [0, 1, 0]
    """

    def __init__(self, config: Any = "posts", *, workers: int | None = None) -> None:
        self.config = config
        self.workers = workers

    def fit(self, X: Any, y: Any = None) -> NearDuplicates:  # noqa: ARG002, N803 - scikit-learn's names
        """Decide which of these texts to keep, and assign the others to their clusters.

        Parameters
        ----------
        X
            List, array or single column of strings, at least one, in the order in which they are decided.
        y
            Ignored.

        Returns
        -------
        NearDuplicates
            The estimator itself.

        Raises
        ------
        TextInputError
            ``X`` is not a list, array or single column of strings, or is empty.
        ConfigError
            The configuration is invalid.
        """
        texts = read_texts(X)
        if not texts:
            raise TextInputError("fit needs at least one text; got 0.")
        self.result_ = dedupe(texts, config=self.config, workers=self.workers)
        self.keeper_indices_ = self.result_.kept_rows.copy()
        self.labels_ = np.searchsorted(self.keeper_indices_, self.result_.labels)
        self.labels_[list(self.result_.dropped)] = LEFT_OUT
        return self

    def __sklearn_tags__(self) -> Tags:
        return _text_tags(super().__sklearn_tags__())


def read_texts(X: Any) -> list[str]:  # noqa: N803 - scikit-learn's name
    """Return the texts of a list, a 1-D array, a series, or an array or data frame of one column.

    Raises
    ------
    TextInputError
        ``X`` is of another type, or a text is not a string; the message has the index of the first such text.
    """
    if isinstance(X, (str, bytes)):
        raise TextInputError(
            f"X must be a list or array of strings; got {describe(X)}. A list with one text is [text]."
        )
    array = X if isinstance(X, list) and all(isinstance(text, str) for text in X) else np.asarray(X, dtype=object)
    if isinstance(array, np.ndarray) and array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if isinstance(array, np.ndarray) and array.ndim != 1:
        raise TextInputError(
            f"X must be a list or array of strings, or have a single column of them; got {type(X).__name__} of shape "
            f"{array.shape}. Choose the column with the texts, such as X['text']."
        )
    for position, text in enumerate(array):
        if not isinstance(text, str):
            raise TextInputError(f"X[{position}] must be a string; got {describe(text)}.")
    return list(map(str.__str__, array))


def unpack_bits(words: UInt64s) -> UInt8s:
    """Unpack uint64[n, words] into bits: uint8[n, 64 * words] of 0 and 1.

    Column ``b`` is bit ``b % 64`` of word ``b // 64``.

    Examples
    --------
    >>> unpack_bits(np.array([[5]], np.uint64))[0, :4].tolist()
    [1, 0, 1, 0]
    """
    octets = np.ascontiguousarray(words, dtype="<u8").view(np.uint8)
    return np.unpackbits(octets.reshape(len(words), 8 * words.shape[1]), axis=1, bitorder="little")


def _text_tags(tags: Tags) -> Tags:
    tags.input_tags.string = True
    tags.input_tags.one_d_array = True
    tags.input_tags.two_d_array = False
    return tags
