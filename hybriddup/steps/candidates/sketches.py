"""Character sketches of texts: bit sets that rule out pairs with too few common characters, before verifying."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import SKETCH_WORDS, UInt64s, encode_texts
from hybriddup.kernels.text.characters import sketch_characters
from hybriddup.steps.parallel import map_slices

TEXTS_PER_BATCH = 4096


def sketch_texts(
    texts: Sequence[str], workers: int, texts_per_batch: int = TEXTS_PER_BATCH, into: UInt64s | None = None
) -> UInt64s:
    """Return uint64[n_texts, SKETCH_WORDS]: the character sketch of each text.

    The result is written to ``into`` if it is given; the rows of ``into`` need not be adjacent in memory.
    """
    sketches: UInt64s = np.empty((len(texts), SKETCH_WORDS), np.uint64) if into is None else into

    def sketch_slice(first: int, last: int) -> None:
        for start in range(first, last, texts_per_batch):
            stop = min(start + texts_per_batch, last)
            of_batch = np.zeros((stop - start, SKETCH_WORDS), np.uint64)
            sketch_characters(*encode_texts(texts[start:stop]), of_batch)
            sketches[start:stop] = of_batch

    map_slices(sketch_slice, len(texts), workers, texts_per_batch)
    return sketches
