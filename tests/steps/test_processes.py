"""Tokenizing in several processes: the same tokens in the same order, from any kind of tokenizer."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from time import sleep
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.steps.tokenizers import processes
from hybriddup.steps.tokenizers.processes import (
    narrow,
    pack_tokens,
    start_early,
    tokenize_in_processes,
    tokenize_together,
    unpack_tokens,
)


def make_tokenizer() -> object:
    """A tokenizer whose class no import finds, as in a user's script."""

    class SplitAtSpaces:
        holds_interpreter = True

        def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
            return tokens_from_lists([[*text.split(" "), str(os.getpid())] for text in texts])

    return SplitAtSpaces()


def tokens_of(n_batches: int, workers: int) -> tuple[list[list[str]], set[str]]:
    """The tokens of each text, and the processes that made them."""
    batches = [[f"text {batch} {text}" for text in range(3)] for batch in range(n_batches)]
    listed = [
        tokens.strings(text)
        for tokens in tokenize_in_processes(make_tokenizer(), batches, workers, pytest.fail)  # type: ignore[arg-type]
        for text in range(tokens.n_texts)
    ]
    return [tokens[:-1] for tokens in listed], {tokens[-1] for tokens in listed}


def expected_tokens(n_batches: int) -> list[list[str]]:
    return [["text", str(batch), str(text)] for batch in range(n_batches) for text in range(3)]


