"""The guard `numbers_must_match`: texts whose runs of digits differ are never duplicates of each other."""

import re
from collections.abc import Sequence

import numpy as np
import xxhash

from hybriddup.data.records import Bools, CandidatePairs, UInt64s

DIGITS = re.compile(r"\d+")


def number_keys(texts: Sequence[str]) -> UInt64s:
    """Return uint64[n]: equal for texts with the same runs of digits in the same order, and only for these."""
    keys = (xxhash.xxh3_64_intdigest(" ".join(DIGITS.findall(text)).encode()) for text in texts)
    return np.fromiter(keys, np.uint64, len(texts))


def have_same_numbers(pairs: CandidatePairs, keys: UInt64s) -> Bools:
    """Return bool[n_pairs]: whether the two texts of each pair have the same numbers; ``keys`` are by text."""
    return np.asarray(keys[pairs.earlier] == keys[pairs.later])
