"""Tokenizing in several processes, for tokenizers that hold the interpreter."""

from __future__ import annotations

import pickle
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.records import Tokens, UInt32s
from hybriddup.data.spread import spread_rows
from hybriddup.steps.tokenizers import Tokenizer

START_SECONDS = 2.0
"""Where one process has less work than this left, starting others, which takes a second, saves too little."""

IDLE_SECONDS = 300
"""Processes stay for so long after a run, with their dictionaries, so that the next one need not start any."""

PILOT_TEXTS = 32
"""Texts that are tokenized beforehand, to see how long the rest will take."""

TEXTS_A_PIECE = 256
"""Few enough that all processes finish at about the same time."""

PIECES_AHEAD = 8
"""Pieces handed out a process: enough that none waits for work, few enough that tokens never pile up."""

READY_SECONDS = 0.02
"""Processes of an earlier run answer within this time; new ones are not waited for."""

MOST_WAITING = 64
"""Pieces that may be done, or be given to other processes, before the next one in order is."""


def start_early(tokenizer: Tokenizer, texts: Sequence[str], workers: int) -> None:
    """Start the processes for a run's texts if the tokenizer is known to be slow, and return at once.

    A tokenizer makes that known by an attribute ``characters_a_second``: about how many one process tokenizes.
    Processes then load while this one normalizes; for other tokenizers, a pilot tells.
    """
    rate = getattr(tokenizer, "characters_a_second", None)
    if not tokenizer.holds_interpreter or workers == 1 or rate is None or sum(map(len, texts)) < START_SECONDS * rate:
        return
    pickled = pickle_tokenizer(tokenizer, lambda _: None)  # the user is told when it is time to tokenize
    if pickled is not None:
        Helpers.start(pickled, workers - 1)


