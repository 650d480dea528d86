"""Tokenizing in several processes, for tokenizers that hold the interpreter."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from hybriddup.records import Tokens
from hybriddup.steps.tokenizers import Tokenizer

FEW_BATCHES = 4
"""With fewer batches than this, starting processes costs more than it saves."""


def tokenize_in_processes(
    tokenizer: Tokenizer,
    batches: Sequence[Sequence[str]],
    workers: int,
    note: Callable[[str], None] = lambda _: None,
) -> Iterator[Tokens]:
    """Yield the tokens of each batch, in order.

    Processes are joblib's, and functions are pickled by value where a script defines them, so that the script needs
    no guard around its main part. One worker, or few batches, stay in this process; so does a tokenizer that cannot be
    pickled, which ``note`` is told.
    """
    pickled = pickle_tokenizer(tokenizer, note) if workers > 1 and len(batches) >= FEW_BATCHES else None
    if pickled is None:
        yield from map(tokenizer.tokenize_batch, batches)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=workers, backend="loky", return_as="generator")
    yield from parallel(delayed(tokenize_pickled)(pickled, list(batch)) for batch in batches)


def pickle_tokenizer(tokenizer: Tokenizer, note: Callable[[str], None]) -> bytes | None:
    """Return the tokenizer in a form that other processes can read, None where there is none."""
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
