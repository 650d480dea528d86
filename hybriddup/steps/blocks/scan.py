"""`scan`: every text has the same key, so that all are compared. Exact; the oracle of the other block indexes."""

from collections.abc import Sequence

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.steps.blocks import BlockIndex


class Scan(BlockIndex):
    """Compares all fingerprints; misses nothing, and takes time that grows with the square of the texts."""

    is_complete = True
    reads_texts = False
    n_keys = 1

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (whatever the texts)
        """Return the one key of every text."""
        return np.zeros((len(bits), 1), np.uint64)

    def describe(self) -> str:
        """Return what is done."""
        return "scan: every pair compared"
