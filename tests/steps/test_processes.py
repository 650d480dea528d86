"""Tokenizing in several processes: the same tokens in the same order, from any kind of tokenizer."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

import pytest

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.errors import PluginError
from hybriddup.plugin.registry import Registry
from hybriddup.steps.tokenizers.processes import tokenize_in_processes, tokenize_together

ROOT = Path(__file__).parents[2]
MANY = 10**9
"""So many texts to come that other processes are worth while whatever the first ones take."""


def make_tokenizer() -> object:
    """A tokenizer whose class no import finds, as in a user's script."""

    class SplitAtSpaces:
        holds_interpreter = True

        def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
            return tokens_from_lists([[*text.split(" "), str(os.getpid())] for text in texts])

    return SplitAtSpaces()


def tokens_of(n_batches: int, workers: int, n_later: int = MANY) -> tuple[list[list[str]], set[str]]:
    """The tokens of each text, and the processes that made them."""
    batches = [[f"text {batch} {text}" for text in range(3)] for batch in range(n_batches)]
    listed = [
        tokens.strings(text)
        for tokens in tokenize_in_processes(make_tokenizer(), batches, workers, pytest.fail, n_later)  # type: ignore[arg-type]
        for text in range(tokens.n_texts)
    ]
    return [tokens[:-1] for tokens in listed], {tokens[-1] for tokens in listed}


def expected_tokens(n_batches: int) -> list[list[str]]:
    return [["text", str(batch), str(text)] for batch in range(n_batches) for text in range(3)]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_batches", [0, 1, 2, 30])
def test_tokens_come_in_order(workers: int, n_batches: int) -> None:
    assert tokens_of(n_batches, workers)[0] == expected_tokens(n_batches)


def test_much_work_is_done_by_other_processes() -> None:
    tokens, pids = tokens_of(300, 2)
    assert tokens == expected_tokens(300)
    assert pids
    assert str(os.getpid()) not in pids


def test_tokens_that_nobody_asks_for_are_not_made() -> None:
    tokens = tokenize_in_processes(make_tokenizer(), [["first"], ["second"], *[["more"]] * 300], 2, n_later=MANY)  # type: ignore[arg-type]
    assert [next(tokens).strings(0)[0] for _ in range(3)] == ["first", "second", "more"]
    tokens.close()  # type: ignore[attr-defined]
    assert tokens_of(3, 2)[0] == expected_tokens(3)


def test_processes_go_on_after_tokens_that_nobody_asks_for() -> None:
    """None is killed: each has loaded a dictionary, and joblib may be giving it more work at that moment."""
    _, pids = tokens_of(300, 2)
    tokens = tokenize_in_processes(make_tokenizer(), [["first"], *[["more"]] * 300], 2, n_later=MANY)  # type: ignore[arg-type]
    next(tokens)
    tokens.close()  # type: ignore[attr-defined]
    for pid in pids:
        os.kill(int(pid), 0)


def test_error_of_another_process_names_the_text() -> None:
    registry, home = Registry(), os.getpid()

    def split(text: str) -> list[str]:
        if "bad" in text and os.getpid() != home:
            raise ValueError("no such word")
        return text.split(" ")

    registry.add_tokenizer("split", split)
    tokenizer = registry.create_by_name("tokenizer", "split")
    with pytest.raises(PluginError, match=r"tokenizer 'split' .* failed on 'a bad one': ValueError: no such word"):
        list(tokenize_in_processes(tokenizer, [["good"] * 300, ["a bad one"], ["good"]], 2, n_later=MANY))
    assert tokens_of(3, 2)[0] == expected_tokens(3)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("n_texts", [0, 1, 2, 700])
def test_tokens_of_a_sample_come_as_one(workers: int, n_texts: int) -> None:
    texts = [f"text {text}" for text in range(n_texts)]
    tokens = tokenize_together(make_tokenizer(), texts, workers, pytest.fail, MANY)  # type: ignore[arg-type]
    assert [tokens.strings(text)[:-1] for text in range(tokens.n_texts)] == [text.split(" ") for text in texts]


def test_large_batches_are_cut_up_and_put_together_again() -> None:
    """So that the last one does not keep one process busy while the others have nothing to do."""
    batches = [[f"{batch} {text}" for text in range(n)] for batch, n in enumerate([600, 0, 1, 256, 257])]
    tokens = list(tokenize_in_processes(make_tokenizer(), batches, 2, n_later=MANY))  # type: ignore[arg-type]
    found = [[of_batch.strings(text)[:-1] for text in range(of_batch.n_texts)] for of_batch in tokens]
    assert found == [[text.split(" ") for text in batch] for batch in batches]


KILLED = """
import os, signal
from hybriddup.steps.tokenizers import processes
from tests.steps.test_processes import make_tokenizer
pids = set()
for tokens in processes.tokenize_in_processes(make_tokenizer(), [["text"]] * 100_000, 2, n_later=10**9):
    pids.add(tokens.strings(0)[-1])
    if len(pids) == 2:  # both are at work
        print(*pids, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_no_process_outlives_the_one_that_started_it(tmp_path: Path) -> None:
    """Though that was killed, and could end nothing."""
    said = tmp_path / "said"
    with said.open("w") as stdout:
        ran = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, stdout=stdout, check=False)
    assert ran.returncode == -signal.SIGKILL
    deadline = monotonic() + 60
    while any(is_running(int(pid)) for pid in said.read_text().split()):
        assert monotonic() < deadline
        sleep(0.1)


def is_running(pid: int) -> bool:
    """Whether a process is there that has not ended."""
    status = Path(f"/proc/{pid}/status")
    return status.exists() and "State:\tZ" not in status.read_text()


@pytest.mark.parametrize(("n_batches", "workers"), [(9, 1), (9, 2)])
def test_little_work_stays_in_this_process(n_batches: int, workers: int) -> None:
    assert tokens_of(n_batches, workers, n_later=0)[1] == {str(os.getpid())}


class WithLock:
    """A tokenizer that no process but this one can have."""

    holds_interpreter = True

    def __init__(self) -> None:
        self.lock = Lock()

    def tokenize_batch(self, texts: Sequence[str]) -> Tokens:
        return tokens_from_lists([text.split(" ") for text in texts])


def test_tokenizer_that_cannot_be_pickled_stays_in_this_process() -> None:
    notes: list[str] = []
    batches = [["a b"], ["c"], ["d e"], ["f"], ["g"]]
    tokens = list(tokenize_in_processes(WithLock(), batches, 2, notes.append, MANY))
    assert [batch.strings(0) for batch in tokens] == [["a", "b"], ["c"], ["d", "e"], ["f"], ["g"]]
    assert len(notes) == 1
    assert "one process only" in notes[0]
