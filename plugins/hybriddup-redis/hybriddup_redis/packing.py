"""Posts as bytes in Redis, and back.

A record begins with what changes: its state as a digit, the length of its evidence in four bytes, and its evidence. The
post follows, which never changes.
"""

from __future__ import annotations

import json
import struct

from hybriddup.window.records import Evidence, PostId, StoredPost
from hybriddup.window.shared import Record, State

HEAD = struct.Struct("<cI")
BODY = struct.Struct("<qddBII")
"""Position, time, watermark, flags, and the bytes of id and text."""
HAS_NUMBER, HAS_NORMALIZED = 1, 2


def pack_record(record: Record) -> bytes:
    """Return a record as bytes."""
    position, post_id, time, text, normalized, evidence = record.post
    packed = b"" if evidence is None else pack_evidence(evidence)
    parts = encoded(str(post_id)), encoded(text), b"" if normalized is None else encoded(normalized)
    flags = HAS_NUMBER * isinstance(post_id, int) | HAS_NORMALIZED * (normalized is not None)
    body = BODY.pack(position, time, record.watermark, flags, len(parts[0]), len(parts[1]))
    return b"".join((HEAD.pack(b"%d" % record.state, len(packed)), packed, body, *parts))


def unpack_record(packed: bytes) -> Record:
    """Return the record of some bytes."""
    digit, n_evidence = HEAD.unpack_from(packed)
    state, begins = State(int(digit)), HEAD.size + n_evidence
    evidence = unpack_evidence(packed[HEAD.size : begins]) if n_evidence else None
    position, time, watermark, flags, n_id, n_text = BODY.unpack_from(packed, begins)
    first = begins + BODY.size
    post_id = decoded(packed[first : first + n_id])
    text = decoded(packed[first + n_id : first + n_id + n_text])
    # with a duplicate no text is compared any more
    has_normalized = flags & HAS_NORMALIZED and state is not State.DUPLICATE
    normalized = decoded(packed[first + n_id + n_text :]) if has_normalized else None
    typed: PostId = int(post_id) if flags & HAS_NUMBER else post_id
    return Record(state, StoredPost(position, typed, time, text, normalized, evidence), watermark)


def pack_evidence(evidence: Evidence) -> bytes:
    """Return evidence as bytes: JSON, in which lone surrogates are escapes."""
    return json.dumps(tuple(evidence), separators=(",", ":")).encode()


def unpack_evidence(packed: bytes) -> Evidence:
    """Return the evidence of some bytes."""
    return Evidence(*json.loads(packed))


def encoded(text: str) -> bytes:
    """Return a text in UTF-8, lone surrogates among it."""
    return text.encode("utf-8", "surrogatepass")


def decoded(data: bytes) -> str:
    """Return a text that was encoded."""
    return data.decode("utf-8", "surrogatepass")


def id_name(post_id: PostId) -> bytes:
    """Return an id as part of a key of Redis: of numbers and of texts apart."""
    return b"n%d" % post_id if isinstance(post_id, int) else b"t" + encoded(post_id)
