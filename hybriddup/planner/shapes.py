"""The shapes that an index may have, each with what it costs and finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import comb
from typing import Any

import numpy as np

from hybriddup.planner.formulas import (
    BYTES_OF_ROW,
    COST_OF_SCANNING,
    TableGroup,
    block_radii,
    count_bytes,
    count_look_ups,
    count_neighbours,
    estimate_cost,
    expected_candidates,
    fitting_bucket_bits,
)
from hybriddup.planner.quantities import show_range
from hybriddup.planner.question import Question
from hybriddup.planner.weak_bits import PairModel, found_by_tables

MAX_BLOCKS = 64
MAX_KEY_BLOCKS = 8
MAX_BLOCK_TABLES = 1000
MAX_PROBES = 100_000
"""Most neighbours that `probing` looks up in a table, unless a configuration allows more."""
FEWEST_KEY_BITS = 6
MOST_KEY_BITS = 22
MAX_SAMPLED_TABLES = 64
MAX_WEAK_BITS = 6
"""What the options of `blocks`, `probing` and `tables` allow, and how far the last one plans by itself."""
ALMOST_ALL = 1 - 2**-40
"""The most that sampled tables are said to find: nearly every pair is not every pair."""


@dataclass(frozen=True)
class Shape:
    """A shape of index, what it costs a post, and what it finds."""

    name: str
    """``blocks: 5 choose 2``; ``probing: 4 within 1-2 bits``, blocks and radii; ``tables: 9 of 16, 4 weak``, tables,
    key bits and weak bits."""
    blocks: dict[str, str | int] | None
    """The key ``blocks`` of a configuration that makes it so; None for a shape that hybriddup does not have."""
    n_tables: int
    key_bits: tuple[int, int]
    """Bits of the shortest and of the longest key."""
    look_ups: int
    """Look-ups a post."""
    candidates: float
    """Comparisons a post, expected."""
    n_bytes: int
    """Memory of the whole index."""
    recall: float
    """Share of the wanted pairs that it finds, expected."""
    cost: float
    """Nanoseconds a post, estimated."""

    @property
    def is_exact(self) -> bool:
        """Whether it finds every pair within the limit, as all do but sampled tables."""
        return self.option("use") != "tables"

    def option(self, name: str) -> str | int | None:
        """Return what it sets an option of ``blocks`` to; None where it sets none of that name."""
        return (self.blocks or {}).get(name)

    def to_dict(self) -> dict[str, Any]:
        """Return the shape as plain data that JSON can hold; whole numbers past 63 bits as floats."""
        return asdict(self) | {"look_ups": plain(self.look_ups), "n_bytes": plain(self.n_bytes)}


def plain(count: int) -> int | float:
    """Return a count as what readers of JSON can hold."""
    return count if count < 2**63 else float(count)


def table_shape(
    question: Question, name: str, blocks: dict[str, str | int], groups: Sequence[TableGroup], recall: float
) -> Shape:
    """Return the shape that has these tables."""
    longest = max(group.key_bits for group in groups)
    bucket_bits = min(longest, fitting_bucket_bits(question.n_posts))
    n_tables = sum(group.n_tables for group in groups)
    look_ups = count_look_ups(groups, bucket_bits)
    candidates = expected_candidates(question.n_posts, groups, bucket_bits)
    return Shape(
        name=name,
        blocks=blocks,
        n_tables=n_tables,
        key_bits=(min(group.key_bits for group in groups), longest),
        look_ups=look_ups,
        candidates=candidates,
        n_bytes=count_bytes(question.n_posts, question.bits, n_tables, bucket_bits),
        recall=recall,
        cost=estimate_cost(n_tables, look_ups, candidates),
    )


# --- exact within the limit ---


def pigeonhole_groups(bits: int, n_blocks: int, n_key_blocks: int) -> list[TableGroup]:
    """Return the tables of `blocks`: one for each choice of key blocks, the wider blocks one bit wider than the rest.

    Examples
    --------
    >>> [(group.n_tables, group.key_bits) for group in pigeonhole_groups(64, 5, 2)]
    [(4, 25), (6, 26)]
    """
    width, n_wide = divmod(bits, n_blocks)
    groups = []
    for wide in range(n_key_blocks + 1):
        n_tables = comb(n_wide, wide) * comb(n_blocks - n_wide, n_key_blocks - wide)
        key_bits = n_key_blocks * width + wide
        if n_tables:
            groups.append(TableGroup(n_tables, key_bits))
    return groups


def pigeonhole_shapes(question: Question) -> Iterator[Shape]:
    """Yield `blocks` for every number of key blocks; with the fewest blocks that are exact, because keys are longest.

    Of ``n_blocks`` blocks, ``limit`` differing bits leave ``n_blocks - limit`` untouched (Manku, Jain and Das Sarma
    2007), which is how many may form a key.
    """
    limit, recall = question.distances.limit, question.distances.within_limit
    for n_key_blocks in range(1, MAX_KEY_BLOCKS + 1 if limit else 2):
        n_blocks = limit + n_key_blocks
        if n_blocks <= MAX_BLOCKS and comb(n_blocks, n_key_blocks) <= MAX_BLOCK_TABLES:
            blocks: dict[str, str | int] = {"use": "blocks", "n_blocks": n_blocks, "n_key_blocks": n_key_blocks}
            groups = pigeonhole_groups(question.bits, n_blocks, n_key_blocks)
            yield table_shape(question, f"blocks: {n_blocks} choose {n_key_blocks}", blocks, groups, recall)


def probing_groups(bits: int, n_blocks: int, distance: int) -> list[TableGroup]:
    """Return the tables of `probing`: one for each block, the wider blocks first, and so those probed farthest.

    Examples
    --------
    >>> [(group.n_tables, group.key_bits, group.radius) for group in probing_groups(64, 3, 7)]
    [(1, 22, 2), (1, 21, 2), (1, 21, 1)]
    """
    width, n_wide = divmod(bits, n_blocks)
    sizes = [width + 1] * n_wide + [width] * (n_blocks - n_wide)
    alike = Counter(zip(sizes, block_radii(n_blocks, distance), strict=False))  # not every block may be needed
    return [TableGroup(n_tables, key_bits, radius) for (key_bits, radius), n_tables in alike.items()]


def probing_shapes(question: Question) -> Iterator[Shape]:
    """Yield `probing` for every number of blocks that has neighbours to probe, but not more than are allowed.

    The radii are those of `block_radii`.
    """
    limit, recall = question.distances.limit, question.distances.within_limit
    for n_blocks in range(1, min(limit, MAX_BLOCKS) + 1):
        groups = probing_groups(question.bits, n_blocks, limit)
        farthest, nearest = groups[0].radius, groups[-1].radius
        if count_neighbours(groups[0].key_bits, farthest) <= MAX_PROBES:
            name = f"probing: {n_blocks} within {show_range(nearest, farthest)} bit{'s' if farthest > 1 else ''}"
            yield table_shape(question, name, {"use": "probing", "n_blocks": n_blocks}, groups, recall)


def scan_shape(question: Question) -> Shape:
    """Return `scan`: no tables, every post compared with every other."""
    return Shape(
        name="scan",
        blocks={"use": "scan"},
        n_tables=0,
        key_bits=(0, 0),
        look_ups=1,
        candidates=float(question.n_posts),
        n_bytes=count_bytes(question.n_posts, question.bits, 0, 0),
        recall=question.distances.within_limit,
        cost=COST_OF_SCANNING * question.n_posts,
    )


# --- a share of the pairs ---


def sampled_shapes(question: Question) -> Iterator[Shape]:
    """Yield `tables` for every number of key bits and of weak bits, with the fewest tables that reach the recall.

    All tables that are allowed, where even they do not reach it. Keys are no longer than the posts can fill, because
    each value of a key has a bucket of its own.
    """
    distances = question.distances
    model = PairModel(question.bits, range(distances.limit + 1))
    most_key_bits = max(min(fitting_bucket_bits(question.n_posts), MOST_KEY_BITS), FEWEST_KEY_BITS)
    for key_bits in range(FEWEST_KEY_BITS, most_key_bits + 1):
        found = model.found_by_table(key_bits, MAX_WEAK_BITS)
        for n_weak_bits in range(MAX_WEAK_BITS + 1):
            recalls = np.array(
                [
                    distances.probabilities @ found_by_tables(found[n_weak_bits], n_tables)
                    for n_tables in range(1, MAX_SAMPLED_TABLES + 1)
                ]
            )
            n_tables = min(int(np.searchsorted(recalls, question.recall)) + 1, MAX_SAMPLED_TABLES)
            yield sampled_shape(question, key_bits, n_weak_bits, n_tables, float(recalls[n_tables - 1]))


def sampled_shape(question: Question, key_bits: int, n_weak_bits: int, n_tables: int, recall: float) -> Shape:
    """Return `tables` with this number of tables, key bits and weak bits."""
    blocks: dict[str, str | int] = {
        "use": "tables",
        "n_tables": n_tables,
        "key_bits": key_bits,
        "n_weak_bits": n_weak_bits,
    }
    groups = [TableGroup(n_tables, key_bits, n_weak_bits=n_weak_bits)]
    name = f"tables: {n_tables} of {key_bits}, {n_weak_bits} weak"
    return table_shape(question, name, blocks, groups, min(recall, ALMOST_ALL))


# --- for comparison ---


def naive_shapes(question: Question) -> Iterator[Shape]:
    """Yield what comes to mind first: one hash table of fingerprints, and all neighbours looked up, or all stored."""
    n_neighbours = count_neighbours(question.bits, question.distances.limit)
    yield naive_shape(question, "naive: probe all", n_neighbours, 1)
    yield naive_shape(question, "naive: store all", 1, n_neighbours)


def naive_shape(question: Question, name: str, look_ups: int, n_stored: int) -> Shape:
    """Return one hash table that stores so many fingerprints a post, each with a link of its own."""
    n_posts, bits = question.n_posts, question.bits
    more = n_posts * (n_stored - 1) * (bits // 8 + BYTES_OF_ROW)
    candidates = look_ups * n_stored * (n_posts / 2**bits)
    return Shape(
        name=name,
        blocks=None,
        n_tables=1,
        key_bits=(bits, bits),
        look_ups=look_ups,
        candidates=candidates,
        n_bytes=count_bytes(n_posts, bits, 1, fitting_bucket_bits(n_posts)) + more,
        recall=question.distances.within_limit,
        cost=estimate_cost(1, look_ups + n_stored - 1, candidates),  # to store waits for memory as to look up does
    )
