"""Arrays that begin with a line of the cache, so that chunks, and fingerprints of an octet, are whole lines."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hybriddup.kernels.chunked_buckets import WORDS_OF_LINE

BYTES_OF_LINE = 4 * WORDS_OF_LINE


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array of zeros, whose memory is taken when it is written to."""
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(n_bytes + BYTES_OF_LINE, np.uint8)
    start = -memory.ctypes.data % BYTES_OF_LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)
