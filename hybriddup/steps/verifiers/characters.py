"""Counts the common characters of pairs of texts, in order (longest common subsequence) or in any order.

A *symbol* is a renumbered code point: the code points of some texts become 0, 1, 2, ... by first use, so that tables
indexed by symbol are small.
"""

from __future__ import annotations

import numpy as np

from hybriddup.data.records import EncodedTexts, Int32s, Int64s, UInt32s
from hybriddup.kernels.text.characters import renumber
from hybriddup.kernels.text.lcs import lcs_lengths, symbols_in_common
from hybriddup.steps.verifiers import sections
from hybriddup.steps.verifiers.sections import Cut

SymbolTexts = tuple[Int32s, Int64s, int]
"""Concatenated texts for the kernels that compare them: int32[n_characters], the symbols of all texts;
int64[n_texts + 1], the start of each text among them, and the total length; and the number of different symbols."""


def as_symbols(texts: EncodedTexts) -> SymbolTexts:
    """Renumber the code points of texts by first use as symbols 0, 1, 2, ..., so that tables by symbol are small."""
    highest = int(texts.code_points.max(initial=0))
    symbols, n_symbols = renumber(texts.code_points, np.full(highest + 1, -1, np.int32))
    return symbols, texts.offsets, n_symbols


def characters_in_common(texts: EncodedTexts, earlier: Int64s, later: Int64s, needed: Int64s) -> Int64s:
    """Return int64[n_pairs]: how many characters the two texts of each pair have in common, in any order.

    If this is below ``needed``, the result may be any number below ``needed``.
    """
    lengths = texts.lengths
    is_longer = lengths[earlier] > lengths[later]
    shorter, longer = np.where(is_longer, later, earlier), np.where(is_longer, earlier, later)
    return np.asarray(symbols_in_common(*as_symbols(texts), shorter, longer, needed))


def lengths_in_common(texts: EncodedTexts, earlier: Int64s, later: Int64s, needed: Int64s) -> Int64s:
    """Return int64[n_pairs]: the length of the longest common subsequence of each pair.

    If a length is below ``needed``, the result may be any number below ``needed``. This is faster than
    `common_lengths`, because it skips pairs with too few common characters in any order.
    """
    symbols = as_symbols(texts)
    common: Int64s = symbols_in_common(*symbols, earlier, later, needed)
    is_open = np.flatnonzero(common >= needed)
    common[is_open] = common_lengths(texts, earlier[is_open], later[is_open], symbols)
    return common


def common_lengths(texts: EncodedTexts, earlier: Int64s, later: Int64s, symbols: SymbolTexts | None = None) -> Int64s:
    """Return int64[n_pairs]: the length of the longest common subsequence of each pair.

    If both texts are longer than `LONGEST_EXACT`, the result may be smaller, but is usually exact; see
    `hybriddup.steps.verifiers.sections`. The result equals both lengths only if the texts are equal. ``symbols``:
    the same texts as symbols, if the caller already has them.
    """
    symbols, lengths = symbols or as_symbols(texts), texts.lengths
    is_long = lengths[later] > sections.LONGEST_EXACT  # too long for the table of the later text
    if not is_long.any():
        return np.asarray(lcs_lengths(*symbols, earlier, later))
    earlier, later = np.where(is_long, later, earlier), np.where(is_long, earlier, later)
    is_long = lengths[later] > sections.LONGEST_EXACT
    common = np.zeros(len(earlier), np.int64)
    common[~is_long] = lcs_lengths(*symbols, earlier[~is_long], later[~is_long])
    for pair in np.flatnonzero(is_long).tolist():
        common[pair] = length_by_sections(texts.points_of(earlier[pair]), texts.points_of(later[pair]))
    return common


def length_by_sections(a: UInt32s, b: UInt32s) -> int:
    """Return the length of the best common subsequence found section by section, in two texts given as code points."""
    return max(length_of_cut(a, b, cut) for cut in sections.cuts_of(a, b))


def length_of_cut(a: UInt32s, b: UInt32s, cut: Cut) -> int:
    """Sum up the lengths of the longest common subsequences of the section pairs, and of the texts' equal ends."""
    between = slice(cut.of_a[0], cut.of_a[-1]), slice(cut.of_b[0], cut.of_b[-1])
    points = np.concatenate([a[between[0]], b[between[1]]])
    of_a, of_b = cut.of_a - cut.of_a[0], cut.of_b - cut.of_b[0]
    n = len(of_a) - 1
    in_a, in_b = np.arange(n), np.arange(n, 2 * n)
    is_shorter = np.diff(of_a) < np.diff(of_b)  # the kernel makes its table of the shorter section
    texts = as_symbols(EncodedTexts(points, np.concatenate([of_a, of_a[-1] + of_b[1:]])))
    common = lcs_lengths(*texts, np.where(is_shorter, in_b, in_a), np.where(is_shorter, in_a, in_b))
    return int(common.sum()) + len(a) - int(of_a[-1])
