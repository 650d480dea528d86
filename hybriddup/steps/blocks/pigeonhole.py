"""`blocks`, `probing`: keys of fingerprint bits that find all pairs at small distances; `scan`: compares all pairs."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from hybriddup.data.records import Int64s, UInt64s
from hybriddup.kernels.search.bit_keys import hash_bits
from hybriddup.steps.blocks import BlockIndex, bucket_limit
from hybriddup.steps.options import Options as ComponentOptions

LARGEST_SEGMENT = 32
"""Largest number of fingerprint bits in a segment; see `BlockIndex.use_segments`."""
MAX_KEYS = 1000
"""Largest number of keys of a text. Each key costs a look-up: with more keys, comparing all texts would be cheaper."""


class KeyBits(NamedTuple):
    """The fingerprint bits that form each key of a text."""

    masks: UInt64s
    """uint64[n_masks, words]: the distinct masks; each selects the fingerprint bits of a key."""
    flips: UInt64s
    """uint64[n_keys, words]: the bits to flip before masking, for each key."""
    mask_of: Int64s
    """int64[n_keys]: for each key, the index of its mask in ``masks``."""

    def hash(self, bits: UInt64s) -> UInt64s:
        """Return uint64[n, n_keys]: the keys of each fingerprint."""
        return hash_bits(bits, *self)


class _BitKeys(BlockIndex):
    """Base class of the indexes whose keys are made of chosen fingerprint bits."""

    Options: type[ComponentOptions]
    reads_texts = False
    chosen: list[Int64s]
    """For each key, the positions of the fingerprint bits that form it."""
    radii: list[int]
    """For each key, the radius in bits within which a text looks up other keys; 0 = only its own key."""

    def __init__(self, options: Any) -> None:
        self.options = options
        self.max_bucket_size = options.max_bucket_size

    @classmethod
    def check(cls, settings: Any) -> list[str]:
        """Return messages about why this index does not work with these settings of a run; empty if it does."""
        index = cls(cls.Options.model_validate(settings.blocks.options))
        return list(index.faults(settings.max_hamming_distance, settings.fingerprint.bits))

    @abstractmethod
    def faults(self, max_hamming_distance: int, bits: int) -> Iterator[str]:
        """Yield messages about why the index cannot find every pair within a distance; ``bits`` of a fingerprint."""

    def _choose(self, chosen: list[Int64s], radii: list[int], bits: int) -> None:
        """Set the bits of each key, for fingerprints of ``bits`` bits."""
        self.chosen, self.radii, self.n_keys = chosen, radii, len(chosen)
        self._own = key_bits_of(chosen, [0] * len(chosen), bits // 64)

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (the fingerprint alone)
        """Return uint64[n, n_keys]: one key for each array of bit positions in `chosen`."""
        return self._own.hash(bits)


class Blocks(_BitKeys):
    """Cuts a fingerprint into ``n_blocks`` blocks of bits; any ``n_key_blocks`` of these blocks form a key.

    The index finds all pairs at distances up to ``n_blocks - n_key_blocks``: ``d`` differing bits are in at most ``d``
    blocks, so that at least ``n_key_blocks`` blocks are equal, and the two texts share the key of these blocks (Manku,
    Jain and Das Sarma 2007).
    """

    _has_segments = False

    class Options(ComponentOptions):
        """Options of the index."""

        n_blocks: int = Field(4, ge=1, le=64, description="Number of blocks into which fingerprints are cut.")
        n_key_blocks: int = Field(1, ge=1, le=8, description="Number of blocks that form a key.")
        max_bucket_size: int = bucket_limit(0)

    def faults(self, max_hamming_distance: int, bits: int) -> Iterator[str]:  # noqa: ARG002  (whatever the width)
        """Yield a message if the index cannot find every pair within this distance, or needs too many keys."""
        m, r = self.options.n_blocks, self.options.n_key_blocks
        if max_hamming_distance > m - r:
            yield (
                f"blocks.n_blocks must be at least {max_hamming_distance + r} because max_hamming_distance is "
                f"{max_hamming_distance} and n_key_blocks is {r}; got {m}. For distances this large use "
                f"`blocks: {{use: shingles}}`."
            )
        elif (n_keys := comb(m, r)) > MAX_KEYS:
            yield (
                f"blocks.n_key_blocks must be smaller: {m} blocks with {r} in each key make {n_keys:,} keys; "
                f"at most {MAX_KEYS:,} are allowed."
            )

    def prepare(self, bits: int, max_hamming_distance: int) -> None:
        """Cut the fingerprint into blocks, and choose the bits of each key."""
        blocks = cut_blocks(bits, self.options.n_blocks)
        chosen = [np.concatenate(some) for some in combinations(blocks, self.options.n_key_blocks)]
        self._choose(chosen, [0] * len(chosen), bits)
        self.is_complete = max_hamming_distance <= self.options.n_blocks - self.options.n_key_blocks

    def use_segments(self) -> Sequence[int]:
        """Switch to keys with segments if the fingerprint has one word; see `BlockIndex.use_segments`."""
        sizes = list(map(len, self.chosen))
        self._has_segments = self._own.masks.shape[1] == 1 and max(sizes) <= LARGEST_SEGMENT and len(sizes) < 256
        return sizes if self._has_segments else ()

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        """Return uint64[n, n_keys]: one key for each choice of ``n_key_blocks`` blocks."""
        return segment_keys(bits[:, 0], self.chosen) if self._has_segments else super().keys(texts, bits)

    def describe(self) -> str:
        """Return a description with the number of keys."""
        m, r = self.options.n_blocks, self.options.n_key_blocks
        return f"blocks: {m} choose {r}, {comb(m, r)} keys"


class Probing(_BitKeys):
    """Multi-index hashing: each block of fingerprint bits is a key (Norouzi, Punjani and Fleet 2012).

    If ``d`` bits differ, some block contains only a few of them. A text is looked up by all keys within a radius, in
    bits, of its own key. So the index is exact even for distances at which `blocks` would need keys of very few bits.
    `block_radii` returns the radii.
    """

    is_complete = True
    probes_others = True

    class Options(ComponentOptions):
        """Options of the index."""

        n_blocks: int = Field(
            4, ge=1, le=64, description="Number of blocks into which fingerprints are cut; each block is a key."
        )
        max_probes: int = Field(
            100_000,
            ge=1,
            description="Maximum number of look-ups per text and block; settings that need more are an error.",
        )
        max_bucket_size: int = bucket_limit(0)

    def faults(self, max_hamming_distance: int, bits: int) -> Iterator[str]:
        """Yield a message if finding every pair within this distance needs too many probes."""
        options = self.options
        block_bits = -(-bits // options.n_blocks)
        n_probes = count_neighbours(block_bits, block_radii(options.n_blocks, max_hamming_distance)[0])
        if n_probes > options.max_probes:
            yield (
                f"blocks.n_blocks must be larger: with {options.n_blocks} blocks of {block_bits} bits and "
                f"max_hamming_distance {max_hamming_distance}, each text would probe {n_probes} keys per block, more "
                f"than max_probes {options.max_probes}. For distances this large use `blocks: {{use: shingles}}`."
            )

    def prepare(self, bits: int, max_hamming_distance: int) -> None:
        """Cut the fingerprint into blocks, and choose the bits to flip in each block's key for look-ups."""
        radii = block_radii(self.options.n_blocks, max_hamming_distance)
        blocks = cut_blocks(bits, self.options.n_blocks)[: len(radii)]
        self._choose(blocks, radii, bits)
        self._probed = key_bits_of(blocks, radii, bits // 64)

    def probes(self, keys: UInt64s, bits: UInt64s) -> UInt64s:  # noqa: ARG002
        """Return uint64[n, n_probes]: for each block, all keys within the block's radius of the text's own key."""
        return self._probed.hash(bits)

    def describe(self) -> str:
        """Return a description with the numbers of keys and of look-ups."""
        within = "-".join(map(str, sorted(set(self.radii))))
        return f"probing: {self.n_keys} keys, {len(self._probed.flips):,} within {within} bits looked up"


def cut_blocks(bits: int, n_blocks: int) -> list[Int64s]:
    """Return the bit positions of contiguous blocks that cover all bits, with sizes that differ by at most one."""
    return [np.asarray(block, np.int64) for block in np.array_split(np.arange(bits), n_blocks)]


def segment_keys(words: UInt64s, chosen: list[Int64s]) -> UInt64s:
    """Return uint64[n, n_keys]: one key for each array of bit positions in ``chosen``.

    The lowest byte of a key is the index of its array; the bits above are the chosen bits of the word, lowest first.

    Examples
    --------
    >>> [f"{key:x}" for key in segment_keys(np.array([0x3DF0_1234], np.uint64), cut_blocks(64, 4))[0].tolist()]
    ['123400', '3df001', '2', '3']
    """
    single_bits = words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    keys = np.empty((len(words), len(chosen)), np.uint64)
    for number, positions in enumerate(chosen):
        places = np.arange(8, 8 + len(positions), dtype=np.uint64)
        keys[:, number] = (single_bits[:, positions] << places).sum(axis=1) | np.uint64(number)
    return keys


def key_bits_of(chosen: list[Int64s], radii: list[int], words: int) -> KeyBits:
    """Return the `KeyBits` with a key for each array of bit positions and each choice of its bits to flip.

    Up to ``radii[i]`` bits of ``chosen[i]`` are flipped; with radius 0, the only key is the text's own.
    """
    masks = np.concatenate([masks_of_bits(positions[None, :], words) for positions in chosen])
    flips = [flips_of_block(positions, radius, words) for positions, radius in zip(chosen, radii, strict=True)]
    return KeyBits(masks, np.concatenate(flips), np.repeat(np.arange(len(flips)), [len(each) for each in flips]))


def flips_of_block(block: Int64s, radius: int, words: int) -> UInt64s:
    """Return uint64[n, words]: a mask for each choice of up to ``radius`` bits of a block, fewest bits first."""
    n_flipped = range(min(radius, len(block)) + 1)
    choices = [np.array(list(combinations(block.tolist(), n)), np.int64) for n in n_flipped]
    return np.concatenate([masks_of_bits(positions, words) for positions in choices])


def masks_of_bits(positions: Int64s, words: int) -> UInt64s:
    """Return uint64[n, words]: row ``i`` has the bits ``positions[i]`` set; ``positions`` is int64[n, k]."""
    bits = np.uint64(1) << (positions & 63).astype(np.uint64)
    of_words = [np.where(positions >> 6 == word, bits, np.uint64(0)) for word in range(words)]
    return np.stack([np.bitwise_or.reduce(each, axis=1) for each in of_words], axis=1)


def count_neighbours(n_bits: int, radius: int) -> int:
    """Return the number of ``n_bits``-bit values within Hamming distance ``radius`` of a given value, inclusive."""
    return sum(comb(n_bits, flipped) for flipped in range(radius + 1))


def block_radii(n_blocks: int, distance: int) -> list[int]:
    """Return the probing radius that each block needs for every pair within ``distance`` bits to be found.

    A pair is missed only if each block differs in more bits than its radius, which takes ``sum(radius + 1)`` bits in
    total. To make this sum exactly ``distance + 1``, the radius of the first blocks is larger by one (Norouzi, Punjani
    and Fleet 2012). At most ``distance + 1`` blocks are needed.

    Examples
    --------
    >>> block_radii(4, 10), block_radii(4, 11), block_radii(4, 1)
    ([2, 2, 2, 1], [2, 2, 2, 2], [0, 0])
    """
    radius, n_farther = divmod(max(distance, 0) + 1, n_blocks)
    return [radius] * n_farther + [radius - 1] * ((n_blocks - n_farther) if radius else 0)


class Scan(BlockIndex):
    """One key for all texts, so that all pairs are compared: exact, in quadratic time."""

    is_complete = True
    reads_texts = False
    n_keys = 1

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (whatever the texts)
        """Return uint64[n, 1]: the same key for every text."""
        return np.zeros((len(bits), 1), np.uint64)

    def describe(self) -> str:
        """Return a fixed description, because there are no options."""
        return "scan: every pair compared"
