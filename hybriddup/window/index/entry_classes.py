"""Classes of the entries of buckets, so that of a text that cannot match only the entry is read.

Where lengths rule pairs out, an entry has the class of its text's length. Those of
`hybriddup.steps.blocks.length_classes` are shares of texts that are all known; these have to suit texts that are still
to come, and go by length alone. Where every pair within a small distance counts, whatever the lengths, it has residues
of the text's fingerprint (`hybriddup.kernels.residues`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.kernels.chunked_buckets import BITS_OF_ENTRY, OCTET_BITS
from hybriddup.kernels.lengths import first_reaching, largest_so_far
from hybriddup.kernels.residues import BITS_OF_RESIDUES
from hybriddup.kernels.ring_texts import Partners
from hybriddup.records import Int32s, PairLimits, UInt8s

LONGEST_TOLD = 2**12
"""Longer texts count as of this length."""
ROOM = 8
"""Numbers are told apart over so many times the texts that are expected, where the classes are of lengths."""
MOST_CLASS_BITS, FEWEST_CLASS_BITS = 8, 3
MIDDLE = (1, 99)
"""Percentiles of the lengths between which the classes are cut; those beyond are of the first and of the last."""
FULLEST = 5 / 6
"""Share of the numbers told apart that may be live: the others are swept out before theirs come again."""


class EntryClasses(NamedTuple):
    """How an entry tells the class of its text, and the bits of it that are left to a number."""

    of_length: UInt8s
    """uint8[n_lengths], from 1, rising; longer texts are of the class of the last. Only 0 where there is one."""
    number_bits: int
    by_residues: bool = False
    """Whether the class is the residues of the fingerprint."""
    by_octets: bool = False
    """Whether the number is that of the text's octet."""

    @property
    def most_live(self) -> int:
        """How many numbers may be live."""
        return int(FULLEST * (1 << self.number_bits)) << (OCTET_BITS if self.by_octets else 0)


ONE_CLASS = EntryClasses(np.zeros(1, np.uint8), BITS_OF_ENTRY)
RESIDUES = EntryClasses(ONE_CLASS.of_length, BITS_OF_ENTRY - BITS_OF_RESIDUES, by_residues=True, by_octets=True)
"""Beside the numbers of up to 50 million texts."""


def cut_classes(lengths: Int32s, n_texts: int) -> EntryClasses:
    """Return classes for so many texts with lengths such as these, whose bounds grow by the same factor."""
    class_bits = min(BITS_OF_ENTRY - int(ROOM * n_texts).bit_length(), MOST_CLASS_BITS)
    if class_bits < FEWEST_CLASS_BITS or not len(lengths):
        return ONE_CLASS
    shortest, longest = np.percentile(lengths, MIDDLE).clip(min=1)
    bounds = np.geomspace(shortest, longest + 1, (1 << class_bits) - 1)
    of_length = np.searchsorted(bounds[1:], np.arange(LONGEST_TOLD + 1), side="right") + 1
    return EntryClasses(of_length.clip(max=(1 << class_bits) - 1).astype(np.uint8), BITS_OF_ENTRY - class_bits)


def partners_of(limits: PairLimits) -> Partners:
    """Return what a later text of each length may match, of texts of these lengths."""
    lengths = limits.lengths.clip(max=LONGEST_TOLD)
    # one that may only be an exact repeat reaches its own length
    reach = np.maximum(limits.max_partner_lengths, limits.lengths).clip(max=LONGEST_TOLD)
    every = np.arange(LONGEST_TOLD + 1, dtype=np.int32)
    shortest = first_reaching(largest_so_far(lengths, reach, LONGEST_TOLD), every)
    of_lengths = np.full(len(every), -1, np.int32)
    np.maximum.at(of_lengths, lengths, limits.max_hamming_distances)
    from_length = np.maximum.accumulate(of_lengths[::-1])[::-1]
    return Partners(shortest, from_length[shortest])
