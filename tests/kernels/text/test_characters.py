"""Sketches of the characters of texts, and what two of them tell, against Counter."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import SKETCH_WORDS, encode_texts
from hybriddup.kernels.search.pair_limits import count_lacking
from hybriddup.kernels.text.characters import sketch_characters
from tests import reference
from tests.inner_kernels import from_python

few_letters = st.text(alphabet="ab好\ud800\0", max_size=10)
any_letters = st.one_of(
    few_letters, st.text(max_size=30), st.text(alphabet="ab", max_size=6).map(lambda text: text * 90)
)


def sketches_of(texts: list[str]) -> np.ndarray:
    sketches = np.zeros((len(texts), SKETCH_WORDS), np.uint64)
    sketch_characters(*encode_texts(texts), sketches)
    return sketches


def lacks(a: str, b: str) -> int:
    """The bound on the characters of the first text that the second one lacks."""
    sketches = sketches_of([a, b])
    return int(from_python(count_lacking)(*map(tuple, sketches)))


def n_bits(text: str) -> int:
    return int(np.bitwise_count(sketches_of([text])).sum())


@given(any_letters, any_letters)
def test_lacking_is_never_more_than_the_truth(a: str, b: str) -> None:
    """Or pairs would be lost: what the second text lacks of the first, each character as often as it stands there."""
    in_common = reference.characters_in_common(a, b)
    assert lacks(a, b) <= len(a) - in_common
    assert lacks(b, a) <= len(b) - in_common
    assert lacks(a, a) == 0


@given(few_letters, few_letters)
def test_lacking_is_exact_where_no_two_characters_have_one_bit(a: str, b: str) -> None:
    both = "".join((Counter(a) | Counter(b)).elements())
    if n_bits(both) == len(both):
        assert lacks(a, b) == len(a) - reference.characters_in_common(a, b)


@given(st.lists(any_letters, max_size=5), st.randoms())
def test_sketch_depends_on_which_characters_a_text_has_alone(texts: list[str], random: object) -> None:
    """Not on their order, and not on the texts before it."""
    shuffled = ["".join(sorted(text, key=lambda _: random.random())) for text in texts]  # type: ignore[attr-defined]
    together = sketches_of(texts)
    assert together.tolist() == sketches_of(shuffled).tolist()
    assert together.tolist() == [sketches_of([text])[0].tolist() for text in texts]


def test_characters_and_their_occurrences_are_spread_over_the_bits() -> None:
    letters = "".join(chr(point) for point in range(ord("a"), ord("z") + 1))
    han = "".join(chr(point) for point in range(0x4E00, 0x4E40))
    assert n_bits(letters) >= 23
    assert n_bits(han) >= 52
    assert n_bits("e" * 64) >= 52
    assert n_bits(letters * 4) >= 80


def test_nothing_is_lacking_where_nothing_was_sketched() -> None:
    nothing = np.zeros(SKETCH_WORDS, np.uint64)
    assert int(from_python(count_lacking)(tuple(nothing), tuple(sketches_of(["ab"])[0]))) == 0
