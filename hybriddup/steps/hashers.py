"""Hash: tokens -> uint64 words, the bits with which each token votes on the fingerprint."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np
import xxhash
from pydantic import Field

from hybriddup.data.records import Int64s, Tokens, UInt64s
from hybriddup.kernels.text.xxh3 import LONGEST_TOKEN, hash_short_tokens
from hybriddup.steps.options import Options as ComponentOptions


@runtime_checkable
class Hasher(Protocol):
    """Hashes tokens to the width of a fingerprint; equal tokens have equal hashes on every machine."""

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]: the hash of each token, as ``words`` 64-bit integers."""
        ...


class Xxh3:
    """XXH3 of the token's UTF-32-LE bytes; word ``w`` is the 64-bit hash with seed ``seed + w``."""

    class Options(ComponentOptions):
        """Options of the hasher."""

        seed: int = Field(0, ge=0, lt=2**63)
        """Seed of the hash; it changes all fingerprints."""

    def __init__(self, options: Options) -> None:
        self.options = options

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]: the hash of each token, as ``words`` 64-bit integers."""
        seed = self.options.seed
        hashes = hash_short_tokens(tokens.code_points, tokens.starts, tokens.lengths, words, np.uint64(seed))

        def hash_words(token: bytes) -> list[int]:
            return [xxhash.xxh3_64_intdigest(token, seed + word) for word in range(words)]

        return fill_hashes(hashes, tokens, np.flatnonzero(tokens.lengths > LONGEST_TOKEN), hash_words)


class Md5:
    """MD5 of the token's UTF-32-LE bytes, as an example of a hasher: each digest gives two words, little-endian.

    The first digest is of the token alone. Further digests are of the token followed by the byte 1, 2, ...
    """

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]: the hash of each token."""
        hashes = np.zeros((len(tokens.starts), words), np.uint64)

        def hash_words(token: bytes) -> list[int]:
            digests = (
                hashlib.md5(token + bytes([part]) * (part > 0), usedforsecurity=False).digest()
                for part in range((words + 1) // 2)
            )
            stream = b"".join(digests)
            return [int.from_bytes(stream[8 * word : 8 * word + 8], "little") for word in range(words)]

        return fill_hashes(hashes, tokens, np.arange(len(hashes)), hash_words)


class Polynomial:
    """A polynomial over the token's UTF-16 code units, as in well-known 128-bit simhash articles for Java.

    ``x = first unit * 2**7; x = (x * 1000003) ^ unit, for each unit; x ^= number of units``, modulo ``2**bits``.
    Included as an example only: short tokens leave the upper bits of wide fingerprints nearly constant, so it is a poor
    choice for n-grams.
    """

    MULTIPLIER = 1000003

    def hash_batch(self, tokens: Tokens, words: int) -> UInt64s:
        """Return uint64[n_tokens, words]: the hash of each token."""
        hashes = np.zeros((len(tokens.starts), words), np.uint64)
        modulus = 1 << (64 * words)

        def hash_words(token: bytes) -> list[int]:
            units = np.frombuffer(
                token.decode("utf-32-le", "surrogatepass").encode("utf-16-le", "surrogatepass"), "<u2"
            )
            value = int(units[0]) << 7
            for unit in units.tolist():
                value = (value * self.MULTIPLIER % modulus) ^ unit
            value ^= len(units)
            return [(value >> (64 * word)) & 0xFFFFFFFFFFFFFFFF for word in range(words)]

        return fill_hashes(hashes, tokens, np.arange(len(hashes)), hash_words)


def fill_hashes(hashes: UInt64s, tokens: Tokens, chosen: Int64s, hash_words: Callable[[bytes], list[int]]) -> UInt64s:
    """Write the 64-bit hash words of the chosen tokens into ``hashes``, in place, and return ``hashes``.

    ``hash_words`` maps the UTF-32-LE bytes of a token to its hash words; it is called once per distinct token.
    """
    hash_once = cache(hash_words)
    points = tokens.code_points.astype("<u4", copy=False)
    for row, start, length in zip(
        chosen.tolist(), tokens.starts[chosen].tolist(), tokens.lengths[chosen].tolist(), strict=True
    ):
        hashes[row] = hash_once(points[start : start + length].tobytes())
    return hashes
