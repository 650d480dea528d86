"""Tokenizing in several processes, for tokenizers that hold the interpreter."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, lru_cache
from itertools import chain, islice
from threading import Thread
from time import perf_counter, sleep

import numpy as np

from hybriddup.data.records import Tokens
from hybriddup.data.spread import spread_rows
from hybriddup.steps.tokenizers import Tokenizer

START_SECONDS = 4.0
"""Work of one process below which starting others, each of which loads its dictionary, saves too little."""

PILOT_TEXTS = 32
"""Texts that are tokenized beforehand, to estimate how long the rest will take."""

TEXTS_A_PIECE = 256
"""Few enough that all processes finish at about the same time."""


def tokenize_in_processes(
    tokenizer: Tokenizer,
    batches: Sequence[Sequence[str]],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
    n_later: int = 0,
) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order.

    A tokenizer that holds the interpreter runs in ``workers`` other processes if a pilot shows that this is worth
    while: started for a few texts, they serve for the ``n_later`` that the caller will have tokenized after these, too,
    because joblib keeps them for some minutes, with their dictionaries. They do not import the main module, so that a
    script needs no guard around its main part. A tokenizer that cannot be pickled stays in this process, which
    ``note`` is told.
    """
    may_share = tokenizer.holds_interpreter and workers > 1
    worth_while = may_share and seconds_alone(tokenizer, batches, n_later) > START_SECONDS
    pickled = pickle_tokenizer(tokenizer, note) if worth_while else None
    if pickled is None:
        yield from map(tokenizer.tokenize_batch, batches)
        return
    pieces = [pieces_of(batch) for batch in batches]
    with closing(share(pickled, chain.from_iterable(pieces), workers)) as tokens:
        for of_batch in pieces:
            yield join_tokens(list(islice(tokens, len(of_batch))))


def share(pickled: bytes, pieces: Iterable[Sequence[str]], workers: int) -> Generator[Tokens, None, None]:
    """Yield the tokens of each piece, in order, by other processes; closing it calls their work off."""
    from joblib import Parallel, delayed

    tasks = (delayed(tokenize_pickled)(pickled, list(piece)) for piece in pieces)
    tokens = Parallel(workers, return_as="generator", max_nbytes=None)(tasks)
    try:
        yield from map(Tokens._make, tokens)  # not from `tokens` itself, which is closed below
    finally:
        with warnings.catch_warnings():  # that work was called off, which is what closing is for
            warnings.simplefilter("ignore", UserWarning)
            tokens.close()


def seconds_alone(tokenizer: Tokenizer, batches: Sequence[Sequence[str]], n_later: int) -> float:
    """Return about how long this process alone would take, without loading a dictionary; 0.0 for a few texts."""
    n_texts = sum(map(len, batches)) + n_later
    if not batches or not batches[0] or n_texts <= PILOT_TEXTS:
        return 0.0
    tokenizer.tokenize_batch([])  # loads a dictionary, as the other processes have to do too
    pilot = [batches[0][row] for row in spread_rows(len(batches[0]), PILOT_TEXTS)]
    began = perf_counter()
    tokenizer.tokenize_batch(pilot)
    return (perf_counter() - began) * n_texts / len(pilot)


def tokenize_together(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
    n_later: int = 0,
) -> Tokens:
    """Return the tokens of all the texts; parameters as for `tokenize_in_processes`."""
    return next(iter(tokenize_in_processes(tokenizer, [texts], workers, note, n_later)))


def pieces_of(texts: Sequence[str]) -> list[Sequence[str]]:
    """Return the texts in pieces, at least one."""
    return [texts[start : start + TEXTS_A_PIECE] for start in range(0, max(len(texts), 1), TEXTS_A_PIECE)]


def join_tokens(parts: Sequence[Tokens]) -> Tokens:
    """Return the tokens of the texts of all parts, in order; there is at least one part."""
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
    """Return the tokenizer in a form that other processes can read, None where there is none.

    A class that a script defines is pickled by value.
    """
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps(tokenizer)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        note(f"the tokenizer ran in one process only, because it cannot be pickled: {error}.")
        return None
    return pickled


def tokenize_pickled(pickled: bytes, texts: Sequence[str]) -> Tokens:
    """Return the tokens of each text, by a tokenizer that this process unpickles once."""
    watch_parent()
    return unpickle(pickled).tokenize_batch(texts)


@cache
def watch_parent() -> None:
    """Have this process end soon after the one that started it, which a signal may kill."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(0)

    Thread(target=watch, name="watching", daemon=True).start()


@lru_cache(maxsize=4)
def unpickle(pickled: bytes) -> Tokenizer:
    """Return the tokenizer; the same one for the same bytes, so that a dictionary is loaded once a process."""
    tokenizer: Tokenizer = pickle.loads(pickled)  # noqa: S301  (our own parent process made it)
    return tokenizer
