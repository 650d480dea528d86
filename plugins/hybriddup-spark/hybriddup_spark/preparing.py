"""The steps that need only the post itself: normalize, fingerprint, keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import xxhash

from hybriddup.data.records import Int64s, UInt64s, text_lengths
from hybriddup.run.components import Components
from hybriddup.steps.candidates.groups import within_scopes
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.window.preparing import exact_keys
from hybriddup_spark.columns import as_array, longs, packed_keys, packed_rows, texts
from hybriddup_spark.making import Maker
from hybriddup_spark.schemas import POSTS

Batches = Iterator[pa.RecordBatch]

PARTITION_BITS = 33
"""Bits below the partition number in `pyspark.sql.functions.monotonically_increasing_id`."""


def preparer(maker: Maker, first_positions: Int64s) -> Callable[[Batches], Batches]:
    """Return the task that makes `POSTS` from the columns ``number`` (Spark's row numbers), ``text`` and ``scope``.

    Without a column ``scope``, all posts have one scope.

    Parameters
    ----------
    first_positions
        int64[n_partitions]: position of the first post of each partition.
    """

    def prepare_all(batches: Batches) -> Batches:
        components = maker.components()
        for batch in batches:
            numbers = longs(batch, "number")
            positions = first_positions[numbers >> PARTITION_BITS] + (numbers & ((1 << PARTITION_BITS) - 1))
            scopes = longs(batch, "scope") if "scope" in batch.schema.names else None
            yield prepare(components, texts(batch), positions, scopes)

    return prepare_all


def prepare(
    components: Components, raw: Sequence[str], positions: Int64s, scopes: Int64s | None = None
) -> pa.RecordBatch:
    """Normalize and fingerprint posts; return them as `POSTS`. Posts of different scopes share no key."""
    normalized = components.normalizer.normalize_batch(raw)
    compared = components.compared(normalized)
    searched, lengths = components.searched(compared), text_lengths(compared)
    prints = components.fingerprint(normalized, searched)
    equal = exact_keys(normalized, raw, prints.has_tokens, positions, components.settings.without_text)
    hashes = within_scopes(hash_equal(equal), scopes)
    index = components.block_index
    own = index.keys(searched, prints.bits)
    probes = index.probes(own, prints.bits) if index.probes_others else own[:, :0]
    keys, probes = within_scopes(own, scopes), within_scopes(probes, scopes)
    columns = {
        "position": positions,
        "has_text": [bool(text) for text in normalized],
        "equal_a": hashes[:, 0].view(np.int64),
        "equal_b": hashes[:, 1].view(np.int64),
        "is_near": prints.is_comparable & components.bands.may_be_near(lengths),
        "text": list(normalized),
        "length": lengths,
        "bits": packed_rows(prints.bits),
        "sketch": packed_rows(sketches_of(components, compared)),
        "keys": packed_keys(keys),
        "probes": packed_keys(probes),
        "scope": np.zeros(len(positions), np.int64) if scopes is None else scopes,
    }
    return pa.record_batch([as_array(columns[field.name], field.type) for field in POSTS], schema=POSTS)


def hash_equal(keys: Sequence[tuple[bool, str]]) -> UInt64s:
    """Hash the keys that exact repeats share to uint64[n, 2]; no collision is expected among 10**10 texts."""
    digests = (xxhash.xxh3_128_digest(text.encode(), seed=says) for says, text in keys)
    return np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)


def sketches_of(components: Components, compared: Sequence[str]) -> UInt64s:
    """Return the character sketches of texts; uint64[n, 0] if no verifier uses them."""
    return sketch_texts(compared, 1) if counts_characters(components) else np.zeros((len(compared), 0), np.uint64)


def counts_characters(components: Components) -> bool:
    """Return whether any verifier requires a minimum number of characters in common."""
    return bool(components.bands.least_in_common().any())
