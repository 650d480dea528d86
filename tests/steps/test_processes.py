"""Tokenizing in several processes: the same tokens in the same order, from any kind of tokenizer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from threading import Lock

import pytest

from hybriddup.records import Tokens, tokens_from_lists
from hybriddup.steps.tokenizers.processes import FEW_BATCHES, tokenize_in_processes


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


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_batches", [0, 1, FEW_BATCHES, 9])
def test_tokens_come_in_order(workers: int, n_batches: int) -> None:
    """Whatever the number of batches and of processes."""
    assert tokens_of(n_batches, workers)[0] == expected_tokens(n_batches)


def test_many_batches_run_in_other_processes() -> None:
    """Which is what they are for: this one's interpreter is free meanwhile."""
    assert str(os.getpid()) not in tokens_of(FEW_BATCHES, 2)[1]


@pytest.mark.parametrize(("n_batches", "workers"), [(9, 1), (FEW_BATCHES - 1, 2)])
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


def test_tokenizer_that_cannot_be_pickled_stays_in_this_process() -> None:
    """It works all the same, and the user is told why it takes longer."""
    notes: list[str] = []
    batches = [["a b"], ["c"], ["d e"], ["f"], ["g"]]
    tokens = list(tokenize_in_processes(WithLock(), batches, 2, notes.append))
    assert [batch.strings(0) for batch in tokens] == [["a", "b"], ["c"], ["d", "e"], ["f"], ["g"]]
    assert len(notes) == 1
    assert "one process only" in notes[0]
