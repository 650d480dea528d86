"""Bottom sketches of shingles against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.shingles import NO_SHINGLE, bottom_shingles
from hybriddup.records import encode_texts

MASK = 2**64 - 1
GOLDEN = [[907173379, 2733639128, 309733090], [266673132, 496126599, 778759219]]
TEXTS = st.lists(st.text(alphabet="ab c1你好，啊😀\ud800\x00é", max_size=30), max_size=6)


def mix(word: int) -> int:
    """The finalizer of MurmurHash3, 64 bits."""
    word = (word ^ (word >> 33)) * 0xFF51AFD7ED558CCD & MASK
    word = (word ^ (word >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return word ^ (word >> 33)


def is_dense(character: str) -> bool:
    """Whether one of the characters in these tests counts double."""
    return character in "你好，啊😀"


def all_shingles(text: str, units: int) -> set[int]:
    """The hashes of all shingles of a text; a text shorter than one is one by itself."""
    hashes = set()
    for start in range(len(text)):
        hashed, n_units, end = units, 0, start
        while n_units < units and end < len(text):
            n_units += 2 if is_dense(text[end]) else 1
            hashed = mix(hashed ^ ord(text[end]))
            end += 1
        if n_units >= units or start == 0:
            hashes.add(hashed >> 32)
    return hashes


def expected_shingles(text: str, units: int, n_kept: int) -> list[int]:
    """The smallest hashes, then those of smaller shingles where there are too few."""
    kept = sorted(all_shingles(text, units))[:n_kept]
    if units > 2:
        kept += sorted(all_shingles(text, units - 2))[: n_kept - len(kept)]
    return kept + [int(NO_SHINGLE)] * (n_kept - len(kept))


@given(TEXTS, st.sampled_from([2, 3, 5, 6]), st.sampled_from([1, 4, 16]))
def test_the_smallest_hashes_are_kept(texts: list[str], units: int, n_kept: int) -> None:
    """Rising, each once; smaller shingles follow where a text has too few."""
    kept = bottom_shingles(*encode_texts(texts), units, n_kept)

    assert kept.dtype == np.uint32
    assert kept.tolist() == [expected_shingles(text, units, n_kept) for text in texts]


@given(st.text(alphabet="abcdefgh", min_size=1, max_size=60), st.integers(1, 15))
def test_fewer_shingles_are_the_first_of_more(text: str, n_kept: int) -> None:
    """An index may keep as many as it likes of those at hand, where these are of one size."""
    text = text * 3 + "".join(chr(0x4E00 + place) for place in range(20))
    more = bottom_shingles(*encode_texts([text]), 5, 16)

    assert bottom_shingles(*encode_texts([text]), 5, n_kept).tolist() == more[:, :n_kept].tolist()


def test_hashes_are_the_same_in_every_version() -> None:
    """Snapshots hold shingles, so that their hashes must not change unnoticed."""
    kept = bottom_shingles(*encode_texts(["你好世界", "hello, world"]), 5, 3)

    assert kept.tolist() == GOLDEN
