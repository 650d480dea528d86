"""`scan`: every text compared with every earlier one, by popcount. Exact; the oracle of the other indexes."""

import numpy as np

from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.join_index import JoinIndex
from hybriddup.steps.blocks.table_shape import TableShape

WHOLE_INDEX = TableShape(keys=[np.zeros(0, np.int64)], bucket_bits=0)
"""One table whose key has no bits, so that everything shares one bucket."""
DESCRIPTION = "scan: every pair of compatible length compared"


class Scan(JoinIndex):
    """Compares all fingerprints whose lengths allow a match; needs no tables, misses nothing."""

    def prepare(self, expectation: Expectation) -> None:
        """Begin with an empty index."""
        self.start(WHOLE_INDEX, expectation, description=DESCRIPTION, exact=True)
