"""Arrays that begin with a line of the cache."""

from __future__ import annotations

import numpy as np
import pytest

from hybriddup.window.index.aligned import BYTES_OF_LINE, aligned_zeros
from hybriddup.window.index.text_ring import make_columns, unroll


@pytest.mark.parametrize("shape", [(1,), (1000,), (77, 1), (64, 16)])
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.uint64, np.int64])
def test_zeros_begin_with_a_line(shape: tuple[int, ...], dtype: type) -> None:
    """Of any shape and kind, one row after another."""
    zeros = aligned_zeros(shape, dtype)

    assert zeros.ctypes.data % BYTES_OF_LINE == 0
    assert (zeros.shape, zeros.dtype) == (shape, np.dtype(dtype))
    assert zeros.flags.c_contiguous
    assert not zeros.any()


def test_there_may_be_none() -> None:
    """A column that is not kept has no rows."""
    assert aligned_zeros((0, 2), np.uint64).shape == (0, 2)


def test_fingerprints_of_a_ring_do_in_a_larger_one_too() -> None:
    """So that those of a group are one line."""
    bits = make_columns(1, 128, np.uint16, sketched=False).bits
    bits[:] = np.arange(128, dtype=np.uint64)[:, None]
    larger = unroll(bits, 64, 100, 128, 192)

    assert bits.ctypes.data % BYTES_OF_LINE == larger.ctypes.data % BYTES_OF_LINE == 0
    assert larger[:100, 0].tolist() == [*range(64, 128), *range(36)]
