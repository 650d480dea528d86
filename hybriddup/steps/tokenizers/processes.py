"""Tokenizing in several processes, for tokenizers that hold the interpreter lock."""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache, lru_cache
from itertools import chain, islice, takewhile
from threading import Event, Thread
from time import perf_counter, sleep

import numpy as np

from hybriddup.data.records import Tokens
from hybriddup.data.spread import spread_rows
from hybriddup.steps.tokenizers import Tokenizer

START_SECONDS = 4.0
"""Minimum estimated work, in seconds, that justifies other processes, because each loads its own dictionary."""

PILOT_TEXTS = 32
"""Number of texts that are tokenized first, to estimate the time for all texts."""

TEXTS_PER_PIECE = 256
"""Number of texts per task: few enough that all processes finish at about the same time."""


def tokenize_in_processes(
    tokenizer: Tokenizer,
    batches: Sequence[Sequence[str]],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
    n_later: int = 0,
) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order.

    A tokenizer that holds the interpreter lock runs in ``workers`` other processes if a pilot estimates at least
    `START_SECONDS` of work. joblib keeps the processes and their dictionaries for some minutes, so the estimate
    includes the ``n_later`` texts that the caller will tokenize next. The processes do not import the main module:
    scripts need no ``if __name__ == "__main__"`` guard. A tokenizer that cannot be pickled runs in this process, and
    ``note`` is called with the reason.
    """
    may_share = tokenizer.holds_interpreter and workers > 1
    is_worth_it = may_share and estimated_seconds(tokenizer, batches, n_later) > START_SECONDS
    pickled = pickle_tokenizer(tokenizer, note) if is_worth_it else None
    if pickled is None:
        yield from map(tokenizer.tokenize_batch, batches)
        return
    pieces = [pieces_of(batch) for batch in batches]
    with closing(share(pickled, chain.from_iterable(pieces), workers)) as tokens:
        for of_batch in pieces:
            yield join_tokens(list(islice(tokens, len(of_batch))))


def share(pickled: bytes, pieces: Iterable[Sequence[str]], workers: int) -> Generator[Tokens, None, None]:
    """Yield the tokens of each piece, in order, from other processes; closing the generator cancels waiting pieces.

    The processes then finish their current pieces. joblib could kill the processes instead, but this fails while one of
    its threads is sending a piece.
    """
    from joblib import Parallel, delayed

    is_closed = Event()
    left = takewhile(lambda _: not is_closed.is_set(), pieces)
    tasks = (delayed(tokenize_pickled)(pickled, list(piece)) for piece in left)
    tokens = Parallel(workers, return_as="generator", max_nbytes=None)(tasks)
    try:
        yield from map(Tokens._make, tokens)  # not from `tokens` itself, which would be closed
    finally:
        is_closed.set()
        with suppress(Exception):  # nobody needs these tokens
            deque(tokens, maxlen=0)


def estimated_seconds(tokenizer: Tokenizer, batches: Sequence[Sequence[str]], n_later: int) -> float:
    """Estimate the seconds that this process needs to tokenize all batches and ``n_later`` more texts.

    The time to load dictionaries is not included. The result is 0.0 for at most `PILOT_TEXTS` texts.
    """
    n_texts = sum(map(len, batches)) + n_later
    if not batches or not batches[0] or n_texts <= PILOT_TEXTS:
        return 0.0
    tokenizer.tokenize_batch([])  # loads the dictionary, which is not part of the estimate
    pilot = [batches[0][row] for row in spread_rows(len(batches[0]), PILOT_TEXTS)]
    began = perf_counter()
    tokenizer.tokenize_batch(pilot)
    return (perf_counter() - began) * n_texts / len(pilot)


def tokenize_together(
    tokenizer: Tokenizer, texts: Sequence[str], workers: int, note: Callable[[str], None], n_later: int
) -> Tokens:
    """Return the tokens of all texts; parameters as in `tokenize_in_processes`."""
    return next(iter(tokenize_in_processes(tokenizer, [texts], workers, note, n_later)))


def pieces_of(texts: Sequence[str]) -> list[Sequence[str]]:
    """Split texts into pieces of `TEXTS_PER_PIECE`; without texts, return one empty piece."""
    return [texts[start : start + TEXTS_PER_PIECE] for start in range(0, max(len(texts), 1), TEXTS_PER_PIECE)]


def join_tokens(parts: Sequence[Tokens]) -> Tokens:
    """Concatenate the tokens of all parts, in order; ``parts`` must not be empty."""
    first_point = np.cumsum([0, *(len(part.code_points) for part in parts)])
    first_token = np.cumsum([0, *(len(part.starts) for part in parts)])
    offsets = [part.offsets[:-1] + first for part, first in zip(parts, first_token[:-1], strict=True)]
    return Tokens(
        np.concatenate([part.code_points for part in parts]),
        np.concatenate([part.starts + first for part, first in zip(parts, first_point[:-1], strict=True)]),
        np.concatenate([part.lengths for part in parts]),
        np.concatenate([*offsets, first_token[-1:]]),
    )


def pickle_tokenizer(tokenizer: Tokenizer, note: Callable[[str], None]) -> bytes | None:
    """Pickle a tokenizer, by value if a script defines its class; on failure, call ``note`` and return None."""
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(tokenizer)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        note(f"the tokenizer ran in one process only, because it cannot be pickled: {error}.")
        return None
    return pickled


def tokenize_pickled(pickled: bytes, texts: Sequence[str]) -> Tokens:
    """Return the tokens of each text, from a tokenizer that each process unpickles once."""
    watch_parent()
    return unpickle(pickled).tokenize_batch(texts)


@cache
def watch_parent() -> None:
    """Start a thread that ends this process soon after its parent has ended, for example by a signal."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(0)

    Thread(target=watch, name="watching", daemon=True).start()


@lru_cache(maxsize=4)
def unpickle(pickled: bytes) -> Tokenizer:
    """Unpickle a tokenizer; cached, so that each process loads a dictionary once."""
    tokenizer: Tokenizer = pickle.loads(pickled)  # noqa: S301  (our own parent process pickled it)
    return tokenizer
