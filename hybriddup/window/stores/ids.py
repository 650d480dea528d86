"""Hashes of ids, by which a store finds posts.

With an index in the file, a batch would write a page for every post, because ids come in no order. Hashes in memory
cost no access to the file unless the id is there, and the file gets the hashes of a batch as one value.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.window.records import PostId


def hash_ids(ids: Iterable[PostId], key: bytes) -> UInt64s:
    """Return uint64[n]: hashes that only the holder of the key can foresee, so that no client can have them clash."""
    keyed = blake2b(digest_size=8, key=key)  # taking in the key is half of the work

    def digest(post_id: PostId) -> bytes:
        hashed = keyed.copy()
        hashed.update(id_bytes(post_id))
        return hashed.digest()

    return np.frombuffer(b"".join(map(digest, ids)), "<u8").astype(np.uint64)


def id_bytes(post_id: PostId) -> bytes:
    """Return bytes that differ where ids do: a text's own, a number's digits after a byte that begins no text."""
    return post_id.encode("utf-8", "surrogatepass") if isinstance(post_id, str) else b"\xff%d" % post_id
