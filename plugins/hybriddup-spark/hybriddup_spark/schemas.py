"""The tables between the steps. Each is written down once, for Arrow; Spark's form of it is derived."""

from __future__ import annotations

import pyarrow as pa

long, small, real, flag, packed = pa.int64(), pa.int32(), pa.float64(), pa.bool_(), pa.binary()

BLOCKS = pa.schema([("part", small), ("block", packed)])
"""Rows of another table that go to one part, as one block: Spark moves a row of it in about the time that one of the
other table would take. See `hybriddup_spark.blocks`."""

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
    ]
)
"""Posts in the order of deciding. ``equal_a`` and ``equal_b`` are the hash of what an exact repeat equals, ``text`` is
normalized, ``length`` that of what is compared of it. ``sketch`` is empty where nobody asks. ``keys`` and ``probes``
are uint64s one after another, the second empty where texts are looked up by their own keys."""

EQUAL = pa.schema([("part", small), ("equal_a", long), ("equal_b", long), ("position", long), ("is_near", flag),
                   ("length", small)])  # fmt: skip
"""What exact repeats are found by."""

COPIES = pa.schema([("position", long), ("length", small), ("keeper", long), ("first", long)])
"""Posts that equal an earlier one: a kept one of an earlier round (``keeper``, else -1), or one of the same round."""

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
"""A text under one of its keys: as one that later texts find (``is_own``), as one that finds earlier ones, or both."""

MEETINGS = pa.schema(
    [("part", small), ("later", long), ("earlier", long), ("key", long), ("distance", small), ("kind", pa.int8())]
)
"""Two texts within their limits under one key, or what else `hybriddup_spark.meeting` notes of a key."""

NOTES = pa.schema([("kind", pa.int8()), ("position", long), ("key", long)])
"""What the driver has to know of `MEETINGS`."""

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
"""Each pair once, with the text of the earlier one."""

NEEDED = pa.schema([("part", small), ("position", long), ("text", pa.string())])
"""Texts that pairs need."""

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
"""Pairs by which a round is decided: verified ones, or, of texts with too many candidates (``is_open``), all."""

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
"""Removed posts, by position, each with its keeper and why."""

MEMBERS = pa.schema([("position", long), ("key", long)])
"""Which texts have which key."""

WANTED = pa.schema(
    [("position", long), ("bin", small), ("is_open", flag), ("is_met", flag), ("keys", packed), ("copies", packed)]
)
"""Texts that go into bins: open ones, with the positions of their later copies; others by the keys alone under which
open ones may find them. Those that no open one is near (not ``is_met``) only count among the newest of a key."""

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
        ("copies", packed),
    ]
)
"""Texts that are decided together in one task: those that are not decided yet (``is_open``), the positions of whose
later copies are int64s one after another, and the kept ones that they may meet. Those without a text only count among
the newest of a key."""

SETTLED = pa.schema([*REMOVED, ("is_kept", flag), ("n_cut", long)])
"""What came of texts that were decided together: each of their posts, removed or kept."""


SPARK_NAMES = {long: "bigint", small: "int", pa.int8(): "tinyint", real: "double", flag: "boolean", packed: "binary",
               pa.string(): "string"}  # fmt: skip


def in_spark(schema: pa.Schema) -> str:
    """Return a schema as Spark writes it.

    Examples
    --------
    >>> in_spark(MEMBERS)
    'position bigint, key bigint'
    """
    return ", ".join(f"{field.name} {SPARK_NAMES[field.type]}" for field in schema)
