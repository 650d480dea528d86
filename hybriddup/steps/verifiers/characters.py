"""The characters of the distinct texts, in the forms in which they are counted and compared.

A *symbol* stands for a code point: the code points of some texts are renumbered 0, 1, 2, ... by first use, so that a
table by symbol is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import N_CLASSES, CharacterCounts, EncodedTexts, Int32s, Int64s, encode_texts
from hybriddup.kernels.characters import count_characters, renumber, sketch_characters
from hybriddup.steps.parallel import map_slices

TEXTS_A_BATCH = 4096
N_CODE_POINTS = 0x110000


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


def count_classes(texts: Sequence[str], workers: int, texts_a_batch: int = TEXTS_A_BATCH) -> CharacterCounts:
    """Return how many characters of each class the texts have."""
    counts = np.zeros((len(texts), N_CLASSES), np.uint8)
    sketches = np.zeros((len(texts), 2), np.uint64)

    def count_slice(first: int, last: int) -> None:
        for start in range(first, last, texts_a_batch):
            stop = min(start + texts_a_batch, last)
            count_characters(*encode_texts(texts[start:stop]), counts[start:stop])
            sketch_characters(counts[start:stop], sketches[start:stop])

    map_slices(count_slice, len(texts), workers, texts_a_batch)
    return CharacterCounts(counts, sketches)
