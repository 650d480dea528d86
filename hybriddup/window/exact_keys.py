"""What a text must be equal in to be an exact repeat, and its hash."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xxhash

from hybriddup.data.records import Bools, Int64s, UInt64s


def exact_keys(
    normalized: Sequence[str], raw: Sequence[str], has_tokens: Bools, positions: Int64s, without_text: str
) -> list[tuple[bool, str]]:
    """Return what each text must be equal in to be an exact repeat.

    That is the normalized text, or the text as it was sent where the normalized one says nothing; where nothing is left
    of it, it is the text as no post sends it, with the post's position, unless ``without_text`` is ``compare``.
    """
    keeps = without_text != "compare"
    return [
        (says, text if says else f"{sent}\0{position}" if keeps and not text else sent)
        for says, text, sent, position in zip(has_tokens.tolist(), normalized, raw, positions.tolist(), strict=True)
    ]


def hash_keys(keys: Sequence[tuple[bool, str]]) -> UInt64s:
    """Return uint64[n]: the hash of each key, never 0."""
    hashes = (xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), seed=says) for says, text in keys)
    return np.maximum(np.fromiter(hashes, np.uint64, len(keys)), np.uint64(1))
