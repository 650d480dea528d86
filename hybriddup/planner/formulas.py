"""What tables cost: look-ups, candidates, memory and time, for fingerprints that are evenly spread."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

COST_OF_TABLE = 250.0
COST_OF_LOOK_UP = 30.0
COST_OF_COMPARISON = 0.15
COST_OF_SCANNING = 0.21
"""Nanoseconds for each post: for sorting one more table; for one look-up, which mostly waits for memory; for one
comparison in a bucket, where memory is read in order; and for one comparison where every post is compared with every
other. Those of `hybriddup.steps.blocks.tables`, which is not imported because it needs compiled kernels. They choose a
shape, never an answer."""

BYTES_OF_ROW = 4
"""A chain links rows of 32 bits, and a bucket begins with one."""
BYTES_OF_WORD = 8


class TableGroup(NamedTuple):
    """Tables that are alike."""

    n_tables: int
    key_bits: int
    radius: int = 0
    """All keys that differ from a post's own in at most this many bits are looked up."""
    n_weak_bits: int = 0
    """The weakest bits of a post's key are flipped in all combinations, for each of those."""


def count_neighbours(n_bits: int, radius: int) -> int:
    """Return how many words of ``n_bits`` differ from a given one in at most ``radius`` bits, itself included.

    Examples
    --------
    >>> count_neighbours(64, 3)
    43745
    """
    return sum(comb(n_bits, flipped) for flipped in range(radius + 1))


def block_radii(n_blocks: int, distance: int) -> list[int]:
    """Return the radius within which each block is probed, so that every pair within ``distance`` bits is found.

    A pair is missed when every block differs in more bits than its radius, so in ``sum(radius + 1)`` bits at least.
    For that to be ``distance + 1``, and no more, the first blocks are probed one bit farther than the others (Norouzi,
    Punjani and Fleet 2012). Of more than ``distance + 1`` blocks only so many are needed.

    Examples
    --------
    >>> block_radii(4, 10), block_radii(4, 11), block_radii(4, 1)
    ([2, 2, 2, 1], [2, 2, 2, 2], [0, 0])
    """
    radius, n_farther = divmod(max(distance, 0) + 1, n_blocks)
    return [radius] * n_farther + [radius - 1] * ((n_blocks - n_farther) if radius else 0)


def fitting_bucket_bits(n_posts: int) -> int:
    """Return how many bits number about as many buckets as there are posts, at least 1."""
    return max(1, n_posts.bit_length())


def count_look_ups(groups: Sequence[TableGroup], bucket_bits: int) -> int:
    """Return the look-ups a post, over all tables.

    Keys longer than ``bucket_bits`` are folded by exclusive or, bit ``i`` onto bit ``i % bucket_bits``. Neighbours of
    the key then fall into the neighbours of its bucket, each of which is looked into once.
    """
    return sum(
        group.n_tables * count_neighbours(min(group.key_bits, bucket_bits), group.radius) << group.n_weak_bits
        for group in groups
    )


def expected_candidates(n_posts: int, groups: Sequence[TableGroup], bucket_bits: int) -> float:
    """Return how many posts a post is compared with, on average, once for each table in which they meet.

    A bucket holds ``n_posts / 2 ** bits`` of evenly spread fingerprints, ``bits`` being those of the key, or of the
    bucket where the key is folded.
    """
    candidates = 0.0
    for group in groups:
        bits = min(group.key_bits, bucket_bits)
        n_buckets = group.n_tables * count_neighbours(bits, group.radius) << group.n_weak_bits
        candidates += n_buckets * (n_posts / 2**bits)
    return candidates


def count_bytes(n_posts: int, bits: int, n_tables: int, bucket_bits: int) -> int:
    """Return the bytes of an index that holds all of its tables at once, as one that decides post by post must.

    That is one fingerprint a post; and for each table a chain, which links a post to the next in its bucket, and the
    heads, with which buckets begin. What else is kept of a post, such as its text, is not counted.
    """
    a_post = bits // 64 * BYTES_OF_WORD + n_tables * BYTES_OF_ROW
    return n_posts * a_post + n_tables * BYTES_OF_ROW * (1 << bucket_bits)


def estimate_cost(n_tables: int, look_ups: float, candidates: float) -> float:
    """Return nanoseconds a post."""
    return COST_OF_TABLE * n_tables + COST_OF_LOOK_UP * look_ups + COST_OF_COMPARISON * candidates
