"""Block index: texts -> block keys. Texts without a common key are never compared.

**Two texts are a candidate pair if they share a key and the Hamming distance of their fingerprints is within the limit
for the length of the shorter text.** A block index computes the keys of a text; an index of
`hybriddup.steps.candidates` stores them. A look-up of a key reads only the `BlockIndex.max_bucket_size` newest kept
texts, so that the result depends on the order of the texts alone.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hybriddup.data.records import NO_KEY, Int64s, UInt64s


class BlockIndex(ABC):
    """Computes the block keys of texts; a subclass must define only `keys`.

    Instead of a subclass, a plugin may provide a function ``(text: str) -> list[int]``.
    """

    max_bucket_size: int = 0
    """Maximum number of kept texts that a look-up of a key reads, the newest ones; 0 = all."""
    max_candidates: int = 0
    """Limit for each text: a candidate is skipped if at least this many earlier candidates of the text have an equal or
    smaller Hamming distance; 0 = no limit."""
    is_complete: bool = False
    """Whether any two texts within the Hamming limit are certain to share a key."""
    probes_others: bool = False
    """Whether texts are looked up by the result of `probes` instead of their own keys."""

    reads_texts: bool = True
    """Whether keys depend on the text; if False, they depend on the fingerprint alone."""
    learns: bool = False
    """Whether the index learns from a sample of texts, by `learn`."""
    n_keys: int | None = None
    """Maximum number of keys per text; None = it varies between batches."""
    key_bits: int = 64
    """Width of keys: all but `NO_KEY` are below ``2**key_bits``. Keys of 32 bits take less memory than keys of 64."""

    def prepare(self, bits: int, max_hamming_distance: int) -> None:  # noqa: B027  (need not be written)
        """Prepare for fingerprints of ``bits`` bits; called once, before all other methods.

        ``max_hamming_distance`` is the largest limit of any length band.
        """

    def use_segments(self) -> Sequence[int]:
        """Switch to keys made of fingerprint bits instead of a hash; return the number of these bits in each key.

        If the index cannot do this, nothing changes, and the result is empty. Call it after `prepare`. Afterwards, the
        lowest byte of a key is its index among the keys of the text, and the bits above are its *segment*: up to 32
        bits of the fingerprint.
        """
        return ()

    @abstractmethod
    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        """Return uint64[n, n_keys]: the distinct keys of each text, padded with `NO_KEY`.

        Parameters
        ----------
        texts
            Normalized texts; with ``compare: body``, only their words, without emoji, links and mentions.
        bits
            uint64[n, words]: their fingerprints.
        """

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:  # noqa: ARG002  (only where `probes_others`)
        """Return uint64[n, n_probes]: the keys by which each text is looked up; called only if `probes_others`.

        ``keys`` is the result of `keys` for the texts, and ``bits`` are their fingerprints.
        """
        return keys

    def describe(self) -> str:
        """Return a one-line description, such as ``blocks: 4 choose 1, 4 keys``."""
        return type(self).__name__.lower()

    def learn(self, texts: Sequence[str]) -> None:  # noqa: B027
        """Learn from a sample of the texts; called once, before `keys`."""

    def learn_within(self, texts: Sequence[str], scopes: Int64s) -> None:  # noqa: ARG002  (most need no scopes)
        """Learn from a sample of texts that are compared only within their scope; called instead of `learn`.

        ``scopes``: int64[n], the scope of each text, numbered from 0.
        """
        self.learn(texts)

    def learned(self) -> Mapping[str, NDArray[Any]]:
        """Return the learned state as named arrays of numbers or strings, for `use_learned`."""
        return {}

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:  # noqa: B027
        """Restore the learned state of another instance with the same options; called instead of `learn`."""


def bucket_limit(default: int) -> Any:
    """Return the pydantic field for the option ``max_bucket_size`` of a block index, with the given default."""
    description = (
        "Maximum number of kept texts to read per key, the newest ones; the summary counts how often a key has more. "
        "0 = all."
    )
    return Field(default, ge=0, description=description)


@dataclass
class BlockReport:
    """Counts of the candidate search for the summary of a run, such as how often a key had too many texts."""

    shape: str = ""
    """Description of the block index, in one line."""
    exact: bool = False
    """Whether the index is certain to find every pair within its Hamming limit."""
    n_look_ups: int = 0
    """Number of keys looked up."""
    n_comparisons: int = 0
    """Number of pairs of fingerprints whose Hamming distance was computed."""
    largest_bucket: int = 0
    """Largest number of kept texts with one key."""
    limits_hit: dict[str, int] = field(default_factory=dict)
    """How often each limit cut a search short, by the name of the limit's option."""

    def add(self, n_comparisons: int, n_look_ups: int, largest_bucket: int) -> None:
        """Add the counts of a search; for `largest_bucket`, keep the maximum of all searches."""
        self.n_look_ups += n_look_ups
        self.n_comparisons += n_comparisons
        self.largest_bucket = max(self.largest_bucket, largest_bucket)

    def hit(self, limit: str, n_times: int) -> None:
        """Add ``n_times`` to the number of searches that a limit cut short; ``limit`` is the name of its option."""
        if n_times:
            self.limits_hit[limit] = self.limits_hit.get(limit, 0) + int(n_times)


def count_shared(earlier: UInt64s, later: UInt64s) -> int:
    """Return how many of the keys of an earlier text are also among the lookup keys of a later text."""
    shared = np.intersect1d(earlier, later)
    return int((shared != np.uint64(NO_KEY)).sum())
