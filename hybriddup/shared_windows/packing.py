"""Posts, evidence, names and keys as shared windows store them. Lone surrogates come through."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from hybriddup.data.records import UInt64s
from hybriddup.errors import StoreError
from hybriddup.window.records import Evidence, PostId, StoredPost

HEAD = struct.Struct("<qddBH")
"""Position, time, watermark, flags, and the characters of the id."""
HAS_NUMBER, IS_DEFLATED = 1, 2
WINDOW_BITS, MEMORY_LEVEL = 12, 4
"""What texts are deflated with. Of some hundred bytes, that takes a third of the time of zlib's own settings, which
make ready 256 KiB first. Only texts of more than 4 KiB may come out larger."""
LEAST_DEFLATED = 160
"""Bytes of a body that is worth deflating. Of half of all microblog posts, which are shorter, that takes a third of the
time of packing, and saves less than one byte in a hundred."""
UNREADABLE = ValueError, TypeError, KeyError, IndexError, struct.error, zlib.error
"""What reading damaged bytes raises."""
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by it, and odd: multiplying by it is one-to-one, and mixes (Knuth, The Art of Computer Programming,
volume 3, 6.4)."""


def pack_post(post: StoredPost, watermark: float) -> bytes:
    """Return a post and the time of the window when it came as bytes, but for its evidence."""
    post_id = str(post.id)
    body = (post_id + post.text).encode("utf-8", "surrogatepass")
    deflated = deflated_of(body) if len(body) >= LEAST_DEFLATED else body
    is_deflated = len(deflated) < len(body)
    flags = HAS_NUMBER * isinstance(post.id, int) | IS_DEFLATED * is_deflated
    head = HEAD.pack(post.position, post.time, watermark, flags, len(post_id))
    return head + (deflated if is_deflated else body)


def deflated_of(body: bytes) -> bytes:
    """Return deflated bytes, without a head."""
    deflate = zlib.compressobj(wbits=-WINDOW_BITS, memLevel=MEMORY_LEVEL)
    return deflate.compress(body) + deflate.flush()


def unpack_post(packed: bytes, evidence: Evidence | None = None) -> tuple[StoredPost, float]:
    """Return the post and the time of the window of some bytes; ``evidence`` is that of a duplicate.

    Raises
    ------
    StoreError
        The bytes are damaged.
    """
    try:  # a context manager takes a third of the time of all the rest
        position, time, watermark, flags, n_id = HEAD.unpack_from(packed)
        body = packed[HEAD.size :]
        if flags & IS_DEFLATED:
            body = zlib.decompress(body, -zlib.MAX_WBITS)
        whole = body.decode("utf-8", "surrogatepass")
        post_id: PostId = int(whole[:n_id]) if flags & HAS_NUMBER else whole[:n_id]
        return StoredPost(position, post_id, time, whole[n_id:], evidence), watermark
    except UNREADABLE as error:
        raise unreadable("a post", error) from error


def pack_evidence(evidence: Evidence) -> bytes:
    """Return evidence as bytes: JSON, in which lone surrogates are escapes."""
    return json.dumps(tuple(evidence), separators=(",", ":")).encode()


def unpack_evidence(packed: bytes) -> Evidence:
    """Return the evidence of some bytes; StoreError if they are damaged."""
    with refusing_damage("the evidence of a duplicate"):
        return Evidence(*json.loads(packed))


@contextmanager
def refusing_damage(what: str) -> Iterator[None]:
    """Raise StoreError if bytes of the store cannot be what they should be."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(what, error) from error


def unreadable(what: str, error: Exception) -> StoreError:
    """Return the error of something in the store, from the one that reading it raised."""
    return damaged(f"{what} ({type(error).__name__})")


def damaged(what: str) -> StoreError:
    """Return the error of something in the store that cannot be read."""
    return StoreError(
        f"the store is damaged: cannot read {what}. Restore a backup of the store, or begin a new window under another "
        "name."
    )


def id_name(post_id: PostId) -> bytes:
    """Return the name of an id: those of a number and of a text with the same digits differ."""
    packed = b"n%d" % post_id if isinstance(post_id, int) else b"t" + post_id.encode("utf-8", "surrogatepass")
    return b"i" + packed


def text_name(key: tuple[bool, str]) -> bytes:
    """Return the name of a text, 17 bytes; equal texts have one name.

    It is a cryptographic digest (BLAKE2b), so that nobody can make two texts with one name.

    Parameters
    ----------
    key
        What a post must be equal in, as `hybriddup.window.preparing.exact_keys` returns it.
    """
    has_words, text = key
    packed = b"%d" % has_words + text.encode("utf-8", "surrogatepass")
    return b"x" + hashlib.blake2b(packed, digest_size=16).digest()


def mix_keys(keys: UInt64s) -> UInt64s:
    """Return uint64[n]: other keys, of each one its own, whose first bits are evenly spread.

    The shingles of a text with the smallest hashes are its keys, so nearly all keys begin with zeros; a store that
    divides them by their first bits among its servers would give one of them nearly all.
    """
    return keys * GOLDEN_RATIO
