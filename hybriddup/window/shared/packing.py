"""Posts, evidence, ids and keys as shared windows store them. Lone surrogates come through."""

from __future__ import annotations

import json
import struct
import zlib

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.window.records import Evidence, PostId, StoredPost

HEAD = struct.Struct("<qddBH")
"""Position, time, watermark, flags, and the characters of the id."""
HAS_NUMBER, IS_DEFLATED = 1, 2
WINDOW_BITS, MEMORY_LEVEL = 12, 4
"""What texts are deflated with. Of some hundred bytes, that takes a third of the time of zlib's own settings, which
make ready 256 KiB first. Only texts of more than 4 KiB may come out larger."""
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by it, and odd: multiplying by it is one-to-one, and mixes (Knuth, The Art of Computer Programming,
volume 3, 6.4)."""


def pack_post(post: StoredPost, watermark: float) -> bytes:
    """Return a post and the time of the window when it came as bytes, but for its evidence."""
    post_id = str(post.id)
    body = (post_id + post.text).encode("utf-8", "surrogatepass")
    deflate = zlib.compressobj(wbits=-WINDOW_BITS, memLevel=MEMORY_LEVEL)
    deflated = deflate.compress(body) + deflate.flush()
    is_deflated = len(deflated) < len(body)
    flags = HAS_NUMBER * isinstance(post.id, int) | IS_DEFLATED * is_deflated
    head = HEAD.pack(post.position, post.time, watermark, flags, len(post_id))
    return head + (deflated if is_deflated else body)


def unpack_post(packed: bytes, evidence: Evidence | None = None) -> tuple[StoredPost, float]:
    """Return the post and the time of the window of some bytes; ``evidence`` is that of a duplicate."""
    position, time, watermark, flags, n_id = HEAD.unpack_from(packed)
    body = packed[HEAD.size :]
    if flags & IS_DEFLATED:
        body = zlib.decompress(body, -zlib.MAX_WBITS)
    whole = body.decode("utf-8", "surrogatepass")
    post_id: PostId = int(whole[:n_id]) if flags & HAS_NUMBER else whole[:n_id]
    return StoredPost(position, post_id, time, whole[n_id:], evidence), watermark


def pack_evidence(evidence: Evidence) -> bytes:
    """Return evidence as bytes: JSON, in which lone surrogates are escapes."""
    return json.dumps(tuple(evidence), separators=(",", ":")).encode()


def unpack_evidence(packed: bytes) -> Evidence:
    """Return the evidence of some bytes."""
    return Evidence(*json.loads(packed))


def id_bytes(post_id: PostId) -> bytes:
    """Return an id as bytes: those of numbers and of texts differ."""
    return b"n%d" % post_id if isinstance(post_id, int) else b"t" + post_id.encode("utf-8", "surrogatepass")


def mix_keys(keys: UInt64s) -> UInt64s:
    """Return uint64[n]: other keys, of each one its own, whose first bits are evenly spread.

    The shingles of a text with the smallest hashes are its keys, so nearly all keys begin with zeros; a store that
    divides them by their first bits among its servers would give one of them nearly all.
    """
    return keys * GOLDEN_RATIO
