"""Tokens in a form that is quick to send from one process to another.

A pipe takes 64 KiB at once: a process that writes more waits until the other one, which has its own work, has read it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Tokens, UInt32s

UInt16s = NDArray[np.uint16]
LARGEST_HALF = 0xFFFF


class PackedTokens(NamedTuple):
    """Tokens in a third of the bytes or less. Numbers have the narrowest type that holds them all."""

    low_halves: UInt16s
    """uint16[n_code_points]: the code points, but for their upper sixteen bits."""
    high_places: NDArray[Any]
    """Where code points are that need more than sixteen bits: few, in what people write."""
    high_points: UInt32s
    """uint32[n_high_places]: these code points."""
    gaps: NDArray[Any]
    """How far behind the end of the token before each token begins: 0 for words that were put one after another."""
    lengths: NDArray[Any]
    counts: NDArray[Any]
    """Tokens of each text."""


def pack_tokens(tokens: Tokens) -> PackedTokens:
    """Return the tokens packed."""
    high_places = np.flatnonzero(tokens.code_points > LARGEST_HALF)
    ends = np.concatenate([[0], (tokens.starts + tokens.lengths)[:-1]]) if len(tokens.starts) else tokens.starts
    return PackedTokens(
        tokens.code_points.astype(np.uint16),
        narrow(high_places),
        tokens.code_points[high_places],
        narrow(tokens.starts - ends),
        narrow(tokens.lengths),
        narrow(np.diff(tokens.offsets)),
    )


def unpack_tokens(packed: PackedTokens) -> Tokens:
    """Return the tokens as they were.

    Examples
    --------
    >>> from hybriddup.data.records import tokens_from_lists
    >>> unpack_tokens(pack_tokens(tokens_from_lists([["big", "cat"], []]))).strings(0)
    ['big', 'cat']
    """
    code_points = packed.low_halves.astype(np.uint32)
    code_points[packed.high_places] = packed.high_points
    lengths = packed.lengths.astype(np.int32)
    starts = np.cumsum(packed.gaps, dtype=np.int64)
    starts[1:] += np.cumsum(lengths[:-1], dtype=np.int64)
    offsets = np.zeros(len(packed.counts) + 1, np.int64)
    np.cumsum(packed.counts, dtype=np.int64, out=offsets[1:])
    return Tokens(code_points, starts, lengths, offsets)


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the whole numbers in the narrowest type that holds them all."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    return numbers.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))
