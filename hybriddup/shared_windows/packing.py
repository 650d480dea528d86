"""Binary encodings of posts, evidence, names and keys in shared stores. Lone surrogates are preserved."""

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
from hybriddup.window.records import Evidence, PostId, StoredPost, evidence_values

HEAD = struct.Struct("<qddBH")
"""Header of a packed post: position, time, watermark, flags, and length of the id in characters."""
HAS_NUMBER, IS_DEFLATED = 1, 2
WINDOW_BITS, MEMORY_LEVEL = 12, 4
"""Settings ``wbits`` and ``memLevel`` of zlib. For a few hundred bytes, they take a third of the time of the defaults,
which allocate 256 KiB. Only texts above 4 KiB may compress worse."""
LEAST_DEFLATED = 160
"""Minimum size of id and text for deflating them, in bytes. Half of all microblog posts are smaller; deflating these
would take a third of the time of packing and save less than 1 % of the bytes."""
UNREADABLE = ValueError, TypeError, KeyError, IndexError, struct.error, zlib.error
"""Exceptions that reading damaged bytes raises."""
GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio. It is odd, so multiplying by it is one-to-one, and it mixes well: Fibonacci
hashing (Knuth, The Art of Computer Programming, volume 3, 6.4)."""


def pack_post(post: StoredPost, watermark: float) -> bytes:
    """Pack a post and the watermark on its arrival; the post's evidence is left out."""
    post_id = str(post.id)
    body = (post_id + post.text).encode("utf-8", "surrogatepass")
    deflated = deflated_of(body) if len(body) >= LEAST_DEFLATED else body
    is_deflated = len(deflated) < len(body)
    flags = HAS_NUMBER * isinstance(post.id, int) | IS_DEFLATED * is_deflated
    head = HEAD.pack(post.position, post.time, watermark, flags, len(post_id))
    return head + (deflated if is_deflated else body)


def deflated_of(body: bytes) -> bytes:
    """Return deflated bytes, without a zlib header."""
    deflate = zlib.compressobj(wbits=-WINDOW_BITS, memLevel=MEMORY_LEVEL)
    return deflate.compress(body) + deflate.flush()


def unpack_post(packed: bytes, evidence: Evidence | None = None) -> tuple[StoredPost, float]:
    """Unpack a post and the watermark on its arrival; ``evidence``, if given, is added to the post.

    Raises
    ------
    StoreError
        The bytes are damaged.
    """
    try:  # `refusing_damage` would take a third of the time of all the rest
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
    """Return evidence as JSON in ASCII; lone surrogates are escaped."""
    return json.dumps(evidence_values(evidence), separators=(",", ":")).encode()


def unpack_evidence(packed: bytes) -> Evidence:
    """Return evidence from its JSON; StoreError if the JSON is damaged."""
    with refusing_damage("the evidence of a duplicate"):
        return Evidence(*json.loads(packed))


@contextmanager
def refusing_damage(what: str) -> Iterator[None]:
    """Convert exceptions that the ``with`` block raises on damaged bytes to StoreError about the item ``what``."""
    try:
        yield
    except UNREADABLE as error:
        raise unreadable(what, error) from error


def unreadable(what: str, error: Exception) -> StoreError:
    """Return the StoreError to raise if reading the item ``what`` raised ``error``."""
    return damaged(f"{what} ({type(error).__name__})")


def damaged(what: str) -> StoreError:
    """Return the StoreError for an item that cannot be read."""
    return StoreError(
        f"the store is damaged: cannot read {what}. Restore a backup of the store, or begin a new window under another "
        "name."
    )


def id_name(post_id: PostId) -> bytes:
    """Encode an id as its name in the store; a number and a text with the same digits get different names."""
    packed = b"n%d" % post_id if isinstance(post_id, int) else b"t" + post_id.encode("utf-8", "surrogatepass")
    return b"i" + packed


def text_name(key: tuple[bool, str]) -> bytes:
    """Return the name of a text in the store: 17 bytes, the same for equal texts.

    It contains a cryptographic digest (BLAKE2b), so that nobody can construct two texts with the same name.

    Parameters
    ----------
    key
        The key for equality, as `hybriddup.window.preparing.exact_keys` returns it.
    """
    has_words, text = key
    packed = b"%d" % has_words + text.encode("utf-8", "surrogatepass")
    return b"x" + hashlib.blake2b(packed, digest_size=16).digest()


def mix_keys(keys: UInt64s) -> UInt64s:
    """Return uint64[n]: the keys mapped one-to-one to keys with evenly distributed leading bits.

    A text's keys are its smallest shingle hashes, so nearly all begin with zeros. A store that partitions by leading
    bits would put nearly all keys on one server.
    """
    return keys * GOLDEN_RATIO
