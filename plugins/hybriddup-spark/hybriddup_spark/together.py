"""Decide the open posts of a bin with the decider of a run, together with the kept texts that they may match.

If a key has more kept texts than ``max_bucket_size``, the candidates of a text depend on the texts kept just before.
One task decides texts with such dependencies in order. Other tasks may have verified some of their pairs before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hybriddup.data.records import Bools, Int32s, Int64s, UInt64s
from hybriddup.run.components import Components
from hybriddup.run.decisions import RunDecisions, decide_all
from hybriddup.steps.candidates.groups import group_keys
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.exact import EqualTexts
from hybriddup_spark.columns import bools, ints, key_lists, key_matrix, table_of
from hybriddup_spark.meeting import columns_of
from hybriddup_spark.schemas import SETTLED
from hybriddup_spark.verdicts import BinVerifier

NEAR_NONE = -1
"""Maximum distance of a row without a text. It rules out all pairs of the row: the limit of the shorter text counts,
and the row has length 0."""


def decide_together(components: Components, table: pa.Table, verdicts: pa.Table | None = None) -> pa.Table:
    """Decide the open posts of one bin, as `SETTLED`, given `TOGETHER` and the `VERDICTS` on some of their pairs."""
    return _Bin(components, table, verdicts).settled()


def verify_ahead(components: Components, table: pa.Table, part: int) -> pa.Table:
    """Decide the open posts of `TOGETHER` on trial; return the verdicts on all pairs verified for it, as `VERDICTS`."""
    piece = _Bin(components, table)
    piece.settled()
    return piece.verify.found(part)


class _Bin:
    """The texts of a bin, and the places at which the open ones are decided."""

    def __init__(self, components: Components, table: pa.Table, verdicts: pa.Table | None = None) -> None:
        self._components = components
        self._table = table = by_first_place(table)
        places, n_places = key_lists(table, "places")
        numbers = np.repeat(np.arange(len(table)), n_places)
        order = np.argsort(places.view(np.int64))
        self._positions, self._numbers = places.view(np.int64)[order], numbers[order]
        self._is_open = bools(table, "is_open")
        known = known_texts(table)
        self._compared = components.compared(known)
        self.verify = BinVerifier(components, table, (known, self._compared), self._numbers, verdicts)

    def settled(self) -> pa.Table:
        """Decide the open posts; return the decisions as `SETTLED`."""
        components, numbers = self._components, self._numbers
        held = index_of(components, self._table, self._compared, numbers)
        asked = np.flatnonzero(self._is_open[numbers])
        is_later: Bools = np.zeros(len(self._table), np.bool_)
        is_later[numbers[asked[0] :]] = True
        before = np.arange(asked[0])  # kept texts, all before the first open one
        if len(before):
            held.add(held.batch(before), np.ones(len(before), np.bool_))
        decider = Decider(held, self.verify, components.limits, held.report)
        decisions = decide_all(decider, held, is_later, equal_texts(numbers)).all()
        bands = components.bands.of_lengths(ints(self._table, "length"))[numbers]
        return settled(self._positions, decisions, asked, bands, held.report.limits_hit.get("max_candidates", 0))


def by_first_place(table: pa.Table) -> pa.Table:
    """Sort `TOGETHER` by the first place of each text, the order in which `EqualTexts` numbers texts."""
    places, n_places = key_lists(table, "places")
    firsts: Int64s = places[np.cumsum(n_places) - n_places].view(np.int64)
    return table.take(np.argsort(firsts))


def equal_texts(numbers: Int64s) -> EqualTexts:
    """Return the groups of equal texts, given the number of the text at each place."""
    _, firsts = np.unique(numbers, return_index=True)
    return EqualTexts.of(firsts[numbers])


def index_of(components: Components, table: pa.Table, compared: Sequence[str], numbers: Int64s) -> RunIndex:
    """Build the index of a run over the texts of a table; ``numbers`` is the text at each place."""
    keys, n_keys = key_lists(table)
    ends = np.concatenate([[0], np.cumsum(n_keys)])

    def keys_of(first: int, last: int) -> UInt64s:
        return key_matrix(keys[ends[first] : ends[last]], n_keys[first:last])

    index = components.block_index
    groups = group_keys(keys_of, len(table), 1, is_probed=index.probes_others, key_bits=64)  # keys may have scopes
    columns = columns_of(components, table)
    only_count = table.column("text").is_null().to_numpy()
    columns.lengths[only_count], columns.limits["max_distance"][only_count] = 0, NEAR_NONE  # each text has own limits
    return RunIndex(index, groups, columns, compared, numbers.astype(np.int32), 1)


def known_texts(table: pa.Table) -> list[str]:
    """Return the texts; empty for rows that only count towards the newest of a key."""
    known: list[str] = table.column("text").fill_null("").to_pylist()
    return known


def settled(positions: Int64s, decisions: RunDecisions, asked: Int64s, bands: Int32s, n_cut: int) -> pa.Table:
    """Return the decisions on the posts at the chosen places, as `SETTLED`; the first row gets ``n_cut``."""
    deciding = decisions.deciding
    link = np.full(len(positions), -1)
    link[deciding.later] = np.arange(len(deciding))
    link = link[asked]
    is_near, is_exact = link >= 0, decisions.exact[asked] >= 0
    keepers = np.where(is_exact, decisions.exact[asked], -1)
    keepers[is_near] = deciding.earlier[link[is_near]]

    def of_link(column: NDArray[Any], other: Any) -> NDArray[Any]:
        values = np.full(len(asked), other, column.dtype)
        values[is_near] = column[link[is_near]]
        return values

    return table_of(
        SETTLED,
        position=positions[asked],
        keeper=np.where(keepers >= 0, positions[keepers], -1),
        is_exact=is_exact,
        distance=of_link(deciding.hamming_distances, 0),
        score=of_link(deciding.scores, 1.0),
        threshold=of_link(deciding.thresholds, 1.0),
        verifier=of_link(deciding.verifiers, 0),
        band=of_link(deciding.length_bands, bands[asked]),
        is_kept=decisions.kept[asked],
        n_cut=np.where(np.arange(len(asked)) == 0, n_cut, 0),
    )
