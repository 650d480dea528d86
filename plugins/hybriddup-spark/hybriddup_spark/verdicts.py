"""Verdicts on pairs that other tasks verify before a bin is decided, and the verifier that looks them up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hybriddup.data.records import Bools, CandidatePairs, Int64s, UInt64s, VerifiedPairs
from hybriddup.run.components import Components
from hybriddup.steps.deciding.pairs import pair_codes
from hybriddup_spark.columns import bools, longs, table_of
from hybriddup_spark.schemas import VERDICTS

Verdicts = NDArray[Any]
"""Array of `RECORD`: the code of a pair of rows, and the verdict on the pair. Look-ups need it sorted by code."""
EVIDENCE = {"score": "scores", "threshold": "thresholds", "verifier": "verifiers", "band": "length_bands"}
"""Maps the columns of `VERDICTS` with evidence of a match to their names in `VerifiedPairs`."""
RECORD = np.dtype(
    [("code", "u8"), ("is_match", "?"), ("score", "f8"), ("threshold", "f8"), ("verifier", "i4"), ("band", "i4")]
)
NOT_FOUND = np.uint64(2**64 - 1)
"""Code that no pair has: it marks pairs without a known verdict."""
LOWER_HALF, HALF_WORD = np.uint64(2**32 - 1), np.uint64(32)


class BinVerifier:
    """Verifies pairs whose later text is open, unless there is a verdict already. A text is a row of a table."""

    def __init__(
        self,
        components: Components,
        table: pa.Table,
        texts: tuple[Sequence[str], Sequence[str]],
        numbers: Int64s,
        known: pa.Table | None = None,
    ) -> None:
        """Prepare the texts for verifying, and sort the known verdicts.

        Parameters
        ----------
        table
            `TOGETHER`.
        texts
            The normalized texts, and their compared parts.
        numbers
            int64[n]: row in ``table`` of the text at each place, where places are numbered in the decision order.
        known
            `VERDICTS` on some pairs of these texts, if other tasks have verified them.
        """
        self._bands, self._numbers = components.bands, numbers
        self._positions, self._is_open = longs(table, "position"), bools(table, "is_open")
        self._context = components.verifier_context(*texts, 1)
        components.plan.prepare(self._context, is_learned=True)
        self._known = np.zeros(0, RECORD) if known is None else self._of_table(known)
        self._found = [self._known[:0]]

    def __call__(self, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Verify pairs of places; return bool[n_pairs], whether each is accepted, and the accepted pairs.

        A pair whose later text is not open is not verified, and counts as not accepted.
        """
        asked = self._is_open[self._numbers[pairs.later]]
        pairs = pairs.take(asked)
        earlier, later = self._numbers[pairs.earlier], self._numbers[pairs.later]
        verdicts = self._look_up(pair_codes(earlier, later))
        is_new = verdicts["code"] == NOT_FOUND
        verdicts[is_new] = self._verify(CandidatePairs(earlier, later, pairs.hamming_distances).take(is_new))
        accepted = verdicts["is_match"].copy()
        asked[asked] = accepted
        evidence = [np.ascontiguousarray(verdicts[name][accepted]) for name in EVIDENCE]
        matches = pairs.take(accepted)
        return asked, VerifiedPairs(matches.earlier, matches.later, matches.hamming_distances, *evidence)

    def _look_up(self, codes: UInt64s) -> Verdicts:
        """Look up the verdicts on pairs by their codes; a pair without a known verdict gets the code `NOT_FOUND`."""
        found, known = np.zeros(len(codes), RECORD), self._known
        found["code"] = NOT_FOUND
        if len(known):
            at = np.minimum(np.searchsorted(known["code"], codes), len(known) - 1)
            is_known = known["code"][at] == codes
            found[is_known] = known[at[is_known]]
        return found

    def _verify(self, pairs: CandidatePairs) -> Verdicts:
        verdicts = np.zeros(len(pairs), RECORD)
        verdicts["code"] = pair_codes(pairs.earlier, pairs.later)
        verdicts["is_match"], matches = self._bands.verify(pairs, self._context)
        for name, column in EVIDENCE.items():
            verdicts[name][verdicts["is_match"]] = getattr(matches, column)
        self._found.append(verdicts)
        return verdicts

    def _of_table(self, table: pa.Table) -> Verdicts:
        verdicts = np.zeros(len(table), RECORD)
        order = np.argsort(self._positions)
        at = (np.searchsorted(self._positions, longs(table, name), sorter=order) for name in ("later", "earlier"))
        later, earlier = (order[some] for some in at)
        verdicts["code"] = pair_codes(earlier, later)
        verdicts["is_match"] = bools(table, "is_match")
        for name in EVIDENCE:
            verdicts[name] = table.column(name).to_numpy()
        return verdicts[np.argsort(verdicts["code"])]

    def found(self, part: int) -> pa.Table:
        """Return the verdicts that this verifier made itself, as `VERDICTS` whose column ``part`` is ``part``."""
        verdicts = np.concatenate(self._found)
        rows = verdicts["code"] >> HALF_WORD, verdicts["code"] & LOWER_HALF
        later, earlier = (self._positions[row.astype(np.int64)] for row in rows)
        columns = {name: verdicts[name] for name in ("is_match", *EVIDENCE)}
        parts: Int64s = np.full(len(verdicts), part)
        return table_of(VERDICTS, part=parts, later=later, earlier=earlier, **columns)
