"""Finds the block keys that two texts share, and the parts of the first text from which these keys are computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hybriddup.data.records import NO_KEY, UInt64s
from hybriddup.steps.blocks import BlockIndex

LONGEST_PART = 8
"""Maximum length of a part of a text that is tried as a key, in characters; shingles have up to five."""
CHARACTERS_TRIED = 1_000
"""Number of characters at the start of a text that are searched for the parts from which its keys are computed. To
search all of a long text would take too long."""


class SharedKeys(NamedTuple):
    """The block keys that two texts share."""

    n_shared: int
    n_keys: int
    """Number of keys by which the second text is looked up."""
    parts: list[str]
    """Parts of the first text from which shared keys are computed; empty if keys are not computed from texts."""


def shared_keys(index: BlockIndex, texts: Sequence[str], bits: UInt64s) -> SharedKeys:
    """Return the block keys of the first text that are also keys by which the second text is looked up.

    ``bits``: uint64[2, words], the fingerprints of the two texts.
    """
    keys = index.keys(texts, bits)
    probes = (index.probes(keys, bits) if index.probes_others else keys)[1]
    shared = np.intersect1d(keys[0], probes)
    shared = shared[shared != np.uint64(NO_KEY)]
    n_keys = int((probes != np.uint64(NO_KEY)).sum())
    return SharedKeys(len(shared), n_keys, spell_keys(shared, texts[0], index, bits.shape[1]))


def spell_keys(keys: UInt64s, text: str, index: BlockIndex, n_words: int) -> list[str]:
    """Find, for each key, the shortest part of the text that has this key; return the distinct parts in any order.

    The index computes the keys of every short part. If an index does not compute keys from texts, the result is empty.
    ``n_words`` is the size of a fingerprint in 64-bit words.
    """
    if not len(keys) or not index.reads_texts:
        return []
    text = text[:CHARACTERS_TRIED]
    spans = ((first, n) for n in range(1, LONGEST_PART + 1) for first in range(len(text) - n + 1))
    parts = list(dict.fromkeys(text[first : first + n] for first, n in spans))
    made = index.keys(parts, np.zeros((len(parts), n_words), np.uint64))
    part_of: dict[int, str] = {}
    for place, column in np.argwhere(np.isin(made, keys)).tolist():
        part_of.setdefault(int(made[place, column]), parts[place])
    return list(dict.fromkeys(part_of.values()))
