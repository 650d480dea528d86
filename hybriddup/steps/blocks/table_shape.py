"""The shape of a set of tables: which bits are a key, and which buckets a text looks into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hybriddup.records import Int64s, UInt32s

OWN_BUCKET = np.zeros(1, np.uint32)


class Neighbours(NamedTuple):
    """Which neighbours of a text's own key are probed in a table."""

    radius: int = 0
    """The table finds a pair that differs in at most this many of its key bits (the weak bits left out)."""
    offsets: UInt32s = OWN_BUCKET
    """uint32[n]: the bucket offsets of all flips of up to ``radius`` key bits, each once, 0 first."""


class Table(NamedTuple):
    """A table: its key, and what is probed in it."""

    key: Int64s
    """int64[n_key_bits]: distinct bit positions of the fingerprint."""
    neighbours: Neighbours


@dataclass(frozen=True)
class TableShape:
    """How a set of tables is looked up. Every table has a key: some bit positions of the fingerprint."""

    keys: list[Int64s]
    """One int64[n_key_bits] a table: distinct bit positions."""
    bucket_bits: int
    """Buckets are numbered with this many bits; longer keys are folded."""
    neighbours: Sequence[Neighbours] = ()
    """What is probed in each table; none = in every table only a text's own key."""
    n_weak_bits: int = 0
    """How many of a text's weakest key bits are probed, in all combinations."""
    max_bucket_size: int = 0

    @property
    def tables(self) -> list[Table]:
        """The tables, in the order of their keys."""
        neighbours = self.neighbours or [Neighbours()] * len(self.keys)
        return [Table(*parts) for parts in zip(self.keys, neighbours, strict=True)]
