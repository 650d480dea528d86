"""Pairs of texts with their verdicts: the pairs of a batch that is being decided, and the accepted pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int8s, Int32s, Int64s, NearPairs, Rows, UInt64s, VerifiedPairs
from hybriddup.kernels.search.decide import IN_INDEX, OPEN
from hybriddup.steps.candidates import Batch

HALF_WORD = np.uint64(32)
NARROW = {np.dtype(np.int64): np.dtype(np.uint32), np.dtype(np.int32): np.dtype(np.int16)}
"""Maps each column type to a narrower type for storage. Positions are below 2**32, as `pair_codes` requires; distances,
verifier indices and band indices fit into 16 bits."""
Pairs = TypeVar("Pairs", bound=Rows)


@dataclass(frozen=True, slots=True, eq=False)
class BatchPairs(Rows):
    """Pairs whose later text belongs to one batch, sorted by later text, then by earlier text."""

    earlier: Int64s
    """int64[n_pairs]: position of the earlier text in the order of deciding."""
    earlier_rows: Int64s
    """int64[n_pairs]: row of the earlier text in the batch, `IN_INDEX` for a kept text of the index."""
    later: Int64s
    """int64[n_pairs]: row of the later text in the batch."""
    distances: Int32s
    """int32[n_pairs]: number of differing fingerprint bits."""
    depths: Int64s
    """int64[n_pairs]: recency rank of the earlier text among the kept texts with a shared key, 1 = the newest; see
    `NearPairs.depths` for pairs with several shared keys."""
    verdicts: Int8s
    """int8[n_pairs]: `OPEN` (not verified yet), `MATCHES` or `REFUSED`."""

    @classmethod
    def of_index(cls, near: NearPairs) -> BatchPairs:
        """Build batch pairs from the result of looking up a batch in the index; no pair is verified yet."""
        n = len(near.later)
        rows, verdicts = np.full(n, IN_INDEX), np.full(n, OPEN)
        return cls(near.earlier, rows, near.later, near.distances, near.depths, verdicts)

    @classmethod
    def within(cls, batch: Batch, near: NearPairs) -> BatchPairs:
        """Build batch pairs from near pairs within a batch; leave out equal texts and texts too far apart in time."""
        chosen = batch.text_numbers[near.earlier] != batch.text_numbers[near.later]
        if batch.times is not None and batch.oldest is not None:
            chosen &= batch.times[near.earlier] > batch.oldest[near.later]
        near = near.take(chosen)
        verdicts = np.full(len(near.later), OPEN)
        return cls(batch.positions[near.earlier], near.earlier, near.later, near.distances, near.depths, verdicts)

    def is_sure(self, most_with_key: Int64s, max_bucket_size: int) -> Bools:
        """Return bool[n_pairs]: whether the earlier text is a candidate no matter which texts of the batch are kept.

        ``most_with_key``: int64[n], for each text, the number of earlier texts of the batch with its most frequent
        look-up key.
        """
        if not max_bucket_size:
            return np.ones(len(self), np.bool_)
        n_newer = most_with_key[self.later]
        n_newer += np.where(self.earlier_rows == IN_INDEX, self.depths, 0)
        return n_newer <= max_bucket_size


def join_batch_pairs(of_index: BatchPairs, within: BatchPairs) -> BatchPairs:
    """Merge pairs whose earlier text is in the index with pairs within the batch, sorted by later text.

    For each later text, the pairs with texts of the index come first.
    """
    joined = join_pairs([of_index, within])
    return joined.take(np.argsort(joined.later, kind="stable"))


class Evidence:
    """Collects the accepted pairs of a batch; texts are identified by position in the order of deciding."""

    def __init__(self) -> None:
        self.n_verified = 0
        """Number of pairs that were verified, accepted or not."""
        self._accepted = [no_verified_pairs()]

    def note(self, accepted: VerifiedPairs, n_verified: int) -> None:
        """Add accepted pairs, and count the ``n_verified`` pairs that were verified to find them."""
        self.n_verified += n_verified
        self._accepted.append(accepted)

    def of(self, codes: UInt64s) -> VerifiedPairs:
        """Return the accepted pairs with these `pair_codes`, sorted by later text; each code must have such a pair."""
        accepted = join_pairs(self._accepted)
        ours = pair_codes(accepted.earlier, accepted.later)
        order = np.argsort(ours)
        return accepted.take(order[np.searchsorted(ours[order], np.sort(codes))])

    def pairs(self) -> CandidatePairs:
        """Return all accepted pairs as candidate pairs, without their scores."""
        accepted = join_pairs(self._accepted)
        return CandidatePairs(accepted.earlier, accepted.later, accepted.hamming_distances)


class GrowingPairs(Generic[Pairs]):
    """A growing array of pairs, stored with narrow types; its capacity doubles when it is full.

    ``none`` is an empty instance of the pairs to store, and ``room`` is the initial capacity. Unused capacity takes no
    memory. Collecting parts in a list and joining them at the end would take up to three times as much memory, because
    small freed blocks are not returned to the system.
    """

    def __init__(self, none: Pairs, room: int) -> None:
        self._kind: type[Pairs] = type(none)
        self._n = 0
        self._types = {field.name: getattr(none, field.name).dtype for field in fields(none)}
        self._records = np.empty(room, [(name, NARROW.get(type_, type_)) for name, type_ in self._types.items()])

    def add(self, pairs: Pairs) -> None:
        """Append pairs."""
        first, self._n = self._n, self._n + len(pairs)
        if self._n > len(self._records):
            larger = np.empty(max(2 * len(self._records), self._n), self._records.dtype)
            larger[:first] = self._records[:first]
            self._records = larger
        for name in self._types:
            self._records[name][first : self._n] = getattr(pairs, name)

    def all(self) -> Pairs:
        """Return all pairs that were added, in columns of the types that ``none`` has."""
        return self._kind(*(self._records[name][: self._n].astype(type_) for name, type_ in self._types.items()))


def pair_codes(earlier: Int64s, later: Int64s) -> UInt64s:
    """Return uint64[n_pairs]: sort keys with the later position in the upper and the earlier in the lower 32 bits."""
    return (later.astype(np.uint64) << HALF_WORD) | earlier.astype(np.uint64)


def no_pairs() -> CandidatePairs:
    """Return an empty `CandidatePairs`."""
    return CandidatePairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))


def no_verified_pairs() -> VerifiedPairs:
    """Return an empty `VerifiedPairs`."""
    rows, numbers, floats = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    return VerifiedPairs(rows, rows, numbers, floats, floats, numbers, numbers)


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """Concatenate the pairs of all parts, in order; ``parts`` must not be empty."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(parts[0]))
    return type(parts[0])(*map(np.concatenate, columns))
