"""The `hamming` verifier: the share of equal fingerprint bits. It ignores the texts; use it only as a baseline."""

from __future__ import annotations

from hybriddup.data.records import CandidatePairs, Float64s, Int32s
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import unbounded


class Hamming:
    """Scores a pair by the share of equal fingerprint bits: 1.0 = all, about 0.5 = unrelated texts; symmetric."""

    _bits: int

    def prepare(self, context: VerifierContext) -> None:
        """Store the width of the fingerprint."""
        self._bits = context.bits

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:  # noqa: ARG002 - nothing to spare
        """Return float64[n_pairs]: the score of each pair, ``(bits - hamming_distance) / bits``."""
        n_equal = self._bits - pairs.hamming_distances
        return n_equal / self._bits

    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002 - of no consequence here
        """Return no bound: texts of any lengths may have equal fingerprints."""
        return unbounded(lengths)
