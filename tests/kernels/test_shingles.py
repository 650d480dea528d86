"""Bottom sketches of shingles, and which shingles are common, against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.kernels.shingles import (
    COMMON_BITS,
    NO_SHINGLE,
    WORDS_OF_COMMON,
    all_shingles,
    bottom_shingles,
    mark_common,
)
from hybriddup.records import encode_texts

MASK = 2**64 - 1
NONE = np.zeros(WORDS_OF_COMMON, np.uint32)
GOLDEN = [[586155480, 907173379, 309733090], [266673132, 496126599, 778759219]]
TEXTS = st.lists(st.text(alphabet="ab c1你好，啊😀\ud800\x00é", max_size=30), max_size=6)


def mix(word: int) -> int:
    """The finalizer of MurmurHash3, 64 bits."""
    word = (word ^ (word >> 33)) * 0xFF51AFD7ED558CCD & MASK
    word = (word ^ (word >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return word ^ (word >> 33)


def is_dense(character: str) -> bool:
    """Whether one of the characters in these tests counts double."""
    return character in "你好，啊😀"


def hashes_of(text: str, units: int) -> list[int]:
    """The hashes of all shingles of a text, in order; a text shorter than one is one by itself."""
    hashes = []
    for start in range(len(text)):
        hashed, n_units, end = units, 0, start
        while n_units < units and end < len(text):
            n_units += 2 if is_dense(text[end]) else 1
            hashed = mix(hashed ^ ord(text[end]))
            end += 1
        if n_units >= units or start == 0:
            hashes.append(hashed >> 32)
    return hashes


def is_whole(text: str, units: int) -> bool:
    """Whether a text is long enough for a shingle."""
    return sum(2 if is_dense(character) else 1 for character in text) >= units


def ranked(hashed: int, common: set[int]) -> int:
    """31 bits of a hash, after all others if it is common."""
    return hashed % 2**31 + 2**31 * (hashed >> (32 - COMMON_BITS) in common)


def expected_shingles(text: str, units: int, n_kept: int, common: set[int]) -> list[int]:
    """The first shingles, then smaller ones where there are too few."""
    kept = sorted({ranked(hashed, common) for hashed in hashes_of(text, units)})[:n_kept]
    if units > 2:
        kept += sorted({ranked(hashed, common) for hashed in hashes_of(text, units - 2)})[: n_kept - len(kept)]
    return kept + [int(NO_SHINGLE)] * (n_kept - len(kept))


@given(TEXTS, st.sampled_from([2, 3, 5, 6]), st.sampled_from([1, 4, 16]), st.integers(0, 5))
def test_the_first_shingles_are_kept(texts: list[str], units: int, n_kept: int, every: int) -> None:
    """Rising, each once, common ones at the end; smaller shingles follow where a text has too few."""
    hashes = sorted({hashed for text in texts for hashed in hashes_of(text, units)})
    of_common = hashes[::every] if every else []
    common = mark_common(np.array(of_common, np.uint32))
    kept = bottom_shingles(*encode_texts(texts), units, n_kept, common)

    leading = {hashed >> (32 - COMMON_BITS) for hashed in of_common}
    assert kept.dtype == np.uint32
    assert kept.tolist() == [expected_shingles(text, units, n_kept, leading) for text in texts]


@given(TEXTS, st.sampled_from([2, 5]))
def test_every_shingle_is_listed(texts: list[str], units: int) -> None:
    """With its text, as often as it stands there; a text too short for one has none."""
    hashes, of_texts = all_shingles(*encode_texts(texts), units)

    expected = [
        (hashed, number)
        for number, text in enumerate(texts)
        if is_whole(text, units)
        for hashed in hashes_of(text, units)
    ]
    assert list(zip(hashes.tolist(), of_texts.tolist(), strict=True)) == expected


@given(st.lists(st.integers(0, 2**32 - 1), max_size=50))
def test_the_leading_bits_of_common_hashes_are_marked(hashes: list[int]) -> None:
    """And no others."""
    common = mark_common(np.array(hashes, np.uint32))
    marked = np.flatnonzero(np.unpackbits(common.view(np.uint8), bitorder="little"))

    assert marked.tolist() == sorted({hashed >> (32 - COMMON_BITS) for hashed in hashes})


@given(st.text(alphabet="abcdefgh", min_size=1, max_size=60), st.integers(1, 15))
def test_fewer_shingles_are_the_first_of_more(text: str, n_kept: int) -> None:
    """An index may keep as many as it likes of those at hand, where these are of one size."""
    text = text * 3 + "".join(chr(0x4E00 + place) for place in range(20))
    more = bottom_shingles(*encode_texts([text]), 5, 16, NONE)

    assert bottom_shingles(*encode_texts([text]), 5, n_kept, NONE).tolist() == more[:, :n_kept].tolist()


def test_hashes_are_the_same_in_every_version() -> None:
    """Snapshots hold shingles, so that their hashes must not change unnoticed."""
    kept = bottom_shingles(*encode_texts(["你好世界", "hello, world"]), 5, 3, NONE)

    assert kept.tolist() == GOLDEN
