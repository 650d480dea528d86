"""What a text must be equal in to be an exact repeat, and its hash."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xxhash

from hybriddup.data.records import Bools, UInt64s


def exact_keys(normalized: Sequence[str], raw: Sequence[str], has_tokens: Bools) -> list[tuple[bool, str]]:
    """Return what each text must be equal in to be an exact repeat.

    That is the normalized text, or the text as it was sent where the normalized one says nothing.
    """
    return [
        (says, text if says else sent) for says, text, sent in zip(has_tokens.tolist(), normalized, raw, strict=True)
    ]


def hash_keys(keys: Sequence[tuple[bool, str]]) -> UInt64s:
    """Return uint64[n]: the hash of each key, never 0."""
    hashes = (xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=says) for says, text in keys)
    return np.maximum(np.fromiter(hashes, np.uint64, len(keys)), np.uint64(1))
