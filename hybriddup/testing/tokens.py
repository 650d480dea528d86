"""Contract checks for the roles that process one text at a time: normalizer, tokenizer, weighter, hasher."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hybriddup.data.records import Tokens, tokens_from_lists
from hybriddup.testing.contract import Subject, compare
from hybriddup.testing.texts import ALL_TEXTS

Answer = Callable[[Any, Sequence[str]], list[Any]]
"""A function that gets a component's answers: called with a component and texts, it returns one result per text."""

N_HASHED = 4096
"""Number of tokens whose hashes are compared. The probability that any two of 4096 random 64-bit hashes are equal is
about 10**-12."""


def check_normalizer(component: Any, **options: Any) -> None:
    """Check that a normalizer keeps its contract; see `hybriddup.testing`."""
    subject = Subject("normalizer", component, options)
    check_pure(subject, lambda normalizer, texts: list(normalizer.normalize_batch(texts)))


def check_tokenizer(component: Any, **options: Any) -> None:
    """Check that a tokenizer keeps its contract; see `hybriddup.testing`."""
    subject = Subject("tokenizer", component, options)
    value = getattr(subject.make(), "holds_interpreter", None)
    subject.require(isinstance(value, bool), "holds_interpreter is True or False", f"it is {value!r}")
    check_pure(subject, _tokenized)


def _tokenized(tokenizer: Any, texts: Sequence[str]) -> list[Any]:
    tokens = tokenizer.tokenize_batch(texts)
    return [tokens.strings(text) for text in range(len(texts))]


def check_pure(subject: Subject, run: Answer) -> None:
    """Check that a component's result for a text depends only on the text: not on batch, instance or process."""
    texts, component = list(ALL_TEXTS), subject.make()
    with subject.clause("a batch of any texts is handled, including nasty ones"):
        answers = run(component, texts)
    subject.require(texts == list(ALL_TEXTS), "the batch it is given is not changed", "it was")
    _check_batches(subject, run, component, answers)
    same = "the same texts give the same answers"
    compare(subject, f"{same} again", answers, run(component, ALL_TEXTS), ALL_TEXTS)
    compare(subject, f"{same} from a new instance", answers, run(subject.make(), ALL_TEXTS), ALL_TEXTS)
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


def check_weighter(component: Any, **options: Any) -> None:
    """Check that a weighter keeps its contract; see `hybriddup.testing`."""
    subject = Subject("weighter", component, options)
    value = getattr(subject.make(), "needs_fit", None)
    subject.require(isinstance(value, bool), "needs_fit is True or False", f"it is {value!r}")
    fitted = _fitted(subject)
    with subject.clause("tokens of any texts are weighed, also tokens that fit did not see"):
        weights = _weighed(fitted, ALL_TEXTS)
    subject.require(_weighed(fitted, []) == [], "an empty batch gives no weights", _weighed(fitted, []))
    alone = [_weighed(fitted, [text])[0] for text in ALL_TEXTS]
    compare(subject, "a batch gives the same results as its texts one by one", alone, weights, ALL_TEXTS)
    backwards = _weighed(fitted, ALL_TEXTS[::-1])[::-1]
    compare(subject, "weights are in the order of the tokens", weights, backwards, ALL_TEXTS)
    again, copied = _weighed(_fitted(subject), ALL_TEXTS), _weighed(subject.copy(fitted), ALL_TEXTS)
    compare(subject, "the same sample gives the same weights", weights, again, ALL_TEXTS)
    compare(subject, "weights are the same after pickling", weights, copied, ALL_TEXTS)
    subject.check_recipe(fitted)


def _fitted(subject: Subject) -> Any:
    weighter = subject.make()
    if weighter.needs_fit:
        with subject.clause("fit learns from a sample, and from an empty one"):
            subject.make().fit(_characters([]))
            weighter.fit(_characters(ALL_TEXTS[::2]))
    return weighter


def _weighed(weighter: Any, texts: Sequence[str]) -> list[Any]:
    tokens = _characters(texts)
    weights = weighter.weigh_batch(tokens).tolist()
    return [weights[tokens.offsets[text] : tokens.offsets[text + 1]] for text in range(len(texts))]


def _characters(texts: Sequence[str]) -> Tokens:
    """Split texts into tokens of one and two characters, because a weighter must accept the tokens of any tokenizer."""
    return tokens_from_lists([[*text[:300], *(text[i : i + 2] for i in range(len(text[:300]) - 1))] for text in texts])


def check_hasher(component: Any, **options: Any) -> None:
    """Check that a hasher keeps its contract; see `hybriddup.testing`."""
    subject = Subject("hasher", component, options)
    for words in (1, 2, 8):
        _check_width(subject, words)
    component = subject.make()
    elsewhere = subject.elsewhere(component, lambda other: _hashed(other, ALL_TEXTS, 2))
    here = _hashed(component, ALL_TEXTS, 2)
    clause = "equal tokens give equal words in another process with another PYTHONHASHSEED"
    compare(subject, clause, here, elsewhere, ALL_TEXTS)
    subject.check_recipe(component)


def _check_width(subject: Subject, words: int) -> None:
    hasher, where = subject.make(), f"at {64 * words} bits"
    with subject.clause(f"tokens of any texts are hashed {where}"):
        hashes = _hashed(hasher, ALL_TEXTS, words)
    subject.require(_hashed(hasher, [], words) == [], f"an empty batch gives no hashes {where}", "it does")
    backwards = _hashed(hasher, ALL_TEXTS[::-1], words)[::-1]
    compare(subject, f"a token's words depend on the token alone {where}", hashes, backwards, ALL_TEXTS)
    again = _hashed(subject.copy(hasher), ALL_TEXTS, words)
    compare(subject, f"equal tokens give equal words {where} after pickling", hashes, again, ALL_TEXTS)
    tokens = tokens_from_lists([[f"token {number}" for number in range(N_HASHED)]])
    n_distinct = len(np.unique(hasher.hash_batch(tokens, words), axis=0))
    clause = f"different tokens give different words {where}"
    subject.require(n_distinct > 0.99 * N_HASHED, clause, f"{N_HASHED} tokens give {n_distinct} different hashes")


def _hashed(hasher: Any, texts: Sequence[str], words: int) -> list[Any]:
    tokens = _characters(texts)
    hashes = hasher.hash_batch(tokens, words).tolist()
    return [hashes[tokens.offsets[text] : tokens.offsets[text + 1]] for text in range(len(texts))]
