"""The compiled XXH3 of short tokens against the xxhash library."""

import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts
from hybriddup.kernels.text.xxh3 import LONGEST_TOKEN, hash_short_tokens

seeds = st.one_of(st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1]), st.integers(0, 2**63 - 1))
short_tokens = st.text(st.characters(), min_size=1, max_size=LONGEST_TOKEN)


def hash_tokens(tokens: list[str], words: int, seed: int) -> list[list[int]]:
    code_points, offsets = encode_texts(tokens)
    lengths = np.diff(offsets).astype(np.int32)
    return hash_short_tokens(code_points, offsets[:-1], lengths, words, np.uint64(seed)).tolist()


def library_hash(token: str, words: int, seed: int) -> list[int]:
    encoded = token.encode("utf-32-le", "surrogatepass")
    return [xxhash.xxh3_64_intdigest(encoded, seed + word) for word in range(words)]


@given(st.lists(short_tokens, max_size=8), st.sampled_from([1, 2, 4]), seeds)
@example(["a", "ab", "abc", "abcd"], 2, 0)
@example(["\0", "\0\0", "\0\0\0", "\0\0\0\0"], 2, 2**63 - 1)
@example(["\U0010ffff" * n for n in (1, 2, 3, 4)], 4, 2**32 - 1)
@example(["猫" * n for n in (4, 5, 8, 9, 16, 17, 24, 25, 31, 32)], 2, 2**63 - 1)
@example(["\ud800", "\udfff\ud800"], 1, 1)
def test_hashes_equal_those_of_the_library(tokens: list[str], words: int, seed: int) -> None:
    assert hash_tokens(tokens, words, seed) == [library_hash(token, words, seed) for token in tokens]


@pytest.mark.parametrize("length", range(1, LONGEST_TOKEN + 1))
def test_every_length_hashes_as_by_the_library(length: int) -> None:
    """All code points differ, so that none is read from another's place."""
    token = "".join(map(chr, range(0x1F300, 0x1F300 + length)))
    assert hash_tokens([token], 2, 7) == [library_hash(token, 2, 7)]


def test_longer_tokens_are_left_to_the_caller() -> None:
    longest = "a" * LONGEST_TOKEN
    long, short = hash_tokens([longest + "a", longest], 2, 0)
    assert (long, short) == ([0, 0], library_hash(longest, 2, 0))


def test_overlapping_tokens_hash_as_their_characters() -> None:
    code_points, _ = encode_texts(["猫狗猫狗"])
    starts, lengths = np.array([0, 1, 2, 0], np.int64), np.array([2, 2, 2, 4], np.int32)
    hashes = hash_short_tokens(code_points, starts, lengths, 1, np.uint64(0))[:, 0].tolist()
    assert hashes == [library_hash(token, 1, 0)[0] for token in ("猫狗", "狗猫", "猫狗", "猫狗猫狗")]
