"""The characters of the distinct texts, in the form in which they are compared.

A *symbol* stands for a code point: the code points of some texts are renumbered 0, 1, 2, ... by first use, so that a
table by symbol is small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hybriddup.data.records import EncodedTexts, Int32s, Int64s
from hybriddup.kernels.characters import renumber
from hybriddup.kernels.lcs import lcs_lengths, symbols_in_common


class SymbolTexts(NamedTuple):
    """Some texts as symbols."""

    symbols: Int32s
    """int32[n_characters]."""
    offsets: Int64s
    """int64[n_texts + 1]: the symbols of text ``i`` are ``offsets[i]`` to ``offsets[i + 1]``."""
    n_symbols: int


def as_symbols(texts: EncodedTexts) -> SymbolTexts:
    """Return the texts as symbols."""
    highest = int(texts.code_points.max(initial=0))
    symbols, n_symbols = renumber(texts.code_points, np.full(highest + 1, -1, np.int32))
    return SymbolTexts(symbols, texts.offsets, n_symbols)


def lengths_in_common(texts: SymbolTexts, earlier: Int64s, later: Int64s, needed: Int64s) -> Int64s:
    """Return int64[n_pairs]: the longest common subsequence, or any smaller number than ``needed`` where it is smaller.

    Most pairs have too few characters in common, whatever their order, which is quickly told.
    """
    common: Int64s = symbols_in_common(*texts, earlier, later, needed)
    is_open = np.flatnonzero(common >= needed)
    common[is_open] = lcs_lengths(*texts, earlier[is_open], later[is_open])
    return common
