"""`blocks`: the bits cut into blocks, some of which form a key (Manku, Jain and Das Sarma 2007).

Of ``n_blocks`` blocks, ``d`` differing bits touch at most ``d``. So when ``d <= n_blocks - n_key_blocks``, at least
``n_key_blocks`` blocks are untouched, and one of the tables, which has these as its key, finds the pair.
"""

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from hybriddup.planner.formulas import block_radii, count_neighbours
from hybriddup.planner.quantities import show_range
from hybriddup.plugin.options import Options as ComponentOptions
from hybriddup.records import Int64s
from hybriddup.steps.blocks import Expectation
from hybriddup.steps.blocks.join_index import JoinIndex
from hybriddup.steps.blocks.table_shape import Neighbours, TableShape

if TYPE_CHECKING:
    from hybriddup.config.settings import Settings

MAX_BUCKET_BITS = 22
"""Largest number of buckets of a table, as a power of two: 16 MiB of bucket starts."""
MAX_TABLES = 1000
"""Every text is looked up in every table, so that more cost more than comparing all texts."""


class Blocks(JoinIndex):
    """Exact for Hamming distances up to ``n_blocks - n_key_blocks``; one table for each choice of key blocks."""

    class Options(ComponentOptions):
        """Options of the index."""

        n_blocks: int = Field(4, ge=1, le=64, description="Blocks that the fingerprint is cut into.")
        n_key_blocks: int = Field(1, ge=1, le=8, description="Blocks that form the key of a table.")
        max_bucket_size: int = Field(
            0, ge=0, description="Larger buckets are passed over, counted and reported as lost recall; 0 = no limit."
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    @staticmethod
    def check(settings: "Settings") -> list[str]:
        """Return what is wrong with using this index under these settings."""
        options = Blocks.Options.model_validate(settings.blocks.options)
        m, r, widest = options.n_blocks, options.n_key_blocks, settings.max_hamming_distance
        if widest > m - r:
            message = (
                f"blocks.n_blocks must be at least {widest + r} because max_hamming_distance is {widest} and "
                f"n_key_blocks is {r}; got {m}. For distances this large use `blocks: {{use: tables}}`."
            )
            return [message]
        if (n_tables := comb(m, r)) > MAX_TABLES:
            message = (
                f"blocks.n_key_blocks must be smaller: {m} blocks of which {r} form a key make {n_tables:,} tables; "
                f"at most {MAX_TABLES:,} are allowed."
            )
            return [message]
        return []

    def prepare(self, expectation: Expectation) -> None:
        """Cut the fingerprint into blocks and form the keys."""
        blocks = cut_blocks(expectation.bits, self.options.n_blocks)
        keys = [np.concatenate(chosen) for chosen in combinations(blocks, self.options.n_key_blocks)]
        longest = max(map(len, keys))
        bucket_bits = min(longest, fitting_bucket_bits(expectation.n_texts))
        shape = TableShape(keys, bucket_bits, max_bucket_size=self.options.max_bucket_size)
        description = (
            f"blocks: {self.options.n_blocks} choose {self.options.n_key_blocks}, {len(keys)} tables of {longest} bits"
        )
        reach = self.options.n_blocks - self.options.n_key_blocks
        self.start(shape, expectation, description=description, exact=expectation.max_hamming_distance <= reach)


class Probing(JoinIndex):
    """Multi-index hashing: one table a block, and neighbours of its key looked up too (Norouzi, Punjani, Fleet 2012).

    Of ``d`` differing bits, some block has few; looking up every key within a radius of the text's own makes the index
    exact at distances where plain blocks would need keys of a few bits. The radii are those of `block_radii`, the
    larger ones for the wider blocks, whose buckets hold fewer texts.
    """

    class Options(ComponentOptions):
        """Options of the index."""

        n_blocks: int = Field(4, ge=1, le=64, description="Blocks that the fingerprint is cut into, one table each.")
        max_probes: int = Field(
            100_000, ge=1, description="Most look-ups a text and table; needing more is an error, not a loss."
        )
        max_bucket_size: int = Field(
            0, ge=0, description="Larger buckets are passed over, counted and reported as lost recall; 0 = no limit."
        )

    def __init__(self, options: Options) -> None:
        self.options = options

    @staticmethod
    def check(settings: "Settings") -> list[str]:
        """Return what is wrong with using this index under these settings."""
        options = Probing.Options.model_validate(settings.blocks.options)
        widest = settings.max_hamming_distance
        block_bits = -(-settings.fingerprint.bits // options.n_blocks)
        n_probes = count_neighbours(block_bits, block_radii(options.n_blocks, widest)[0])
        if n_probes <= options.max_probes:
            return []
        message = (
            f"blocks.n_blocks must be larger: with {options.n_blocks} blocks of {block_bits} bits and "
            f"max_hamming_distance {widest}, each text would probe {n_probes} buckets a table, more than max_probes "
            f"{options.max_probes}. For distances this large use `blocks: {{use: tables}}`."
        )
        return [message]

    def prepare(self, expectation: Expectation) -> None:
        """Cut the fingerprint into blocks and list the neighbours to probe."""
        radii = block_radii(self.options.n_blocks, expectation.max_hamming_distance)
        keys = cut_blocks(expectation.bits, self.options.n_blocks)[: len(radii)]
        sizes = list(map(len, keys))
        bucket_bits = min(max(sizes), fitting_bucket_bits(expectation.n_texts))
        probed = list(zip(sizes, radii, strict=True))
        made = {alike: Neighbours(alike[1], neighbour_offsets(*alike, bucket_bits)) for alike in set(probed)}
        neighbours = [made[alike] for alike in probed]
        shape = TableShape(keys, bucket_bits, neighbours, max_bucket_size=self.options.max_bucket_size)
        n_probes, within = sum(count_neighbours(*alike) for alike in probed), show_range(min(radii), max(radii))
        description = f"probing: {len(keys)} tables of {max(sizes)} bits, {n_probes} keys within {within} bits probed"
        self.start(shape, expectation, description=description, exact=True)


def cut_blocks(bits: int, n_blocks: int) -> list[Int64s]:
    """Return the bit positions of each block: contiguous, together all bits, sizes differing by one at most."""
    return [np.asarray(block, np.int64) for block in np.array_split(np.arange(bits), n_blocks)]


def fitting_bucket_bits(n_texts: int) -> int:
    """Return how many bits number about as many buckets as there are texts, 1 to `MAX_BUCKET_BITS`."""
    return max(1, min(MAX_BUCKET_BITS, n_texts.bit_length()))


def neighbour_offsets(key_bits: int, radius: int, bucket_bits: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    """Return uint32[n]: the bucket offsets of all flips of up to ``radius`` key bits, each once, 0 first."""
    offsets = {0}
    for flipped in range(1, radius + 1):
        for chosen in combinations(range(key_bits), flipped):
            offset = 0
            for bit in chosen:
                offset ^= 1 << (bit % bucket_bits)
            offsets.add(offset)
    return np.array(sorted(offsets), np.uint32)
