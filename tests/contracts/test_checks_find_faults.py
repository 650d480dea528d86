"""The contract checks find what they are there to find: each broken component fails at the clause that it breaks."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, BinaryIO

import numpy as np
import pytest
from numpy.typing import NDArray

from hybriddup.data.records import Bools, CandidatePairs, Float32s, Float64s, Int32s, Tokens, UInt64s, tokens_from_lists
from hybriddup.files.formats import Fields, RecordBatch
from hybriddup.files.lines import LinesReader, LinesWriter
from hybriddup.files.sources import Source
from hybriddup.steps.blocks.pigeonhole import Scan
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.cosine import Cosine, InverseDocumentFrequencies
from hybriddup.steps.verifiers.edit import Edit, Lcs
from hybriddup.testing import (
    ContractError,
    check_block_index,
    check_hasher,
    check_normalizer,
    check_reader,
    check_tokenizer,
    check_verifier,
    check_weighter,
    check_writer,
)

CALLS = count()


def shuffled(text: str) -> str:
    return "".join(np.random.default_rng(next(CALLS)).permutation(list(text)).tolist())


def without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("embedded null byte")
    return text


class BatchNormalizer:
    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        return list(texts)


class SortingNormalizer(BatchNormalizer):
    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        return sorted(texts)


class SkippingNormalizer(BatchNormalizer):
    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        return [text for text in texts if text]


class ChangingNormalizer(BatchNormalizer):
    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        if isinstance(texts, list):
            texts.reverse()
        return list(texts)


class UnpicklableNormalizer(BatchNormalizer):
    def __init__(self) -> None:
        self.file = io.TextIOWrapper(io.BytesIO())
        self.generator = (number for number in range(3))


def order_by_hash(text: str) -> list[str]:
    return sorted(set(text), key=hash)


class HashingTokenizer:
    """Has the order of tokens depend on PYTHONHASHSEED."""

    holds_interpreter = True

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([order_by_hash(text) for text in texts])


class SilentTokenizer(HashingTokenizer):
    holds_interpreter = None  # type: ignore[assignment]


class BatchDependentTokenizer:
    holds_interpreter = True

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([[*text, str(len(texts))] for text in texts])


class ForgetfulRecipe:
    holds_interpreter = True

    def recipe(self) -> dict[str, Any]:
        return {"calls": next(CALLS)}

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([list(text) for text in texts])


class FirstSeen:
    """Weighs by what it has seen before, which no fit allows for."""

    needs_fit = False

    def __init__(self) -> None:
        self.n_seen = 0

    def fit(self, sample: Tokens) -> None:
        pass

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        self.n_seen += tokens.n_texts
        return np.full(len(tokens.starts), min(self.n_seen, 999), np.float32)


class HalfPrecision(FirstSeen):
    def weigh_batch(self, tokens: Tokens) -> Float32s:
        return np.ones(len(tokens.starts), np.float16)


def constant_hash(token: str, bits: int) -> int:
    return 1


def python_hash(token: str, bits: int) -> int:
    return abs(hash(token)) % (1 << bits)


class MissingSome(Scan):
    """Gives texts of an odd word another key, and claims to be complete."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return bits[:, :1] % np.uint64(2)


class KeyTwice(Scan):
    n_keys = 2

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        return np.repeat(super().keys(texts, bits), 2, axis=1)


class BatchDependent(Scan):
    """Numbers the texts of a batch."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:  # noqa: ARG002
        return np.arange(len(texts), dtype=np.uint64)[:, None]


class OneKeyOnly(Scan):
    """Gives its keys in a single column that is no column."""

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        return super().keys(texts, bits)[:, 0]


class Wordy(Scan):
    def describe(self) -> str:
        return "all\nof them"


class Forgetful(Scan):
    """Makes its keys of what it learned, and does not tell."""

    is_complete = False
    n_learned = 0

    def learn(self, texts: Sequence[str]) -> None:
        self.n_learned = len(texts)

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        return super().keys(texts, bits) + np.uint64(self.n_learned)


class LearnsObjects(Scan):
    def learned(self) -> Mapping[str, NDArray[Any]]:
        return {"texts": np.array([None])}


def letters_in_order(text: str) -> set[int]:
    return set(map(ord, text))


def prefix_score(a: str, b: str) -> float:
    return sum(x == y for x, y in zip(a, b, strict=False)) / len(a) if a != b else 1.0


def half_of_itself(a: str, b: str) -> float:
    return 0.5


class Exclusive(Edit):
    """Refuses what is exactly on the threshold."""

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        scores = super().score_pairs(pairs, thresholds)
        return np.where((scores == thresholds) & (scores < 1.0), 0.0, scores)


class TightBound(Lcs):
    def max_partner_lengths(self, lengths: Int32s, threshold: float) -> Int32s:  # noqa: ARG002
        return lengths.copy()


class AsksTooMuch(Edit):
    """Would have common characters make up the whole score's share of the longer text."""

    def least_in_common(self, threshold: float) -> LeastInCommon:
        return LeastInCommon(of_longer=threshold)