@pytest.fixture
def always_worth_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes are started for any amount of work."""
    monkeypatch.setattr(processes, "START_SECONDS", 0.0)
    monkeypatch.setattr(processes, "PILOT_TEXTS", 1)


@pytest.mark.usefixtures("always_worth_while")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_batches", [0, 1, 2, 30])
def test_tokens_come_in_order(workers: int, n_batches: int) -> None:
    """Whatever the number of batches and of processes."""
    assert tokens_of(n_batches, workers)[0] == expected_tokens(n_batches)


class Waiting:
    """Waits in its own process, where a text says so, until another has been called, so that work is shared."""

    holds_interpreter = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = os.getpid()

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        if os.getpid() == self.home:
            sleep(0.01)
            while "wait" in texts and not list(self.folder.iterdir()):
                sleep(0.01)
        else:
            (self.folder / uuid4().hex).touch()
        return tokens_from_lists([[text, str(os.getpid())] for text in texts])


@pytest.mark.usefixtures("always_worth_while")
def test_much_work_is_shared_with_other_processes(tmp_path: Path) -> None:
    """This process works until the others are ready, and beside them, and all tokens come in order."""
    batches = [["first"], ["wait"], *([str(batch)] for batch in range(300))]
    listed = [tokens.strings(0) for tokens in tokenize_in_processes(Waiting(tmp_path), batches, 2, pytest.fail)]
    assert [tokens[0] for tokens in listed] == [batch[0] for batch in batches]
    assert {tokens[1] for tokens in listed} > {str(os.getpid())}


@pytest.mark.usefixtures("always_worth_while")
def test_tokens_that_nobody_asks_for_are_not_made(tmp_path: Path) -> None:
    """A run that fails meanwhile leaves no queue of work behind."""
    tokens = tokenize_in_processes(Waiting(tmp_path), [["first"], ["wait"], *[["more"]] * 300], 2)
    assert [next(tokens).strings(0)[0] for _ in range(3)] == ["first", "wait", "more"]
    tokens.close()  # type: ignore[attr-defined]
    assert tokens_of(3, 2)[0] == expected_tokens(3)


@pytest.mark.usefixtures("always_worth_while")
def test_processes_that_were_started_early_serve_later(tmp_path: Path) -> None:
    """A tokenizer that says how slow it is has its helpers load before there is anything to tokenize."""
    slow = Waiting(tmp_path)
    slow.characters_a_second = 10.0  # type: ignore[attr-defined]
    start_early(slow, ["some text"], 2)
    while not list(tmp_path.iterdir()):
        sleep(0.01)
    batches = [[str(batch)] for batch in range(300)]
    assert [tokens.strings(0)[0] for tokens in tokenize_in_processes(slow, batches, 2)] == [text for [text] in batches]


@pytest.mark.parametrize("rate", [None, 1e6])
@pytest.mark.parametrize("workers", [1, 2])
def test_nothing_is_started_early_for_little_work(
    monkeypatch: pytest.MonkeyPatch, rate: float | None, workers: int
) -> None:
    """Nor for a tokenizer that does not say how slow it is."""
    started: list[object] = []
    monkeypatch.setattr(processes.Helpers, "start", lambda *arguments: started.append(arguments))
    tokenizer = Waiting(Path())
    tokenizer.characters_a_second = rate  # type: ignore[attr-defined]
    start_early(tokenizer, ["some text"], workers)
    assert started == []


@pytest.mark.usefixtures("always_worth_while")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_texts", [0, 1, 2, 700])
def test_tokens_of_a_sample_come_as_one(workers: int, n_texts: int) -> None:
    """However many pieces it is tokenized in."""
    texts = [f"text {text}" for text in range(n_texts)]
    tokens = tokenize_together(make_tokenizer(), texts, workers, n_later=10)  # type: ignore[arg-type]
    assert [tokens.strings(text)[:-1] for text in range(tokens.n_texts)] == [text.split(" ") for text in texts]


@pytest.mark.usefixtures("always_worth_while")
def test_large_batches_are_cut_up_and_put_together_again() -> None:
    """So that the last one does not keep one process busy while the others have nothing to do."""
    batches = [[f"{batch} {text}" for text in range(n)] for batch, n in enumerate([600, 0, 1, 256, 257])]
    tokens = list(tokenize_in_processes(make_tokenizer(), batches, 2))  # type: ignore[arg-type]
    found = [[of_batch.strings(text)[:-1] for text in range(of_batch.n_texts)] for of_batch in tokens]
    assert found == [[text.split(" ") for text in batch] for batch in batches]


@pytest.mark.parametrize(("n_batches", "workers"), [(9, 1), (9, 2)])
def test_little_work_stays_in_this_process(n_batches: int, workers: int) -> None:
    """Starting processes costs more than it saves there."""
    assert tokens_of(n_batches, workers)[1] == {str(os.getpid())}


class WithLock:
    """A tokenizer that no process but this one can have."""

    holds_interpreter = True

    def __init__(self) -> None:
        self.lock = Lock()

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([text.split(" ") for text in texts])


@pytest.mark.usefixtures("always_worth_while")
def test_tokenizer_that_cannot_be_pickled_stays_in_this_process() -> None:
    """It works all the same, and the user is told why it takes longer."""
    notes: list[str] = []
    batches = [["a b"], ["c"], ["d e"], ["f"], ["g"]]
    tokens = list(tokenize_in_processes(WithLock(), batches, 2, notes.append))
    assert [batch.strings(0) for batch in tokens] == [["a", "b"], ["c"], ["d", "e"], ["f"], ["g"]]
    assert len(notes) == 1
    assert "one process only" in notes[0]


@st.composite
def any_tokens(draw: st.DrawFn) -> Tokens:
    """Slices anywhere in the code points, in any order; code points need not be characters."""
    points = draw(st.lists(st.one_of(st.integers(0, 200), st.integers(0, 2**32 - 1)), min_size=1, max_size=400))
    spans = st.integers(0, len(points) - 1).flatmap(
        lambda start: st.tuples(st.just(start), st.integers(1, min(300, len(points) - start)))
    )
    texts = draw(st.lists(st.lists(spans, max_size=5), max_size=5))
    flat = [span for text in texts for span in text]
    return Tokens(
        np.array(points, np.uint32),
        np.array([start for start, _ in flat], np.int64),
        np.array([length for _, length in flat], np.int32),
        np.cumsum([0, *map(len, texts)], dtype=np.int64),
    )


@given(any_tokens())
@example(tokens_from_lists([]))
@example(tokens_from_lists([[], []]))
@example(tokens_from_lists([["喊😀", "\ud800"], [], ["a" * 70000]]))
def test_tokens_come_out_as_they_went_in(tokens: Tokens) -> None:
    """Every array, with its type."""
    for before, after in zip(tokens, unpack_tokens(pack_tokens(tokens)), strict=True):
        assert after.dtype == before.dtype
        assert after.tolist() == before.tolist()


def test_words_take_a_third_of_the_bytes() -> None:
    """Two bytes a character, and two a word."""
    tokens = tokens_from_lists([["回家", "吃饭", "了", "明天"] * 10 + ["😀"]] * 256)
    assert 3 * len(pickle.dumps(pack_tokens(tokens))) < len(pickle.dumps(tokens))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [([], np.uint8), ([0, 255], np.uint8), ([0, 256], np.uint16), ([-1, 127], np.int8), ([-1, 128], np.int16)],
)
def test_numbers_have_the_narrowest_type_that_holds_them(numbers: list[int], expected: type) -> None:
    """With a sign only where one is needed."""
    narrowed = narrow(np.array(numbers, np.int64))
    assert narrowed.dtype == expected
    assert narrowed.tolist() == numbers