def tokenize_in_processes(
    tokenizer: Tokenizer,
    batches: Sequence[Sequence[str]],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
    n_later: int = 0,
) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order, by so many ``workers``: processes, this one included.

    Other processes share the work of a tokenizer that holds the interpreter, where a pilot shows that it is enough:
    started for a few texts, they serve for the ``n_later`` that the caller will have tokenized after these, too. A
    tokenizer that cannot be pickled stays in this process, which ``note`` is told.
    """
    may_share = tokenizer.holds_interpreter and workers > 1
    worth_while = may_share and seconds_alone(tokenizer, batches, n_later) > START_SECONDS
    pickled = pickle_tokenizer(tokenizer, note) if worth_while else None
    if pickled is None:
        yield from map(tokenizer.tokenize_batch, batches)
        return
    pieces = [pieces_of(batch) for batch in batches]
    tokens = share(tokenizer, Helpers.start(pickled, workers - 1), list(chain.from_iterable(pieces)))
    with closing(tokens):
        for of_batch in pieces:
            yield join_tokens(list(islice(tokens, len(of_batch))))


def seconds_alone(tokenizer: Tokenizer, batches: Sequence[Sequence[str]], n_later: int) -> float:
    """Return about how long this process alone would take, without loading a dictionary; 0.0 for a few texts."""
    n_texts = sum(map(len, batches)) + n_later
    if not batches or not batches[0] or n_texts <= PILOT_TEXTS:
        return 0.0
    rate: float | None = getattr(tokenizer, "characters_a_second", None)
    if rate is not None:  # so that others, where they are ready, work while this process loads its dictionary
        return sum(map(len, chain.from_iterable(batches))) / rate * n_texts / (n_texts - n_later)
    tokenizer.tokenize_batch([])  # loads a dictionary, as the other processes have to do too
    pilot = [batches[0][row] for row in spread_rows(len(batches[0]), PILOT_TEXTS)]
    began = perf_counter()
    tokenizer.tokenize_batch(pilot)
    return (perf_counter() - began) * n_texts / len(pilot)


def share(tokenizer: Tokenizer, helpers: Helpers, pieces: Sequence[Sequence[str]]) -> Generator[Tokens, None, None]:
    """Yield the tokens of each piece, in order; this process tokenizes as many as each of its helpers."""
    left = deque(pieces)
    under_way: deque[Future[Any]] = deque()
    wait([helpers.loading], READY_SECONDS)
    try:
        while left or under_way:
            while helpers.want(len(left)):
                under_way.append(helpers.give(left.popleft()))
            if left and len(under_way) < MOST_WAITING and not (under_way and under_way[0].done()):
                under_way.append(finished(tokenizer.tokenize_batch(left.popleft())))
            else:
                tokens = under_way.popleft().result()
                yield tokens if isinstance(tokens, Tokens) else unpack_tokens(tokens)
    finally:
        for future in under_way:
            future.cancel()


@dataclass
class Helpers:
    """Other processes that tokenize for this one.

    They are loky's, which do not import the main module, so that a script needs no guard around its main part.
    """

    executor: Any
    """`loky.reusable_executor._ReusablePoolExecutor`."""
    pickled: bytes
    n: int
    given: list[Future[PackedTokens]]
    """What is not done yet, as far as is known."""
    loading: Future[PackedTokens]

    @classmethod
    def start(cls, pickled: bytes, n: int) -> Helpers:
        """Return helpers, which load the tokenizer; those of an earlier run where they are still there."""
        from joblib.externals.loky import get_reusable_executor

        with warnings.catch_warnings():  # where an earlier run's helpers still load, their number changes after that
            warnings.filterwarnings("ignore", "Trying to resize an executor with running jobs", UserWarning)
            executor = get_reusable_executor(max_workers=n, timeout=IDLE_SECONDS)
        loading = [executor.submit(tokenize_pickled, pickled, []) for _ in range(n)]
        return cls(executor, pickled, n, [], loading[0])

    def want(self, n_left: int) -> bool:
        """Return whether one of ``n_left`` pieces should be given away, so that all will finish together."""
        if not self.loading.done():
            return False
        self.given = [future for future in self.given if not future.done()]
        return len(self.given) < min(PIECES_AHEAD * self.n, self.n * (n_left - 1))

    def give(self, texts: Sequence[str]) -> Future[PackedTokens]:
        """Have a piece tokenized."""
        future: Future[PackedTokens] = self.executor.submit(tokenize_pickled, self.pickled, list(texts))
        self.given.append(future)
        return future


def finished(tokens: Tokens) -> Future[Tokens]:
    """Return a future that has its result."""
    future: Future[Tokens] = Future()
    future.set_result(tokens)
    return future


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


def tokenize_pickled(pickled: bytes, texts: Sequence[str]) -> PackedTokens:
    """Return the tokens of each text, by a tokenizer that this process unpickles once."""
    return pack_tokens(unpickle(pickled).tokenize_batch(texts))


@lru_cache(maxsize=4)
def unpickle(pickled: bytes) -> Tokenizer:
    """Return the tokenizer; the same one for the same bytes, so that a dictionary is loaded once a process."""
    tokenizer: Tokenizer = pickle.loads(pickled)  # noqa: S301  (our own parent process made it)
    return tokenizer


class PackedTokens(NamedTuple):
    """Tokens in a third of the bytes or less. Numbers have the narrowest type that holds them all.

    A pipe takes 64 KiB at once: a process that writes more waits until the other one, which has its own work, has read
    it.
    """

    low_halves: NDArray[np.uint16]
    """uint16[n_code_points]: the code points, but for their upper sixteen bits."""
    high_places: NDArray[Any]
    """Where code points are that need more than sixteen bits: few, in what people write."""
    high_points: UInt32s
    """uint32[n_high_places]: these code points."""
    gaps: NDArray[Any]
    """How far behind the end of the token before each token begins: 0 for words that were put one after another."""
    lengths: NDArray[Any]
    counts: NDArray[Any]
    """Tokens of each text."""


def pack_tokens(tokens: Tokens) -> PackedTokens:
    """Return the tokens packed."""
    high_places = np.flatnonzero(tokens.code_points > 0xFFFF)
    ends = np.concatenate([[0], (tokens.starts + tokens.lengths)[:-1]]) if len(tokens.starts) else tokens.starts
    return PackedTokens(
        tokens.code_points.astype(np.uint16),
        narrow(high_places),
        tokens.code_points[high_places],
        narrow(tokens.starts - ends),
        narrow(tokens.lengths),
        narrow(np.diff(tokens.offsets)),
    )


def unpack_tokens(packed: PackedTokens) -> Tokens:
    """Return the tokens as they were."""
    code_points = packed.low_halves.astype(np.uint32)
    code_points[packed.high_places] = packed.high_points
    lengths = packed.lengths.astype(np.int32)
    starts = np.cumsum(packed.gaps, dtype=np.int64)
    starts[1:] += np.cumsum(lengths[:-1], dtype=np.int64)
    offsets = np.zeros(len(packed.counts) + 1, np.int64)
    np.cumsum(packed.counts, dtype=np.int64, out=offsets[1:])
    return Tokens(code_points, starts, lengths, offsets)


def narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the whole numbers in the narrowest type that holds them all."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    return numbers.astype(np.min_scalar_type(high if low >= 0 else min(low, -high - 1)))
