"""Serialize records for Redis, and apply the marks in buckets.

A record begins with the parts that change: its state as a digit, the length of its evidence in four bytes, and its
evidence. The post follows, which never changes.
"""

from __future__ import annotations

import struct

import numpy as np

from hybriddup.shared_windows import Entries, PostRecord, State
from hybriddup.shared_windows.packing import (
    UNREADABLE,
    pack_evidence,
    pack_post,
    unpack_evidence,
    unpack_post,
    unreadable,
)

HEAD = struct.Struct("<cI")
LEFT = 2**32 - 1
"""Length in a bucket entry that only marks that its post has left the bucket."""
STATES = {b"%d" % state: state for state in State}


def pack_record(record: PostRecord) -> bytes:
    """Serialize a record."""
    evidence = record.post.evidence
    packed = b"" if evidence is None else pack_evidence(evidence)
    return HEAD.pack(b"%d" % record.state, len(packed)) + packed + pack_post(record.post, record.watermark)


def unpack_record(packed: bytes) -> PostRecord:
    """Deserialize a record; StoreError if it is damaged."""
    try:
        digit, n_evidence = HEAD.unpack_from(packed)
        begins = HEAD.size + n_evidence
        evidence = unpack_evidence(packed[HEAD.size : begins]) if n_evidence else None
        return PostRecord(STATES[digit], *unpack_post(packed[begins:], evidence))
    except UNREADABLE as error:
        raise unreadable("a record", error) from error


def without_left(found: Entries) -> Entries:
    """Return the contents of buckets without the marks of posts that left them, and without these posts."""
    counts, entries = found
    is_mark = entries["length"] == LEFT
    if not is_mark.any():
        return found
    places = np.empty(len(entries), [("bucket", np.int64), ("position", np.int64)])
    places["bucket"], places["position"] = np.repeat(np.arange(len(counts)), counts), entries["position"]
    stays = ~np.isin(places, places[is_mark])
    return Entries(np.bincount(places["bucket"][stays], minlength=len(counts)), entries[stays])
