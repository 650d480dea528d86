"""Tokenizing in several processes, for tokenizers that hold the interpreter."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from hybriddup.records import Tokens
from hybriddup.steps.tokenizers import Tokenizer

if TYPE_CHECKING:
    from concurrent.futures import Future

START_SECONDS = 2.0
"""Where one process has less work than this left, starting others, which takes a second, saves too little."""

IDLE_SECONDS = 300
"""Processes stay for so long after a run, with their dictionaries, so that the next one need not start any."""

BATCHES_AHEAD = 4
"""Batches handed out a process: enough that none waits for work, few enough that tokens never pile up."""


def tokenize_in_processes(
    tokenizer: Tokenizer,
    batches: Sequence[Sequence[str]],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order.

    The first batch is tokenized in this process and shows whether more processes are worth while. A tokenizer that
    cannot be pickled stays in this process, which ``note`` is told.
    """
    if not batches:
        return
    began = perf_counter()
    first = tokenizer.tokenize_batch(batches[0])
    seconds_left = (perf_counter() - began) * (len(batches) - 1)
    yield first
    worth_while = workers > 1 and seconds_left > START_SECONDS
    pickled = pickle_tokenizer(tokenizer, note) if worth_while else None
    if pickled is None:
        yield from map(tokenizer.tokenize_batch, batches[1:])
    else:
        yield from share(tokenizer, pickled, batches[1:], workers)


def share(tokenizer: Tokenizer, pickled: bytes, batches: Sequence[Sequence[str]], workers: int) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order; this process works as well until the others are ready.

    The processes are loky's, which do not import the main module, so that a script needs no guard around its main
    part.
    """
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=workers, timeout=IDLE_SECONDS)
    loading = [executor.submit(tokenize_pickled, pickled, []) for _ in range(workers)]
    left = deque(batches)
    while left and not all(future.done() for future in loading):
        yield tokenizer.tokenize_batch(left.popleft())
    given: deque[Future[Tokens]] = deque()
    try:
        while left or given:
            while left and len(given) < BATCHES_AHEAD * workers:
                given.append(executor.submit(tokenize_pickled, pickled, list(left.popleft())))
            yield given.popleft().result()
    finally:
        for future in given:
            future.cancel()


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
    return unpickle(pickled).tokenize_batch(texts)


@lru_cache(maxsize=4)
def unpickle(pickled: bytes) -> Tokenizer:
    """Return the tokenizer; the same one for the same bytes, so that a dictionary is loaded once a process."""
    tokenizer: Tokenizer = pickle.loads(pickled)  # noqa: S301  (our own parent process made it)
    return tokenizer
