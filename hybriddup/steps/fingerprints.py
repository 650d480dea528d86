"""Fingerprint: hashes and weights -> simhash; the tokens of a text cast a weighted vote on each bit.

The steps tokenize, weight, hash and fingerprint run batch by batch, so that only the tokens of one batch are in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import Bools, Float32s, Tokens, UInt64s
from hybriddup.data.spread import spread_rows
from hybriddup.kernels.text.simhash import count_weights, simhash
from hybriddup.steps.hashers import Hasher
from hybriddup.steps.parallel import map_threads
from hybriddup.steps.tokenizers import Tokenizer
from hybriddup.steps.tokenizers.processes import tokenize_in_processes, tokenize_together
from hybriddup.steps.weighters import FittedWeighter, Weighter, begin_with_keys

TEXTS_PER_BATCH = 1024
"""Number of texts per batch: few enough that their tokens stay in the CPU cache between the steps."""
MIN_TEXTS_PER_BATCH = 512
"""Minimum number of texts per batch: with fewer, threads lose as much time waiting for each other as they save."""
FIT_SAMPLE = 4096
"""Number of texts for fitting a weighter, spread evenly over the corpus: enough to estimate a frequency of 1 % with a
relative error of 15 %."""


class Simhashes(NamedTuple):
    """Fingerprints of texts, in the order of the texts."""

    bits: UInt64s
    """uint64[n, words]: the fingerprint of each text."""
    has_tokens: Bools
    """bool[n]: whether each text has tokens, and also words if the caller requires words; the fingerprint of any other
    text is invalid."""

    @property
    def is_comparable(self) -> Bools:
        """bool[n]: whether a fingerprint may be compared; a fingerprint of zeros never matches."""
        return self.has_tokens & self.bits.any(axis=1)


@dataclass
class Fingerprinter:
    """Fingerprints texts with a tokenizer, a weighter and a hasher."""

    tokenizer: Tokenizer
    weighter: Weighter
    hasher: Hasher
    n_bits: int
    workers: int = 1
    notes: list[str] = field(default_factory=list)
    """Messages for the user, added by `fit` and `fingerprint`."""

    def fit(self, texts: Sequence[str]) -> None:
        """Fit the weighter on a sample of the texts, if it needs fitting."""
        if self.weighter.needs_fit:
            sample = [texts[row] for row in spread_rows(len(texts), FIT_SAMPLE)]
            self.weighter.fit(tokenize_together(self.tokenizer, sample, self.workers, self.notes.append, len(texts)))

    def fingerprint(self, texts: Sequence[str], advance: Callable[[int], None] = lambda _: None) -> Simhashes:
        """Return the fingerprint of each text; after each batch, call ``advance`` with its number of texts."""
        bits, has_tokens = np.zeros((len(texts), self.n_bits // 64), np.uint64), np.zeros(len(texts), np.bool_)
        done = 0
        for batch in self._batches(texts):
            stop = done + len(batch.bits)
            bits[done:stop], has_tokens[done:stop] = batch
            advance(stop - done)
            done = stop
        return Simhashes(bits, has_tokens)

    def _batches(self, texts: Sequence[str]) -> Iterator[Simhashes]:
        if self.tokenizer.holds_interpreter:
            starts = range(0, len(texts), TEXTS_PER_BATCH)
            batches = [texts[start : start + TEXTS_PER_BATCH] for start in starts]
            tokens = tokenize_in_processes(self.tokenizer, batches, self.workers, self.notes.append)
            return map(self._fingerprint_batch, batches, tokens)
        size = batch_size(len(texts), self.workers)
        starts = range(0, len(texts), size)
        return map_threads(lambda start: self._fingerprint_texts(texts[start : start + size]), starts, self.workers)

    def _fingerprint_texts(self, texts: Sequence[str]) -> Simhashes:
        return self._fingerprint_batch(texts, self.tokenizer.tokenize_batch(texts))

    def _fingerprint_batch(self, texts: Sequence[str], tokens: Tokens) -> Simhashes:
        bits, has_tokens = self.fingerprint_tokens(tokens)
        # A tokenizer that marks the ends of a text returns tokens even for an empty one.
        return Simhashes(bits, has_tokens & np.fromiter(map(bool, texts), np.bool_, len(texts)))

    def fingerprint_tokens(self, tokens: Tokens) -> Simhashes:
        """Return the fingerprints of tokenized texts."""
        hashes = self.hasher.hash_batch(tokens, self.n_bits // 64)
        bits = simhash(hashes, count_weights(self._weigh(tokens, hashes)), tokens.offsets)
        return Simhashes(bits, tokens.offsets[1:] > tokens.offsets[:-1])

    def _weigh(self, tokens: Tokens, hashes: UInt64s) -> Float32s:
        """Return the weight of each token; if the `token_keys` are the first column of ``hashes``, use this column."""
        if begin_with_keys(self.hasher) and isinstance(self.weighter, FittedWeighter):
            return self.weighter.weigh_keys(tokens, hashes)
        return self.weighter.weigh_batch(tokens)


def batch_size(n_texts: int, workers: int) -> int:
    """Return the number of texts per batch: `TEXTS_PER_BATCH`, or fewer if some workers would otherwise get none."""
    return min(max(-(-n_texts // workers), MIN_TEXTS_PER_BATCH), TEXTS_PER_BATCH)
