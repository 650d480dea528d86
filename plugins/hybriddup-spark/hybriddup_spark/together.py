"""Deciding the open posts of a bin with the decider of a run, together with the kept texts that they may match.

If a key has more kept texts than ``max_bucket_size``, the candidates of a text depend on the texts kept just before.
One task decides texts with such dependencies in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hybriddup.data.records import (
    Bools,
    CandidatePairs,
    Int32s,
    Int64s,
    UInt64s,
    VerifiedPairs,
)
from hybriddup.run.components import Components
from hybriddup.run.decisions import RunDecisions, decide_all
from hybriddup.steps.candidates.groups import group_keys
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.deciding.contest import Verify
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.exact import EqualTexts
from hybriddup_spark.columns import bools, ints, key_lists, key_matrix, longs, table_of
from hybriddup_spark.meeting import columns_of
from hybriddup_spark.schemas import SETTLED

NEAR_NONE = -1
"""Maximum distance of a text that is near no other text; the limit of the shorter text of a pair counts."""


def decide_together(components: Components, table: pa.Table, first_new: int) -> pa.Table:
    """Decide the open posts of one bin, as `SETTLED`.

    Parameters
    ----------
    table
        `TOGETHER`.
    first_new
        Position of the first post of the round; earlier texts were kept.
    """
    table = table.take(np.argsort(longs(table, "position")))
    first, is_open = longs(table, "position"), bools(table, "is_open")
    copies, n_copies = key_lists(table, "copies")
    numbers = np.concatenate([np.arange(len(first)), np.repeat(np.arange(len(first)), n_copies)])
    positions = np.concatenate([first, copies.view(np.int64)])
    order = np.argsort(positions)
    positions, numbers = positions[order], numbers[order]
    known = known_texts(table)
    compared = components.compared(known)
    held = index_of(components, table, compared, numbers)
    before = np.flatnonzero(positions < first_new)
    if len(before):
        held.add(held.batch(before), np.ones(len(before), np.bool_))
    verify = verifier(components, known, compared, is_open, numbers)
    decider = Decider(held, verify, components.limits, held.report)
    decisions = decide_all(decider, held, first >= first_new, equal_texts(numbers)).all()
    asked = np.flatnonzero(is_open[numbers])
    bands = components.bands.of_lengths(ints(table, "length"))[numbers]
    return settled(positions, decisions, asked, bands, held.report.limits_hit.get("max_candidates", 0))


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


def verifier(
    components: Components, normalized: Sequence[str], compared: Sequence[str], is_open: Bools, numbers: Int64s
) -> Verify:
    """Return a function that verifies the pairs of open posts, given the text of each post."""
    context = components.verifier_context(normalized, compared, 1)
    components.plan.prepare(context, is_learned=True)

    def verify(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        asked = is_open[numbers[pairs.later]]
        pairs = pairs.take(asked)
        of_texts = CandidatePairs(numbers[pairs.earlier], numbers[pairs.later], pairs.hamming_distances)
        accepted, verified = components.bands.verify(of_texts, context)
        asked[asked] = accepted
        return asked, verified.of(pairs.take(accepted))

    return verify


def settled(positions: Int64s, decisions: RunDecisions, asked: Int64s, bands: Int32s, n_cut: int) -> pa.Table:
    """Return the decisions on the posts at some places."""
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
