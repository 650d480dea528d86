"""Fingerprint: hashes and weights -> simhash of 64 or 128 bits, a text's tokens added up bit by bit.

The four steps before it (tokenize, weight, hash, fingerprint) run batch by batch, so that tokens never pile up.
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
from hybriddup.steps.posts.parts import words_of
from hybriddup.steps.tokenizers import Tokenizer
from hybriddup.steps.tokenizers.processes import tokenize_in_processes, tokenize_together
from hybriddup.steps.weighters import FittedWeighter, Weighter, begin_with_keys

TEXTS_A_BATCH = 1024
"""Small enough that the tokens of a batch stay in the cache between the steps."""
FEWEST_A_BATCH = 512
"""Texts that are worth a thread: with fewer, threads wait for one another between the steps as long as they save."""
FIT_SAMPLE = 4096
"""Texts that a weighter is fitted on, spread evenly over the corpus: frequencies of 1 in 100 are then known to 15 %."""


class Simhashes(NamedTuple):
    """Fingerprints of texts, in their order."""

    bits: UInt64s
    """uint64[n, words]."""
    has_tokens: Bools
    """bool[n]: False if a text is empty, or has no tokens, or no words although these are needed; its fingerprint means
    nothing."""

    @property
    def is_comparable(self) -> Bools:
        """bool[n]: whether a fingerprint may be compared; all zero, for whatever cause, is never a reason to match."""
        return self.has_tokens & self.bits.any(axis=1)


@dataclass
class Fingerprinter:
    """The components that turn texts into fingerprints, put together."""

    tokenizer: Tokenizer
    weighter: Weighter
    hasher: Hasher
    n_bits: int
    workers: int = 1
    reads_words: bool = False
    """Whether emoji, links and mentions are left out of texts that have words."""
    notes: list[str] = field(default_factory=list)
    """Remarks for the user."""

    def fit(self, texts: Sequence[str]) -> None:
        """Fit the weighter on a sample of the texts, where it needs that."""
        if self.weighter.needs_fit:
            sample = self.read([texts[row] for row in spread_rows(len(texts), FIT_SAMPLE)])
            self.weighter.fit(tokenize_together(self.tokenizer, sample, self.workers, self.notes.append, len(texts)))

    def fingerprint(self, texts: Sequence[str], advance: Callable[[int], None] = lambda _: None) -> Simhashes:
        """Return the fingerprint of each text; ``advance`` is told how many are done, batch by batch."""
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
            starts = range(0, len(texts), TEXTS_A_BATCH)
            batches = [self.read(texts[start : start + TEXTS_A_BATCH]) for start in starts]
            tokens = tokenize_in_processes(self.tokenizer, batches, self.workers, self.notes.append)
            return map(self._fingerprint_batch, batches, tokens)
        size = texts_a_batch(len(texts), self.workers)
        starts = range(0, len(texts), size)
        return map_threads(lambda start: self._fingerprint_texts(texts[start : start + size]), starts, self.workers)

    def _fingerprint_texts(self, texts: Sequence[str]) -> Simhashes:
        return self._fingerprint_batch(texts, self.tokenizer.tokenize_batch(self.read(texts)))

    def read(self, texts: Sequence[str]) -> Sequence[str]:
        """Return what fingerprints are made of."""
        return words_of(texts) if self.reads_words else texts

    def _fingerprint_batch(self, texts: Sequence[str], tokens: Tokens) -> Simhashes:
        bits, has_tokens = self.fingerprint_tokens(tokens)
        # An empty text says nothing, whatever a tokenizer that marks the ends of a text makes of it.
        return Simhashes(bits, has_tokens & np.fromiter(map(bool, texts), np.bool_, len(texts)))

    def fingerprint_tokens(self, tokens: Tokens) -> Simhashes:
        """Return the fingerprints of texts that are tokenized already."""
        hashes = self.hasher.hash_batch(tokens, self.n_bits // 64)
        bits = simhash(hashes, count_weights(self._weigh(tokens, hashes)), tokens.offsets)
        return Simhashes(bits, tokens.offsets[1:] > tokens.offsets[:-1])

    def _weigh(self, tokens: Tokens, hashes: UInt64s) -> Float32s:
        """Return the weights of tokens, which need not be hashed again where the hashes tell what they are known by."""
        if begin_with_keys(self.hasher) and isinstance(self.weighter, FittedWeighter):
            return self.weighter.weigh_keys(tokens, hashes)
        return self.weighter.weigh_batch(tokens)


def texts_a_batch(n_texts: int, workers: int) -> int:
    """Return how many texts are fingerprinted at a time: fewer than `TEXTS_A_BATCH` where each worker then has some."""
    return min(max(-(-n_texts // workers), FEWEST_A_BATCH), TEXTS_A_BATCH)
