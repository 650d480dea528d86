"""Tokenizing in several processes, for tokenizers that hold the interpreter."""

import pickle
from collections.abc import Iterator, Sequence
from functools import lru_cache

from hybriddup.records import Tokens
from hybriddup.steps.tokenizers import Tokenizer

FEW_BATCHES = 4
"""With fewer batches than this, starting processes costs more than it saves."""


def tokenize_in_processes(tokenizer: Tokenizer, batches: Sequence[Sequence[str]], workers: int) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order.

    Processes are joblib's: they pickle functions by value where a script defines them, and need no guard around the
    script's main part. One worker, or few batches, stay in this process.
    """
    if workers <= 1 or len(batches) < FEW_BATCHES:
        yield from map(tokenizer.tokenize_batch, batches)
        return
    import cloudpickle
    from joblib import Parallel, delayed

    pickled = cloudpickle.dumps(tokenizer)
    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator")
    yield from parallel(delayed(tokenize_pickled)(pickled, list(batch)) for batch in batches)


def tokenize_pickled(pickled: bytes, texts: Sequence[str]) -> Tokens:
    """Return the tokens of each text, by a tokenizer that this process unpickles once."""
    return unpickle(pickled).tokenize_batch(texts)


@lru_cache(maxsize=4)
def unpickle(pickled: bytes) -> Tokenizer:
    """Return the tokenizer; the same one for the same bytes, so that a dictionary is loaded once a process."""
    tokenizer: Tokenizer = pickle.loads(pickled)  # noqa: S301  (our own parent process made it)
    return tokenizer
