"""Entries of buckets: residues beside the numbers, so that of a text that cannot match only the entry is read.

Every pair within a small distance counts, and residues of the fingerprints tell of most that they are farther apart
(`hybriddup.kernels.residues`).
"""

from __future__ import annotations

from typing import NamedTuple

from hybriddup.kernels.chunked_buckets import BITS_OF_ENTRY, OCTET_BITS
from hybriddup.kernels.residues import BITS_OF_RESIDUES

FULLEST = 5 / 6
"""Share of the numbers told apart that may be live: the others are swept out before theirs come again."""


class Entries(NamedTuple):
    """What an entry has of its text."""

    number_bits: int
    by_residues: bool = False
    """Whether the other bits are the residues of the fingerprint."""
    by_octets: bool = False
    """Whether the number is that of the text's octet."""

    @property
    def most_live(self) -> int:
        """How many numbers may be live."""
        return int(FULLEST * (1 << self.number_bits)) << (OCTET_BITS if self.by_octets else 0)


NUMBERS = Entries(BITS_OF_ENTRY)
RESIDUES = Entries(BITS_OF_ENTRY - BITS_OF_RESIDUES, by_residues=True, by_octets=True)
"""Beside the numbers of up to 50 million texts."""
