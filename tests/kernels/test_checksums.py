"""Checksums of records: those of plain Python, and others as soon as one bit is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.checksums import sum_records
from hybriddup.kernels.xxh3 import PRIME_1, PRIME_MX1

SEED = np.uint64(0x1234567812345678)
WORDS = st.integers(0, 2**64 - 1)


def plain_sum(words: list[int]) -> int:
    """The checksum of a record, with numbers of any size."""
    mixed = int(PRIME_1 ^ SEED)
    for word in words:
        product = (mixed ^ word) * int(PRIME_MX1)
        mixed = (product >> 64) ^ (product & (2**64 - 1))
    return mixed


@given(st.integers(0, 6).flatmap(lambda n: st.lists(st.lists(WORDS, min_size=n, max_size=n), max_size=5)))
def test_sums_are_those_of_plain_python(rows: list[list[int]]) -> None:
    """Whatever the words are, of no records and of records without words too."""
    words = np.array(rows, np.uint64).reshape(len(rows), len(rows[0]) if rows else 0)
    assert sum_records(words, SEED).tolist() == [plain_sum(row) for row in rows]


def test_every_bit_counts() -> None:
    """One that is flipped changes the checksum, and so does the order of the words, and another seed."""
    record = np.random.default_rng(0).integers(0, 2**64, (1, 19), np.uint64)
    sums = {int(sum_records(record, SEED)[0]), int(sum_records(record[:, ::-1].copy(), SEED)[0])}
    sums.add(int(sum_records(record, SEED ^ np.uint64(6))[0]))
    for word in range(19):
        for bit in range(64):
            flipped = record.copy()
            flipped[0, word] ^= np.uint64(1 << bit)
            sums.add(int(sum_records(flipped, SEED)[0]))
    assert len(sums) == 3 + 19 * 64


def test_zeros_do_not_sum_to_zero() -> None:
    """A block that a power failure left empty is no record."""
    assert sum_records(np.zeros((1, 18), np.uint64), SEED)[0] != 0