class AsksForAllOfTheShorter(Lcs):
    def least_in_common(self, threshold: float) -> LeastInCommon:
        return LeastInCommon(of_shorter=float(threshold > 0.0))


class AsksOfOneOnly(Edit):
    def least_in_common(self, threshold: float) -> tuple[float]:  # type: ignore[override]
        return (threshold,)


class BatchScores(Edit):
    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        scores = super().score_pairs(pairs, thresholds)
        return scores if len(pairs) > 1 else scores / 2


class WorkerScores(Edit):
    def prepare(self, context: VerifierContext) -> None:
        super().prepare(context)
        self.workers = context.workers

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        return super().score_pairs(pairs, thresholds) * (1.0 if self.workers == 1 else 0.9)


class LearnsAnew(Cosine):
    def renew(self, context: VerifierContext) -> None:
        self.prepare(context)


class KeepsNothing(Cosine):
    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._frequencies = InverseDocumentFrequencies()


class KeepsAnObject(Cosine):
    def learned(self) -> dict[str, Any]:
        return {"frequencies": self._frequencies}


class KeepsAndNeverUses(Edit):
    def learned(self) -> dict[str, Any]:
        return {}


class Nameless(LinesReader):
    extensions = "txt"  # type: ignore[assignment]


class Skipping(LinesReader):
    """Leaves out empty posts, and counts no row for them."""

    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        for batch in super().read(source, fields):
            full = [place for place, text in enumerate(batch.texts) if text]
            texts, ids, values = (
                [column[place] for place in full] for column in (batch.texts, batch.ids, batch.order_values)
            )
            yield RecordBatch(texts, ids, values, batch.rows[full], batch.bad, batch.end)


class Strict(LinesReader):
    def read(self, source: Source, fields: Fields) -> Iterator[RecordBatch]:
        with source.open() as stream:
            stream.read().decode()
        yield from super().read(source, fields)


class Inverted(LinesWriter):
    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        super().write(sources, target, ~keep)


class Careless(LinesWriter):
    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        with sources[0].open() as stream:
            rows = list(stream) * len(sources)
        target.writelines(row for row, kept in zip(rows, keep, strict=False) if kept)


class Closing(LinesWriter):
    def write(self, sources: Sequence[Source], target: BinaryIO, keep: Bools) -> None:
        super().write(sources, target, keep)
        target.close()


CONTENT, TEXTS = b"one\ntwo\n\nfour\n", ["one", "two", "", "four"]


def read_lines(component: Any) -> None:
    check_reader(component, content=CONTENT, texts=TEXTS)


def write_lines(component: Any) -> None:
    check_writer(component, reader=LinesReader, content=CONTENT)


