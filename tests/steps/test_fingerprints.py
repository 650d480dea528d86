"""From texts to fingerprints: the five steps together, whatever the batches and workers."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from hybriddup.data.records import Tokens
from hybriddup.kernels.text.simhash import count_weights
from hybriddup.steps.fingerprints import FIT_SAMPLE, Fingerprinter
from hybriddup.steps.hashers import Xxh3
from hybriddup.steps.tokenizers.char_ngrams import CharNgrams
from hybriddup.steps.weighters import MAX_WEIGHT, TermFrequency, TfIdf
from tests import reference
from tests.builders import numbers_of


def make_fingerprinter(n_bits: int = 64, workers: int = 1, weighter: object = None) -> Fingerprinter:
    """Bigrams of everything, term frequency, XXH3."""
    tokenizer = CharNgrams(CharNgrams.Options(cjk=(2, 2), other=(2, 2)))
    return Fingerprinter(tokenizer, weighter or TermFrequency(), Xxh3(Xxh3.Options()), n_bits, workers)  # type: ignore[arg-type]


def hash_of(n_bits: int) -> Callable[[str], int]:
    """The hash of a token as one whole number of ``n_bits``."""

    def hash_token(token: str) -> int:
        encoded = token.encode("utf-32-le")
        return sum(xxhash.xxh3_64_intdigest(encoded, word) << 64 * word for word in range(n_bits // 64))

    return hash_token


@pytest.mark.parametrize("n_bits", [64, 128, 256])
@given(text=st.text(alphabet="abc", max_size=12))
def test_fingerprint_equals_the_five_steps(n_bits: int, text: str) -> None:
    """Tokenize, weight, hash, add up, keep the signs, in plain Python; 64, 128 and 256 bits."""
    bigrams = partial(reference.char_ngrams, size=2)
    expected = reference.simhash(text, n_bits, tokenize=bigrams, weigh=lambda _: 1, hash_of=hash_of(n_bits))
    assert numbers_of(make_fingerprinter(n_bits).fingerprint([text]).bits) == [expected]


def test_text_without_tokens_is_marked() -> None:
    simhashes = make_fingerprinter().fingerprint(["", "ab"])
    assert (simhashes.has_tokens.tolist(), simhashes.bits[0].tolist()) == ([False, True], [0])


def test_no_texts_give_no_fingerprints() -> None:
    simhashes = make_fingerprinter(128).fingerprint([])
    assert (simhashes.bits.shape, simhashes.has_tokens.shape) == ((0, 2), (0,))


def test_progress_counts_every_text_once() -> None:
    done: list[int] = []
    make_fingerprinter(workers=2).fingerprint(["猫狗"] * 3000, done.append)
    assert sum(done) == 3000


class CountingWeighter(TermFrequency):
    """Remembers how many texts it was fitted on, and how many characters these were made of."""

    needs_fit = True
    n_texts = n_characters = 0

    def fit(self, sample: Tokens) -> None:
        self.n_texts, self.n_characters = sample.n_texts, len(np.unique(sample.code_points))


@pytest.mark.parametrize("n_texts", [0, 5, FIT_SAMPLE, 3 * FIT_SAMPLE])
def test_weighter_is_fitted_on_a_sample(n_texts: int) -> None:
    weighter, n_first = CountingWeighter(), n_texts // 2
    make_fingerprinter(weighter=weighter).fit(["猫"] * n_first + ["狗"] * (n_texts - n_first))
    assert (weighter.n_texts, weighter.n_characters) == (min(n_texts, FIT_SAMPLE), 2 * (n_texts > 0))


def test_weights_change_the_fingerprint() -> None:
    texts = [f"今天天气好{chr(0x4E00 + i)}" for i in range(200)]
    weighted = make_fingerprinter(128, weighter=TfIdf(TfIdf.Options(clip=(0.1, 5.0))))
    weighted.fit(texts)
    assert weighted.fingerprint(texts[:1]).bits.tolist() != make_fingerprinter(128).fingerprint(texts[:1]).bits.tolist()


@given(st.lists(st.floats(0.0, 2 * MAX_WEIGHT, width=32), max_size=5))
def test_weights_are_counted_in_units_of_1_in_256(weights: Sequence[float]) -> None:
    units = count_weights(np.array(weights, np.float32))
    assert units.dtype == np.int32
    assert units.tolist() == [min(max(round(weight * 256), 1), 256_000) for weight in weights]


@pytest.mark.parametrize("workers", [1, 2, 3, 50])
@pytest.mark.parametrize("n_texts", [0, 1, 3, 511, 512, 513, 1024, 1025, 2048, 2049, 2**16 + 1])
def test_fingerprints_do_not_depend_on_batches_and_workers(n_texts: int, workers: int) -> None:
    texts = [f"text {i * 7919}" for i in range(n_texts)]
    expected = make_fingerprinter().fingerprint(texts)
    for column, other in zip(expected, make_fingerprinter(workers=workers).fingerprint(texts), strict=True):
        assert np.array_equal(column, other)
