"""Hashers against the libraries and formulas that define them."""

import hashlib

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import UInt64s, tokens_from_lists
from hybriddup.steps.hashers import Hasher, Md5, Polynomial, Xxh3
from tests.builders import numbers_of

tokens_of_any_length = st.lists(st.text(st.characters(), min_size=1, max_size=9), max_size=6)


def hash_tokens(hasher: Hasher, tokens: list[str], words: int) -> UInt64s:
    hashes = hasher.hash_batch(tokens_from_lists([tokens]), words)
    assert hashes.dtype == np.uint64
    assert hashes.shape == (len(tokens), words)
    return hashes


def utf32(token: str) -> bytes:
    return token.encode("utf-32-le", "surrogatepass")


@given(tokens_of_any_length, st.sampled_from([1, 2, 4, 8]), st.integers(0, 2**63 - 1))
def test_xxh3_equals_the_library(tokens: list[str], words: int, seed: int) -> None:
    expected = [[xxhash.xxh3_64_intdigest(utf32(token), seed + word) for word in range(words)] for token in tokens]
    assert hash_tokens(Xxh3(Xxh3.Options(seed=seed)), tokens, words).tolist() == expected


@given(tokens_of_any_length)
def test_md5_words_are_those_of_the_digests(tokens: list[str]) -> None:
    digests = [hashlib.md5(utf32(t)).digest() + hashlib.md5(utf32(t) + b"\1").digest() for t in tokens]  # noqa: S324
    expected = [[int.from_bytes(digest[i : i + 8], "little") for i in (0, 8, 16)] for digest in digests]
    assert hash_tokens(Md5(), tokens, 3).tolist() == expected


def plain_polynomial(token: str, bits: int) -> int:
    """The article's hash: times 1000003, exclusive or with each UTF-16 unit, and at last with their number."""
    encoded = token.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(encoded[i : i + 2], "little") for i in range(0, len(encoded), 2)]
    value = units[0] << 7
    for unit in units:
        value = ((value * 1000003) ^ unit) & (2**bits - 1)
    return value ^ len(units)


@given(tokens_of_any_length, st.sampled_from([1, 2]))
def test_polynomial_equals_its_formula(tokens: list[str], words: int) -> None:
    found = numbers_of(hash_tokens(Polynomial(), tokens, words))
    assert found == [plain_polynomial(token, 64 * words) for token in tokens]
