"""Bottom sketches of shingles, and which shingles are common, against plain Python."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import encode_texts
from hybriddup.kernels.search import shingles

MASK = 2**64 - 1
NONE = np.zeros(shingles.WORDS_OF_COMMON, np.uint32)
GOLDEN = [[378352851, 1876419217, 460938413], [619619564, 770230192, 973529226]]
CHARACTERS = "ab c1你好，啊😀\ud800\x00é"
LONG = st.text(alphabet=CHARACTERS, min_size=33, max_size=200)
"""More shingles than are ranked; those of `REPEATED` are mostly the same."""
REPEATED = st.builds(lambda text, times: text * times, st.text(alphabet=CHARACTERS, max_size=20), st.integers(2, 10))
TEXTS = st.lists(st.one_of(st.text(alphabet=CHARACTERS, max_size=30), LONG, REPEATED), max_size=6)


def mix(word: int) -> int:
    """The finalizer of MurmurHash3, 64 bits."""
    word = (word ^ (word >> 33)) * 0xFF51AFD7ED558CCD & MASK
    word = (word ^ (word >> 33)) * 0xC4CEB9FE1A85EC53 & MASK
    return word ^ (word >> 33)


def is_dense(character: str) -> bool:
    """Whether one of the characters in these tests counts double."""
    return character in "你好，啊😀"


def whole_hash_of(run: str) -> int:
    """A polynomial modulo 2**64 of the characters, mixed with their number."""
    value = 0
    for character in run:
        value = (value * 0x9E3779B97F4A7C15 + ord(character) + 1) & MASK
    return mix(value ^ len(run))


def hash_of(run: str) -> int:
    """The upper half of it."""
    return whole_hash_of(run) >> 32


def bounds_of(text: str, units: int) -> list[tuple[int, int]]:
    """Where the shingles of a text begin and end, in order; a text shorter than one is one by itself."""
    bounds = []
    for start in range(len(text)):
        n_units, end = 0, start
        while n_units < units and end < len(text):
            n_units += 2 if is_dense(text[end]) else 1
            end += 1
        if n_units >= units or start == 0:
            bounds.append((start, end))
    return bounds


def surroundings_of(text: str, start: int, end: int) -> str:
    """A shingle with eight characters on both sides, or four in a dense script."""
    reach = shingles.SURROUNDING // 2 if is_dense(text[start]) else shingles.SURROUNDING
    return text[max(start - reach, 0) : end + reach]


def hashes_of(text: str, units: int) -> list[int]:
    return [hash_of(text[start:end]) for start, end in bounds_of(text, units)]


def leading_of(hashed: int) -> int:
    """The bits by which a hash is known to be common."""
    return hashed >> (32 - shingles.COMMON_BITS)


def mark(hashes: list[int]) -> np.ndarray:
    """The marks of hashes that are common."""
    counted = np.zeros(2**shingles.COMMON_BITS, np.uint32)
    counted[[leading_of(hashed) for hashed in hashes]] = 1
    return shingles.mark_common(counted, 1)


def is_whole(text: str, units: int) -> bool:
    """Whether a text is long enough for a shingle."""
    return sum(2 if is_dense(character) else 1 for character in text) >= units


def ranked(hashed: int, common: set[int]) -> int:
    """31 bits of a hash, after all others if it is common."""
    return hashed % 2**31 + 2**31 * (hashed >> (32 - shingles.COMMON_BITS) in common)


def expected_shingles(text: str, units: int, n_kept: int, n_dense: int, common: set[int]) -> list[int]:
    """The first shingles, then smaller ones if there are too few; up to ``n_dense`` of a text half in Han."""
    n_columns, n_kept = n_kept, n_dense if 2 * sum(map(is_dense, text)) >= len(text) else n_kept
    all_ranked, kept = [ranked(hashed, common) for hashed in hashes_of(text, units)], list[int]()
    if shingles.MOSTLY_COMMON * sum(each < shingles.COMMON for each in all_ranked) < len(all_ranked):
        kept = sorted({each for each in all_ranked if each >= shingles.COMMON})[: n_kept // shingles.COMMON_PART]
    kept += sorted(set(all_ranked) - set(kept))[: n_kept - len(kept)]
    if units > 2:
        smaller = {ranked(hashed, common) for hashed in hashes_of(text, units - 2)}
        kept += sorted(smaller - set(kept))[: n_kept - len(kept)]
    return kept + [int(shingles.NO_SHINGLE)] * (n_columns - len(kept))


@given(TEXTS, st.sampled_from([2, 3, 5, 6]), st.sampled_from([(1, 1), (4, 3), (16, 5), (16, 16)]), st.integers(0, 5))
def test_the_first_shingles_are_kept(texts: list[str], units: int, most: tuple[int, int], every: int) -> None:
    hashes = sorted({hashed for text in texts for hashed in hashes_of(text, units)})
    of_common = hashes[::every] if every else []
    common = mark(of_common)
    kept = shingles.bottom_shingles(*encode_texts(texts), units, *most, common)
    leading = {leading_of(hashed) for hashed in of_common}
    assert kept.dtype == np.uint32
    assert kept.tolist() == [expected_shingles(text, units, *most, leading) for text in texts]


@given(TEXTS, st.sampled_from([2, 5]), st.integers(1, 3))
def test_surroundings_of_a_shingle_are_counted(texts: list[str], units: int, n_scopes: int) -> None:
    scopes = np.sort(np.arange(len(texts)) % n_scopes)
    counted = shingles.count_surroundings(*encode_texts(texts), scopes, units)
    seen, counts = set[int](), Counter[tuple[int, int]]()
    for text, scope in zip(texts, scopes.tolist(), strict=True):
        for start, end in bounds_of(text, units) if is_whole(text, units) else []:
            leading = leading_of(hash_of(text[start:end]))
            mixed = mix(whole_hash_of(surroundings_of(text, start, end)) ^ leading ^ scope << 32)
            place = mixed >> 64 - int(shingles.SEEN_BITS)
            counts[leading, scope] += place not in seen
            seen.add(place)
    expected = {leading: max(counts[leading, scope] for scope in range(n_scopes)) for leading, _ in +counts}
    assert {int(place): int(counted[place]) for place in np.flatnonzero(counted)} == expected


@given(st.dictionaries(st.integers(0, 2**shingles.COMMON_BITS - 1), st.integers(1, 9), max_size=40), st.integers(1, 9))
def test_what_is_in_so_many_surroundings_is_marked(n_surroundings: dict[int, int], common_in: int) -> None:
    counted = np.zeros(2**shingles.COMMON_BITS, np.uint32)
    counted[list(n_surroundings)] = list(n_surroundings.values())
    marked = np.flatnonzero(np.unpackbits(shingles.mark_common(counted, common_in).view(np.uint8), bitorder="little"))
    assert marked.tolist() == sorted(leading for leading, n in n_surroundings.items() if n >= common_in)


def test_hashes_are_the_same_in_every_version() -> None:
    """Snapshots hold shingles, so that their hashes must not change unnoticed."""
    kept = shingles.bottom_shingles(*encode_texts(["你好世界", "hello, world"]), 5, 3, 3, NONE)
    assert kept.tolist() == GOLDEN
