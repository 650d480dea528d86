"""The pairs by which a batch is decided, and what verifying them showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Generic, TypeVar

import numpy as np

from hybriddup.data.records import Bools, CandidatePairs, Int8s, Int32s, Int64s, NearPairs, UInt64s, VerifiedPairs
from hybriddup.kernels.search.decide import IN_INDEX, OPEN
from hybriddup.steps.candidates import Batch

HALF_WORD = np.uint64(32)
NARROW = {np.dtype(np.int64): np.dtype(np.uint32), np.dtype(np.int32): np.dtype(np.int16)}
"""What is wide enough for positions, which pair codes hold in 32 bits, and for distances, verifiers and bands."""
Pairs = TypeVar("Pairs", "BatchPairs", CandidatePairs, VerifiedPairs)


@dataclass(frozen=True)
class BatchPairs:
    """Pairs whose later text is of one batch, by later text, then from the earliest on."""

    earlier: Int64s
    """int64[n_pairs]: positions."""
    earlier_rows: Int64s
    """int64[n_pairs]: rows of the batch, `IN_INDEX` for kept texts of the index."""
    later: Int64s
    """int64[n_pairs]: rows of the batch."""
    distances: Int32s
    """int32[n_pairs]: differing bits."""
    depths: Int64s
    """int64[n_pairs]: as `hybriddup.data.records.NearPairs` has them."""
    verdicts: Int8s
    """int8[n_pairs]: `OPEN`, `MATCHES` or `REFUSED`, changed while the batch is decided."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.later)

    @classmethod
    def of_index(cls, near: NearPairs) -> BatchPairs:
        """Return the pairs with kept texts of the index."""
        n = len(near.later)
        rows, verdicts = np.full(n, IN_INDEX), np.full(n, OPEN)
        return cls(near.earlier, rows, near.later, near.distances, near.depths, verdicts)

    @classmethod
    def within(cls, batch: Batch, near: NearPairs) -> BatchPairs:
        """Return the pairs among the texts of a batch, without those of equal texts and of times too far apart."""
        chosen = batch.text_numbers[near.earlier] != batch.text_numbers[near.later]
        if batch.times is not None and batch.oldest is not None:
            chosen &= batch.times[near.earlier] > batch.oldest[near.later]
        near = near.take(chosen)
        verdicts = np.full(len(near.later), OPEN)
        return cls(batch.positions[near.earlier], near.earlier, near.later, near.distances, near.depths, verdicts)

    def is_sure(self, most_with_key: Int64s, max_bucket_size: int) -> Bools:
        """Return bool[n_pairs]: whether the earlier text is looked at, whatever is kept of the batch meanwhile.

        ``most_with_key`` int64[n] says how many texts of the batch before each have a key that it is looked up by, at
        most.
        """
        if not max_bucket_size:
            return np.ones(len(self), np.bool_)
        n_newer = most_with_key[self.later]
        n_newer += np.where(self.earlier_rows == IN_INDEX, self.depths, 0)
        return n_newer <= max_bucket_size

    def take(self, chosen: Int64s | Bools) -> BatchPairs:
        """Return the chosen pairs, in the order given."""
        return BatchPairs(*(getattr(self, column.name)[chosen] for column in fields(self)))


def join_batch_pairs(of_index: BatchPairs, within: BatchPairs) -> BatchPairs:
    """Return the pairs of both, by later text; kept texts of the index are earlier than all of the batch."""
    joined = join_pairs([of_index, within])
    return joined.take(np.argsort(joined.later, kind="stable"))


class Evidence:
    """The pairs that were accepted while a batch was decided, by position."""

    def __init__(self) -> None:
        self.n_verified = 0
        """Pairs that the verifiers were asked about."""
        self._accepted = [no_verified_pairs()]

    def note(self, accepted: VerifiedPairs, n_verified: int) -> None:
        """Note the accepted ones of some pairs that were verified."""
        self.n_verified += n_verified
        self._accepted.append(accepted)

    def of(self, codes: UInt64s) -> VerifiedPairs:
        """Return the pairs with these codes, each of which was accepted, sorted by later text."""
        accepted = join_pairs(self._accepted)
        ours = pair_codes(accepted.earlier, accepted.later)
        order = np.argsort(ours)
        return accepted.take(order[np.searchsorted(ours[order], np.sort(codes))])

    def pairs(self) -> CandidatePairs:
        """Return all accepted pairs."""
        accepted = join_pairs(self._accepted)
        return CandidatePairs(accepted.earlier, accepted.later, accepted.hamming_distances)


class GrowingPairs(Generic[Pairs]):
    """Pairs one after another in one piece of memory, with room for so many at first, which doubles when it is full.

    Room that is not used takes no memory, and numbers take half as many bits as in other steps. Kept as parts, and then
    joined, pairs would take up to three times as much: what many small parts leave behind stays with the process.
    """

    def __init__(self, none: Pairs, room: int) -> None:
        self._kind: type[Pairs] = type(none)
        self._n = 0
        self._types = {field.name: getattr(none, field.name).dtype for field in fields(none)}
        self._records = np.empty(room, [(name, NARROW.get(type_, type_)) for name, type_ in self._types.items()])

    def add(self, pairs: Pairs) -> None:
        """Put more pairs after those that are there."""
        first, self._n = self._n, self._n + len(pairs)
        if self._n > len(self._records):
            larger = np.empty(max(2 * len(self._records), self._n), self._records.dtype)
            larger[:first] = self._records[:first]
            self._records = larger
        for name in self._types:
            self._records[name][first : self._n] = getattr(pairs, name)

    def all(self) -> Pairs:
        """Return all of them."""
        return self._kind(*(self._records[name][: self._n].astype(type_) for name, type_ in self._types.items()))


def pair_codes(earlier: Int64s, later: Int64s) -> UInt64s:
    """Return uint64[n_pairs]: later number in the upper 32 bits, earlier one in the lower; they rise like pairs."""
    codes: UInt64s = (later.astype(np.uint64) << HALF_WORD) | earlier.astype(np.uint64)
    return codes


def no_pairs() -> CandidatePairs:
    """Return no pairs."""
    return CandidatePairs(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))


def no_verified_pairs() -> VerifiedPairs:
    """Return no pairs."""
    rows, numbers, floats = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0)
    return VerifiedPairs(rows, rows, numbers, floats, floats, numbers, numbers)


def join_pairs(parts: Sequence[Pairs]) -> Pairs:
    """Return the pairs of all parts, at least one, in order."""
    columns = ([getattr(part, field.name) for part in parts] for field in fields(parts[0]))
    return type(parts[0])(*map(np.concatenate, columns))
