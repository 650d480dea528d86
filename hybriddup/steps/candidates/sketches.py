"""Sketches of the characters of texts, by which stage 1 leaves out pairs that have too few in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import SKETCH_WORDS, UInt64s, encode_texts
from hybriddup.kernels.text.characters import sketch_characters
from hybriddup.steps.parallel import map_slices

TEXTS_A_BATCH = 4096


def sketch_texts(texts: Sequence[str], workers: int, texts_a_batch: int = TEXTS_A_BATCH) -> UInt64s:
    """Return uint64[n_texts, SKETCH_WORDS]: the sketches of the characters of texts."""
    sketches: UInt64s = np.empty((len(texts), SKETCH_WORDS), np.uint64)
    write_sketches(texts, sketches, workers, texts_a_batch)
    return sketches


def write_sketches(texts: Sequence[str], sketches: UInt64s, workers: int, texts_a_batch: int = TEXTS_A_BATCH) -> None:
    """Write the same into uint64[n_texts, SKETCH_WORDS], wherever its rows lie."""

    def sketch_slice(first: int, last: int) -> None:
        for start in range(first, last, texts_a_batch):
            stop = min(start + texts_a_batch, last)
            of_batch = np.zeros((stop - start, SKETCH_WORDS), np.uint64)
            sketch_characters(*encode_texts(texts[start:stop]), of_batch)
            sketches[start:stop] = of_batch

    map_slices(sketch_slice, len(texts), workers, texts_a_batch)
