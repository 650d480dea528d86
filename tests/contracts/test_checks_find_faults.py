"""The contract checks find what they are there to find: each broken component fails at the clause that it breaks."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, BinaryIO

import numpy as np
import pytest
from numpy.typing import NDArray

from hybriddup import testing
from hybriddup.data.records import Bools, CandidatePairs, Float32s, Float64s, Tokens, UInt64s, tokens_from_lists
from hybriddup.files.formats import Fields, RecordBatch
from hybriddup.files.lines import LinesReader, LinesWriter
from hybriddup.files.sources import Source
from hybriddup.steps.blocks.pigeonhole import Scan
from hybriddup.steps.verifiers import LeastInCommon, VerifierContext
from hybriddup.steps.verifiers.cosine import Cosine, InverseDocumentFrequencies
from hybriddup.steps.verifiers.edit import Edit, Lcs
from hybriddup.testing import ContractError

CALLS = count()


def shuffled(text: str) -> str:
    return "".join(np.random.default_rng(next(CALLS)).permutation(list(text)).tolist())


def without_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("embedded null byte")
    return text


def order_by_hash(text: str) -> list[str]:
    return sorted(set(text), key=hash)


def constant_hash(token: str, bits: int) -> int:
    return 1


def python_hash(token: str, bits: int) -> int:
    return abs(hash(token)) % (1 << bits)


def letters_in_order(text: str) -> set[int]:
    return set(map(ord, text))


def prefix_score(a: str, b: str) -> float:
    return sum(x == y for x, y in zip(a, b, strict=False)) / len(a) if a != b else 1.0


def half_of_itself(a: str, b: str) -> float:
    return 0.5


def broken(base: type, **members: Any) -> type:
    """A component that differs from another one in some methods and attributes."""
    return type(f"Broken{base.__name__}", (base,), members)


class Normalizer:
    def normalize_batch(self, texts: Sequence[str]) -> list[str]:
        return list(texts)


class Unpicklable(Normalizer):
    def __init__(self) -> None:
        self.file = io.TextIOWrapper(io.BytesIO())
        self.generator = (number for number in range(3))


def reverse_what_is_given(self: Any, texts: Sequence[str]) -> list[str]:
    if isinstance(texts, list):
        texts.reverse()
    return list(texts)


class Tokenizer:
    holds_interpreter = True

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists(list(map(list, texts)))


def tokenizing(split: Callable[[str, Sequence[str]], list[str]]) -> type:
    """A tokenizer that splits each text by a function of the text and its batch."""
    return broken(Tokenizer, tokenize_batch=lambda _, texts: tokens_from_lists([split(text, texts) for text in texts]))


class Weighter:
    """Weighs by what it has seen before, which no fit allows for."""

    needs_fit = False

    def __init__(self) -> None:
        self.n_seen = 0

    def fit(self, sample: Tokens) -> None:
        pass

    def weigh_batch(self, tokens: Tokens) -> Float32s:
        self.n_seen += tokens.n_texts
        return np.full(len(tokens.starts), min(self.n_seen, 999), np.float32)


class Forgetful(Scan):
    """Makes its keys of what it learned, and does not tell."""

    is_complete = False
    n_learned = 0

    def learn(self, texts: Sequence[str]) -> None:
        self.n_learned = len(texts)

    def keys(self, texts: Sequence[str], bits: UInt64s) -> UInt64s:
        return super().keys(texts, bits) + np.uint64(self.n_learned)


def refuse_at_the_threshold(self: Edit, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
    scores = Edit.score_pairs(self, pairs, thresholds)
    return np.where((scores == thresholds) & (scores < 1.0), 0.0, scores)


class WorkerScores(Edit):
    def prepare(self, context: VerifierContext) -> None:
        super().prepare(context)
        self.workers = context.workers

    def score_pairs(self, pairs: CandidatePairs, thresholds: Float64s) -> Float64s:
        return super().score_pairs(pairs, thresholds) * (1.0 if self.workers == 1 else 0.9)


class KeepsNothing(Cosine):
    def use_learned(self, learned: Mapping[str, NDArray[Any]]) -> None:  # noqa: ARG002
        self._frequencies = InverseDocumentFrequencies()


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
    testing.check_reader(component, content=CONTENT, texts=TEXTS)


def write_lines(component: Any) -> None:
    testing.check_writer(component, reader=LinesReader, content=CONTENT)


BY_ITSELF = "a batch gives the same results as its texts one by one"
NASTY = "a batch of any texts is handled, including nasty ones"
OTHER_PROCESS = "the same texts give the same answers in another process"
SHAPE = "keys() returns uint64[n, n_keys], for all kinds of texts and for an empty batch"
BOUND = "least_in_common rules out no pair that reaches the threshold"
FAULTS: dict[Callable[[Any], None], list[tuple[Any, str]]] = {
    testing.check_normalizer: [
        (shuffled, BY_ITSELF),
        (without_nul, NASTY),
        (str.split, NASTY),
        (broken(Normalizer, normalize_batch=lambda _, texts: sorted(texts)), BY_ITSELF),
        (broken(Normalizer, normalize_batch=lambda _, texts: [text for text in texts if text]), NASTY),
        (broken(Normalizer, normalize_batch=reverse_what_is_given), "the batch it is given is not changed"),
        (Unpicklable, "it can be pickled"),
        (7, "it can be registered"),
    ],
    testing.check_tokenizer: [
        (str.upper, NASTY),
        (set, "it can be registered"),
        (order_by_hash, OTHER_PROCESS),
        (tokenizing(lambda text, _: order_by_hash(text)), OTHER_PROCESS),
        (broken(Tokenizer, holds_interpreter=None), "holds_interpreter is True or False"),
        (tokenizing(lambda text, texts: [*text, str(len(texts))]), BY_ITSELF),
        (broken(Tokenizer, recipe=lambda _: {"calls": next(CALLS)}), "recipe() returns the same each time"),
    ],
    testing.check_weighter: [
        (len, NASTY),
        (Weighter, BY_ITSELF),
        (
            broken(Weighter, weigh_batch=lambda _, tokens: np.ones(len(tokens.starts), np.float16)),
            NASTY,
        ),
    ],
    testing.check_hasher: [
        (constant_hash, "different tokens give different words at 64 bits"),
        (python_hash, OTHER_PROCESS),
    ],
    testing.check_block_index: [
        (
            broken(Scan, keys=lambda *given: given[2][:, :1] % np.uint64(2)),
            "is_complete means that every two texts within 3 of 64 bits share a key",
        ),
        (
            broken(Scan, n_keys=2, keys=lambda self, *given: np.repeat(Scan.keys(self, *given), 2, axis=1)),
            "no text has a key twice",
        ),
        (
            broken(Scan, keys=lambda *given: np.arange(len(given[1]), dtype=np.uint64)[:, None]),
            "the keys of a text depend only on the text and its fingerprint",
        ),
        (broken(Scan, keys=lambda self, *given: Scan.keys(self, *given)[:, 0]), SHAPE),
        (letters_in_order, SHAPE),
        (broken(Scan, describe=lambda _: "all\nof them"), "describe() returns one line"),
        (Forgetful, "with what another instance learned, the keys are the same"),
        (broken(Scan, learned=lambda _: {"texts": np.array([None])}), "learned() returns arrays of numbers or strings"),
    ],
    testing.check_verifier: [
        (prefix_score, "a score is symmetric in the two texts"),
        (half_of_itself, "identical texts score 1.0"),
        (
            broken(Edit, score_pairs=refuse_at_the_threshold),
            "a score at or above its threshold is exact, any other is below it",
        ),
        (
            broken(Lcs, max_partner_lengths=lambda *given: given[1].copy()),
            "max_partner_lengths is never below the length of a text",
        ),
        (broken(Edit, least_in_common=lambda _, threshold: LeastInCommon(of_longer=threshold)), BOUND),
        (broken(Lcs, least_in_common=lambda _, threshold: LeastInCommon(of_shorter=float(threshold > 0.0))), BOUND),
        (
            broken(Edit, least_in_common=lambda _, threshold: (threshold,)),
            "least_in_common returns two shares for any threshold",
        ),
        (
            broken(Edit, score_pairs=lambda self, *given: Edit.score_pairs(self, *given) / (2 - (len(given[0]) > 1))),
            "a pair's score does not depend on the batch",
        ),
        (WorkerScores, "the same pairs score the same with any number of workers"),
        (broken(Cosine, renew=Cosine.prepare), "renew takes other texts and keeps the learned data"),
        (KeepsNothing, "use_learned makes another instance score like the one that learned"),
        (
            broken(Cosine, learned=lambda _: {"frequencies": object()}),
            "learned returns arrays of numbers or strings by name",
        ),
        (
            broken(Edit, learned=lambda _: {}),
            "renew alone is allowed; learned and use_learned need each other and renew",
        ),
    ],
    read_lines: [
        (broken(LinesReader, extensions="txt"), "extensions is a tuple of file name endings"),
        (Skipping, "end counts the rows so far"),
        (Strict, "a damaged file gives bad rows or an InputError"),
    ],
    write_lines: [
        (
            broken(
                LinesWriter, write=lambda self, sources, target, keep: LinesWriter.write(self, sources, target, ~keep)
            ),
            "the kept records are written in order",
        ),
        (Careless, "a source with another number of rows than were read is an InputError"),
        (Closing, "the target is left open"),
    ],
}


@pytest.mark.parametrize(
    ("check", "component", "clause"), [(check, *fault) for check, faults in FAULTS.items() for fault in faults]
)
def test_broken_component_fails_at_its_clause(check: Callable[[Any], None], component: Any, clause: str) -> None:
    with pytest.raises(ContractError) as caught:
        check(component)
    assert str(caught.value).startswith(clause)
    assert getattr(component, "__qualname__", "7") in str(caught.value)


def test_attributes_with_a_default_may_be_left_out() -> None:
    class Letters:
        def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
            return tokens_from_lists([list(text) for text in texts])

    testing.check_tokenizer(Letters)


def test_failed_check_is_a_failed_assertion() -> None:
    assert issubclass(ContractError, AssertionError)


def test_wrong_option_fails_the_check() -> None:
    with pytest.raises(ContractError, match=r"n_blocks must be an int in \[1, 64\]; got 0"):
        testing.check_block_index("hybriddup.steps.blocks.pigeonhole:Blocks", n_blocks=0)
