"""Schemas of the tables between the steps: defined for Arrow, converted for Spark."""

from __future__ import annotations

import pyarrow as pa

long, small, real, flag, packed = pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.binary()

BLOCKS = pa.schema([("part", small), ("block", packed)])
"""The rows of another table in one part, serialized as one row, which Spark moves in about the time of one original
row. See `hybriddup_spark.blocks`."""

POSTS = pa.schema(
    [
        ("position", long),
        ("has_text", flag),
        ("equal_a", long),
        ("equal_b", long),
        ("is_near", flag),
        ("text", pa.string()),
        ("length", small),
        ("bits", packed),
        ("sketch", packed),
        ("keys", packed),
        ("probes", packed),
        ("scope", long),
    ]
)
"""Posts in the decision order. ``equal_a`` and ``equal_b`` are a hash that only exact repeats share, ``text`` is
normalized, ``length`` is the length of the compared text. ``sketch`` is empty if no verifier uses it. ``keys`` and
``probes`` are packed uint64s; ``probes`` is empty if texts are looked up under their own keys. Posts are only compared
within their ``scope``."""

EQUAL = pa.schema([("part", small), ("equal_a", long), ("equal_b", long), ("position", long), ("is_near", flag),
                   ("length", small)])  # fmt: skip
"""Posts with the hash by which exact repeats are found."""

COPIES = pa.schema([("position", long), ("length", small), ("keeper", long), ("first", long)])
"""Posts equal to a kept post of an earlier round (``keeper``, else -1) or to an earlier post of the round (``first``,
else -1)."""

ENTRIES = pa.schema(
    [
        ("part", small),
        ("key", long),
        ("position", long),
        ("is_own", flag),
        ("is_probe", flag),
        ("is_repeated", flag),
        ("length", small),
        ("bits", packed),
        ("sketch", packed),
    ]
)
"""A text under one of its keys: stored for later texts (``is_own``), looked up (``is_probe``), or both."""

MEETINGS = pa.schema(
    [("part", small), ("later", long), ("earlier", long), ("key", long), ("distance", small), ("kind", pa.int8())]
)
"""A pair of texts that share a key and have near fingerprints, or another fact about a key: `hybriddup_spark.meeting`
lists each ``kind``."""

NOTES = pa.schema([("kind", pa.int8()), ("position", long), ("key", long)])
"""The part of `MEETINGS` that the driver needs."""

PAIRS = pa.schema(
    [
        ("part", small),
        ("later", long),
        ("earlier", long),
        ("keys", packed),
        ("distance", small),
        ("kind", pa.int8()),
        ("text", pa.string()),
    ]
)
"""Distinct pairs with the text of the earlier post."""

NEEDED = pa.schema([("part", small), ("position", long), ("text", pa.string())])
"""Texts that are needed to verify pairs."""

LINKS = pa.schema(
    [
        ("later", long),
        ("earlier", long),
        ("keys", packed),
        ("is_sure", flag),
        ("is_open", flag),
        ("distance", small),
        ("score", real),
        ("threshold", real),
        ("verifier", small),
        ("band", small),
    ]
)
"""Pairs that decide a round: matches, or all pairs of a text with too many candidates (``is_open``)."""

REMOVED = pa.schema(
    [
        ("position", long),
        ("keeper", long),
        ("is_exact", flag),
        ("distance", small),
        ("score", real),
        ("threshold", real),
        ("verifier", small),
        ("band", small),
    ]
)
"""Removed posts by position, with keeper and evidence."""

MEMBERS = pa.schema([("position", long), ("key", long)])
"""Texts and their keys, one row per text and key."""

WANTED = pa.schema(
    [("position", long), ("bin", small), ("is_open", flag), ("is_met", flag), ("keys", packed), ("places", packed)]
)
"""Texts that each bin needs. Of an open text, ``places`` has the positions at which it is decided, as packed int64s; of
a kept text, the position at which it was kept. ``keys`` has the keys under which open texts may find it (null: all).
Texts that are near no open text (not ``is_met``) only count towards the newest of a key."""

TOGETHER = pa.schema(
    [
        ("bin", small),
        ("position", long),
        ("is_open", flag),
        ("text", pa.string()),
        ("length", small),
        ("bits", packed),
        ("sketch", packed),
        ("keys", packed),
        ("places", packed),
    ]
)
"""Texts that one task decides together: open texts (``is_open``) and the kept texts that they may match. ``places`` has
their positions, as packed int64s. Rows without a text only count towards the newest of a key."""

VERDICTS = pa.schema(
    [
        ("part", small),
        ("later", long),
        ("earlier", long),
        ("is_match", flag),
        ("score", real),
        ("threshold", real),
        ("verifier", small),
        ("band", small),
    ]
)
"""Pairs of texts, by position, that were verified before their bin is decided. Without a match, scores are 0."""

FLAGS = pa.schema([("first", long), ("n", long), ("bits", packed)])
"""Packed bits, one for each of ``n`` consecutive posts from position ``first`` on."""

MISSED = pa.schema([("later", long), ("weight", long)])
"""Pairs that are compared to estimate the recall: the later post, and a weight, which is larger for long texts."""

SETTLED = pa.schema([*REMOVED, ("is_kept", flag), ("n_cut", long)])
"""Posts that were decided together, removed or kept. ``n_cut`` counts how often ``max_candidates`` was exceeded; only
the first row of a bin has it."""


SPARK_NAMES = {long: "bigint", small: "int", pa.int8(): "tinyint", real: "double", flag: "boolean", packed: "binary",
               pa.string(): "string"}  # fmt: skip


def in_spark(schema: pa.Schema) -> str:
    """Convert an Arrow schema to the string that declares it in Spark.

    Examples
    --------
    >>> in_spark(MEMBERS)
    'position bigint, key bigint'
    """
    return ", ".join(f"{field.name} {SPARK_NAMES[field.type]}" for field in schema)
