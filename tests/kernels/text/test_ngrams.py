"""Character n-grams by script against a plain walk over the text."""

from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Float32s, Int64s, Tokens, UInt32s, encode_texts
from hybriddup.kernels.text.ngrams import script_ngrams
from hybriddup.kernels.text.token_table import build_table, look_up

DENSE_RANGES = (
    (0x1100, 0x11FF),
    (0x2000, 0x206F),
    (0x2600, 0x27BF),
    (0x2E80, 0x9FFF),
    (0xAC00, 0xD7AF),
    (0xF900, 0xFAFF),
    (0xFF00, 0xFFEF),
    (0x1F000, 0x10FFFF),
)
mixed_texts = st.text(alphabet="ab1 é猫喊한ー，😀\ud800\0", max_size=12)
size_pairs = st.tuples(st.integers(1, 4), st.integers(0, 3)).map(lambda sizes: (sizes[0], sum(sizes)))


def is_dense(character: str) -> bool:
    """Whether the character stands in one of the ranges that one character of says much in."""
    return any(low <= ord(character) <= high for low, high in DENSE_RANGES)


def plain_ngrams(text: str, dense: tuple[int, int], other: tuple[int, int]) -> list[str]:
    """The n-grams of each run of one kind of script, by size and then by place."""
    ngrams = []
    for dense_run, characters in groupby(text, key=is_dense):
        run = "".join(characters)
        smallest, largest = dense if dense_run else other
        for size in range(min(smallest, len(run)), min(largest, len(run)) + 1):
            ngrams += [run[start : start + size] for start in range(len(run) - size + 1)]
    return ngrams


def kernel_ngrams(texts: list[str], dense: tuple[int, int], other: tuple[int, int]) -> list[list[str]]:
    code_points, offsets = encode_texts(texts)
    tokens = Tokens(code_points, *script_ngrams(code_points, offsets, np.array(dense), np.array(other)))
    return [tokens.strings(text) for text in range(len(texts))]


@given(st.lists(mixed_texts, max_size=4), size_pairs, size_pairs)
def test_ngrams_equal_their_plain_twin(texts: list[str], dense: tuple[int, int], other: tuple[int, int]) -> None:
    assert kernel_ngrams(texts, dense, other) == [plain_ngrams(text, dense, other) for text in texts]


def weights_by_script(text: str, starts: list[int]) -> list[float]:
    """What tokens that begin there and weigh 2.0 weigh when those of other scripts get 7.0."""
    return weigh(encode_texts([text]).code_points, np.array(starts, np.int64)).tolist()


def weigh(code_points: UInt32s, starts: Int64s) -> Float32s:
    """The weights of tokens that no table holds."""
    table, hashes = build_table(np.zeros(0, np.uint64), np.zeros(0, np.float32)), np.ones((len(starts), 1), np.uint64)
    weights: Float32s = look_up(*table, hashes, np.float32(2.0), code_points, starts, np.float32(7.0))
    return weights


def test_token_is_dense_by_its_first_character() -> None:
    assert weights_by_script("T恤T", [0, 1]) == [7.0, 2.0]


def test_table_of_scripts_agrees_with_the_ranges_at_every_code_point() -> None:
    expected = np.zeros(0x110000, np.bool_)
    for low, high in DENSE_RANGES:
        expected[low : high + 1] = True
    weights = weigh(np.arange(0x110000, dtype=np.uint32), np.arange(0x110000))
    assert np.flatnonzero((weights == 2.0) != expected).tolist() == []
