"""Which buckets of a live index a text is in, and which it looks into: by bits of its fingerprint or by shingles."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hybriddup.kernels.listed_buckets import KeyList, list_heads
from hybriddup.kernels.shingles import NO_SHINGLE
from hybriddup.records import Int64s, UInt32s, UInt64s
from hybriddup.steps.blocks.table_shape import TableShape
from hybriddup.window.index import LiveTexts

HASH_BITS = 32
SPREAD = np.uint32(0x9E3779B1)
"""A prime near 2^32 over the golden ratio: the leading bits of its products spread numbers (Knuth, volume 3, 6.4)."""


class BucketKeys(Protocol):
    """Tells the buckets of a text; buckets are numbered through all tables."""

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        ...

    @property
    def n_of_text(self) -> int:
        """In how many of them a text is, at most."""
        ...

    @property
    def n_shingles(self) -> int:
        """How many shingles are asked of each text."""
        ...

    @property
    def max_bucket_size(self) -> int:
        """Of larger buckets only the newest texts are read, so many or a few more; 0 = no limit."""
        ...

    def own(self, texts: LiveTexts) -> UInt64s:
        """Return uint64[n, n_of_text]: the buckets that texts are in; ``n_buckets`` stands for none."""
        ...

    def probed(self, texts: LiveTexts) -> UInt64s:
        """Return uint64[n, m]: the buckets that texts look into; ``n_buckets`` stands for none."""
        ...


class FingerprintKeys:
    """One key of bits a table; weak bits and neighbours are probed as the shape says."""

    n_shingles = 0

    def __init__(self, shape: TableShape) -> None:
        self.shape = shape
        self._keys = list_keys(shape)

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return len(self.shape.keys) << self.shape.bucket_bits

    @property
    def n_of_text(self) -> int:
        """In how many of them a text is: one of each table."""
        return len(self.shape.keys)

    @property
    def max_bucket_size(self) -> int:
        """Of larger buckets only the newest texts are read; 0 = no limit."""
        return self.shape.max_bucket_size

    def own(self, texts: LiveTexts) -> UInt64s:
        """Return the buckets that texts are in."""
        listed: UInt64s = list_heads(texts.prints.bits, texts.prints.strengths, self._keys, 0, True)
        return listed

    def probed(self, texts: LiveTexts) -> UInt64s:
        """Return the buckets that texts look into."""
        prints, n_weak_bits = texts.prints, self.shape.n_weak_bits
        listed: UInt64s = list_heads(prints.bits, prints.strengths, self._keys, n_weak_bits, False)
        return listed


class ShingleKeys:
    """One table for the shingles of all texts, of each text the first so many.

    Parameters
    ----------
    n_shingles
        How many of each text.
    bucket_bits
        There are two to the power of it.
    """

    def __init__(self, n_shingles: int, bucket_bits: int, max_bucket_size: int) -> None:
        self.n_shingles = self.n_of_text = n_shingles
        self.bucket_bits = bucket_bits
        self.max_bucket_size = max_bucket_size

    @property
    def n_buckets(self) -> int:
        """How many buckets there are."""
        return 1 << self.bucket_bits

    def own(self, texts: LiveTexts) -> UInt64s:
        """Return the buckets that texts are in."""
        if texts.shingles is None or texts.shingles.shape[1] < self.n_shingles:
            raise ValueError(
                f"this live index finds texts by {self.n_shingles} shingles of each, and not so many are given"
            )
        kept = texts.shingles[:, : self.n_shingles]
        # the first of a text are of small value, so that the leading bits have to be made of all
        buckets = (kept * SPREAD >> np.uint32(HASH_BITS - self.bucket_bits)).astype(np.uint64)
        buckets[kept == NO_SHINGLE] = self.n_buckets
        return buckets

    probed = own


def list_keys(shape: TableShape) -> KeyList:
    """Return the keys of a shape as the kernels take them."""
    tables = shape.tables
    keys, offsets = [table.key for table in tables], [table.neighbours.offsets for table in tables]
    return KeyList(
        np.concatenate(keys), starts_of(keys), np.concatenate(offsets), starts_of(offsets), shape.bucket_bits
    )


def starts_of(parts: list[Int64s] | list[UInt32s]) -> Int64s:
    """Return int64[n + 1]: where each part begins when they are put one after another."""
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=starts[1:])
    return starts