@pytest.mark.parametrize(
    ("check", "component", "clause"),
    [
        (check_normalizer, shuffled, "a batch gives the same results as its texts one by one"),
        (check_normalizer, without_nul, "a batch of any texts is handled, including nasty ones"),
        (check_normalizer, str.split, "a batch of any texts is handled, including nasty ones"),
        (check_normalizer, SortingNormalizer, "a batch gives the same results as its texts one by one"),
        (check_normalizer, SkippingNormalizer, "a batch of any texts is handled, including nasty ones"),
        (check_normalizer, ChangingNormalizer, "the batch it is given is not changed"),
        (check_normalizer, UnpicklableNormalizer, "it can be pickled"),
        (check_normalizer, 7, "it can be registered"),
        (check_tokenizer, str.upper, "a batch of any texts is handled, including nasty ones"),
        (check_tokenizer, set, "it can be registered"),
        (check_tokenizer, order_by_hash, "the same texts give the same answers in another process"),
        (check_tokenizer, HashingTokenizer, "the same texts give the same answers in another process"),
        (check_tokenizer, SilentTokenizer, "holds_interpreter is True or False"),
        (check_tokenizer, BatchDependentTokenizer, "a batch gives the same results as its texts one by one"),
        (check_tokenizer, ForgetfulRecipe, "recipe() returns the same each time"),
        (check_weighter, len, "tokens of any texts are weighed"),
        (check_weighter, FirstSeen, "a batch gives the same results as its texts one by one"),
        (check_weighter, HalfPrecision, "tokens of any texts are weighed"),
        (check_hasher, constant_hash, "different tokens give different words at 64 bits"),
        (check_hasher, python_hash, "equal tokens give equal words in another process"),
        (check_block_index, MissingSome, "is_complete means that every two texts within 3 of 64 bits share a key"),
        (check_block_index, KeyTwice, "no text has a key twice"),
        (check_block_index, BatchDependent, "the keys of a text depend only on the text and its fingerprint"),
        (
            check_block_index,
            OneKeyOnly,
            "keys() returns uint64[n, n_keys], for all kinds of texts and for an empty batch",
        ),
        (
            check_block_index,
            letters_in_order,
            "keys() returns uint64[n, n_keys], for all kinds of texts and for an empty batch",
        ),
        (check_block_index, Wordy, "describe() returns one line"),
        (check_block_index, Forgetful, "with what another instance learned, the keys are the same"),
        (check_block_index, LearnsObjects, "learned() returns arrays of numbers or strings"),
        (check_verifier, prefix_score, "a score is symmetric in the two texts"),
        (check_verifier, half_of_itself, "identical texts score 1.0"),
        (check_verifier, Exclusive, "a score at or above its threshold is exact, any other is below it"),
        (check_verifier, TightBound, "max_partner_lengths is never below the length of a text"),
        (check_verifier, AsksTooMuch, "least_in_common rules out no pair that reaches the threshold"),
        (check_verifier, AsksForAllOfTheShorter, "least_in_common rules out no pair that reaches the threshold"),
        (check_verifier, AsksOfOneOnly, "least_in_common returns two shares for any threshold"),
        (check_verifier, BatchScores, "a pair's score does not depend on the batch"),
        (check_verifier, WorkerScores, "the same pairs score the same with any number of workers"),
        (check_verifier, LearnsAnew, "renew takes other texts and keeps the learned data"),
        (check_verifier, KeepsNothing, "use_learned makes another instance score like the one that learned"),
        (check_verifier, KeepsAnObject, "learned returns arrays of numbers or strings by name"),
        (
            check_verifier,
            KeepsAndNeverUses,
            "renew alone is allowed; learned and use_learned need each other and renew",
        ),
        (read_lines, Nameless, "extensions is a tuple of file name endings"),
        (read_lines, Skipping, "end counts the rows so far"),
        (read_lines, Strict, "a damaged file gives bad rows or an InputError"),
        (write_lines, Inverted, "the kept records are written in order"),
        (write_lines, Careless, "a source with another number of rows than were read is an InputError"),
        (write_lines, Closing, "the target is left open"),
    ],
)
def test_broken_component_fails_at_its_clause(check: Callable[[Any], None], component: Any, clause: str) -> None:
    """The error begins with the clause and names the component."""
    with pytest.raises(ContractError) as caught:
        check(component)

    assert str(caught.value).startswith(clause)
    assert getattr(component, "__qualname__", "7") in str(caught.value)


def test_attributes_with_a_default_may_be_left_out() -> None:
    """The registry says what is then assumed."""

    class Letters:
        def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
            return tokens_from_lists([list(text) for text in texts])

    check_tokenizer(Letters)


def test_failed_check_is_a_failed_assertion() -> None:
    """Test runners show a broken contract as a failure, not as an error."""
    assert issubclass(ContractError, AssertionError)


def test_wrong_option_fails_the_check() -> None:
    """Options are read as in a configuration."""
    with pytest.raises(ContractError, match=r"n_blocks must be an int in \[1, 64\]; got 0"):
        check_block_index("hybriddup.steps.blocks.pigeonhole:Blocks", n_blocks=0)
