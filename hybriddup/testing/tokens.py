"""Contract checks for the roles that process one text at a time: normalizer, tokenizer, weighter, hasher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.testing.contract import Subject, compare
from hybriddup.testing.texts import ALL_TEXTS

Answer = Callable[[Any, Sequence[str]], list[Any]]
"""A function that gets a component's answers: called with a component and texts, it returns one result per text."""

WIDTHS = (1, 2, 8)
"""Widths of the hashes that are checked, in 64-bit words."""
N_HASHED = 4096
"""Number of tokens whose hashes are compared. The probability that any two of 4096 random 64-bit hashes are equal is
about 10**-12."""


def check_normalizer(component: Any, **options: Any) -> None:
    """Check that a normalizer keeps its contract; see `hybriddup.testing`."""
    subject = Subject("normalizer", component, options)
    check_pure(subject, subject.make, lambda normalizer, texts: list(normalizer.normalize_batch(texts)))


def check_tokenizer(component: Any, **options: Any) -> None:
    """Check that a tokenizer keeps its contract; see `hybriddup.testing`."""
    subject = Subject("tokenizer", component, options)
    value = getattr(subject.make(), "holds_interpreter", None)
    subject.require(isinstance(value, bool), "holds_interpreter is True or False", f"it is {value!r}")
    check_pure(subject, subject.make, _tokenized)


def _tokenized(tokenizer: Any, texts: Sequence[str]) -> list[Any]:
    tokens = tokenizer.tokenize_batch(texts)
    return [tokens.strings(text) for text in range(len(texts))]


def check_weighter(component: Any, **options: Any) -> None:
    """Check that a weighter keeps its contract; see `hybriddup.testing`."""
    subject = Subject("weighter", component, options)
    value = getattr(subject.make(), "needs_fit", None)
    subject.require(isinstance(value, bool), "needs_fit is True or False", f"it is {value!r}")
    check_pure(subject, partial(_fitted, subject), _weighed)


def _fitted(subject: Subject) -> Any:
    weighter = subject.make()
    if weighter.needs_fit:
        with subject.clause("fit learns from a sample, and from an empty one"):
            subject.make().fit(_characters([]))
            weighter.fit(_characters(ALL_TEXTS[::2]))
    return weighter


def _weighed(weighter: Any, texts: Sequence[str]) -> list[Any]:
    tokens = _characters(texts)
    return _by_text(tokens, weighter.weigh_batch(tokens).tolist())


def check_hasher(component: Any, **options: Any) -> None:
    """Check that a hasher keeps its contract; see `hybriddup.testing`."""
    subject = Subject("hasher", component, options)
    check_pure(subject, subject.make, _hashed)
    tokens = tokens_from_lists([[f"token {number}" for number in range(N_HASHED)]])
    for words in WIDTHS:
        n_distinct = len(np.unique(subject.make().hash_batch(tokens, words), axis=0))
        clause = f"different tokens give different words at {64 * words} bits"
        subject.require(n_distinct > 0.99 * N_HASHED, clause, f"{N_HASHED} tokens give {n_distinct} different hashes")


def _hashed(hasher: Any, texts: Sequence[str]) -> list[Any]:
    """Return the hashes of the tokens of each text, at each of the `WIDTHS`."""
    tokens = _characters(texts)
    at_widths = (_by_text(tokens, hasher.hash_batch(tokens, words).tolist()) for words in WIDTHS)
    return list(zip(*at_widths, strict=True))


def _characters(texts: Sequence[str]) -> Tokens:
    """Split texts into tokens of one and two characters, because a component must accept those of any tokenizer."""
    return tokens_from_lists([[*text[:300], *(text[i : i + 2] for i in range(len(text[:300]) - 1))] for text in texts])


def _by_text(tokens: Tokens, values: list[Any]) -> list[Any]:
    """Divide a list with one value per token into a list for each text."""
    return [values[first:last] for first, last in pairwise(tokens.offsets.tolist())]


def check_pure(subject: Subject, make: Callable[[], Any], run: Answer) -> None:
    """Check that a component's result for a text depends only on the text: not on batch, instance or process.

    ``make`` returns a new instance, after fitting if necessary.
    """
    texts, component = list(ALL_TEXTS), make()
    with subject.clause("a batch of any texts is handled, including nasty ones"):
        answers = run(component, texts)
    subject.require(texts == list(ALL_TEXTS), "the batch it is given is not changed", "it was")
    _check_batches(subject, run, component, answers)
    same = "the same texts give the same answers"
    compare(subject, f"{same} again", answers, run(component, ALL_TEXTS), ALL_TEXTS)
    compare(subject, f"{same} from a new instance", answers, run(make(), ALL_TEXTS), ALL_TEXTS)
    compare(subject, f"{same} after pickling", answers, run(subject.copy(component), ALL_TEXTS), ALL_TEXTS)
    elsewhere = subject.elsewhere(component, lambda other: run(other, ALL_TEXTS))
    compare(subject, f"{same} in another process with another PYTHONHASHSEED", answers, elsewhere, ALL_TEXTS)
    subject.check_recipe(component)


def _check_batches(subject: Subject, run: Answer, component: Any, answers: Sequence[Any]) -> None:
    with subject.clause("an empty batch gives an empty answer"):
        subject.require(run(component, []) == [], "an empty batch gives an empty answer", run(component, []))
    with subject.clause("each text can be given alone"):
        alone = [run(component, [text])[0] for text in ALL_TEXTS]
    compare(subject, "a batch gives the same results as its texts one by one", alone, answers, ALL_TEXTS)
    backwards = run(component, ALL_TEXTS[::-1])
    compare(subject, "results are in the order of the batch", answers, backwards[::-1], ALL_TEXTS)
