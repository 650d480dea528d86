"""`shingles`: the keys of a text are its shingles (character n-grams) with the smallest hashes.

The fingerprints of edited copies of a short text differ in too many bits for keys of fingerprint bits. But the copies
share most of their shingles, and so most shingles with the smallest hashes (see `hybriddup.kernels.search.shingles`).
Common shingles, which are learned from a sample of the texts, are used last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hybriddup.data.records import Int64s, UInt32s, UInt64s, encode_texts
from hybriddup.errors import ConfigError
from hybriddup.kernels.search.shingles import (
    WORDS_OF_COMMON,
    bottom_shingles,
    count_surroundings,
    keys_of_shingles,
    mark_common,
)
from hybriddup.steps.blocks import BlockIndex, bucket_limit
from hybriddup.steps.options import Options as ComponentOptions

UNITS = 5
"""Minimum length of a shingle in units. A letter is one unit, and a character of a dense script such as Han two, so a
shingle has five letters or three Han characters."""
MAX_LEARNED_CHARACTERS = 2048
"""Maximum number of characters of each text from which to learn, so that huge texts take little memory and time."""
COMMON = "common_in_surroundings"
MAX_BUCKET_SIZE = 256
"""Default of ``max_bucket_size``. Of the repeats found without a limit, a limit of 256 finds 98.9 % and one of 512
finds 99.5 % in a window of 5 million posts, as measured with proportionally lower limits on 300,000 Weibo posts."""
MAX_CANDIDATES = 12
"""Default of ``max_candidates``. A limit of 16 finds 5 more of 77,443 repeats among 300,000 Weibo posts, and 3 more of
12,521 among as many titles, and compares up to a quarter more pairs of posts that are made from one template."""


class Shingles(BlockIndex):
    """The keys of a text are its shingles with the smallest hashes; uncommon shingles come first.

    Nearly all near repeats of short texts share a key.
    """

    class Options(ComponentOptions):
        """Options of the index."""

        n_shingles: int = Field(
            16, ge=1, le=32, description="Number of keys per text; more find more duplicates, in more time and memory."
        )
        n_dense_shingles: int = Field(
            12,
            ge=1,
            le=32,
            description="Maximum number of keys of a text mostly in Han, kana or hangul. It needs fewer: changing one "
            "character changes three of its shingles, but five of a text in an alphabet.",
        )
        max_bucket_size: int = bucket_limit(MAX_BUCKET_SIZE)
        max_candidates: int = Field(
            MAX_CANDIDATES,
            ge=0,
            description="A candidate is skipped if this many earlier candidates differ from the text in as many bits "
            "or fewer; the summary counts the texts with skipped candidates. 0 = no limit.",
        )
        common_in: int = Field(
            10,
            ge=1,
            description="A shingle with this many different pairs of neighbors (the characters before and after it) "
            "in a sample of the texts is common, and becomes a key only if a text lacks rarer ones. Copies of a text "
            "have the same neighbors, and so do not make a shingle common.",
        )

    learns = True
    key_bits = 32

    def __init__(self, options: Options) -> None:
        self.options = options
        self.n_keys = options.n_shingles
        self.max_bucket_size, self.max_candidates = options.max_bucket_size, options.max_candidates
        self._common: UInt32s = np.zeros(WORDS_OF_COMMON, np.uint32)

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002  (the text alone)
        """Return uint64[n, n_shingles]: the keys of each text, which are its shingles with the smallest hashes."""
        n, n_dense = self.options.n_shingles, min(self.options.n_dense_shingles, self.options.n_shingles)
        shingles = bottom_shingles(*encode_texts(texts), UNITS, n, n_dense, self._common)
        return keys_of_shingles(shingles)

    def describe(self) -> str:
        """Return a one-line description with the number of keys of a text."""
        return f"shingles: {self.options.n_shingles} of each text, {self.options.n_dense_shingles} of one in Han"

    def learn(self, texts: Sequence[str]) -> None:
        """Find the shingles that are common in a sample of texts."""
        self.learn_within(texts, np.zeros(len(texts), np.int64))

    def learn_within(self, texts: Sequence[str], scopes: Int64s) -> None:
        """Find the shingles that are common in at least one scope; texts of different scopes are never compared."""
        order = np.argsort(scopes, kind="stable")
        encoded = encode_texts([texts[place][:MAX_LEARNED_CHARACTERS] for place in order.tolist()])
        self._common = mark_common(count_surroundings(*encoded, scopes[order], UNITS), self.options.common_in)

    def learned(self) -> Mapping[str, NDArray[Any]]:
        """Return the common shingles as a bitmap, for `use_learned`."""
        return {COMMON: self._common}

    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:
        """Use common shingles that were learned before.

        Raises
        ------
        ConfigError
            The shingles were learned by another version of hybriddup.
        """
        common = learned.get(COMMON)
        if common is None or common.shape != (WORDS_OF_COMMON,) or common.dtype != np.uint32:
            raise ConfigError(
                "the common shingles of the recipe are from another version of hybriddup. Learn the recipe anew. "
                "If a window learned them, begin a new one."
            )
        self._common = np.ascontiguousarray(common)
