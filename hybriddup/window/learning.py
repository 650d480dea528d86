"""What a window learns besides the weights of tokens: once, like these, and then kept with the store.

It learns which shingles are common. And a verifier that learns from a corpus has learned nothing when a window begins:
after `hybriddup.window.weights.FIT_AT` posts it learns from these, and what it learned is kept, so that a pair has the
same score at every later opening.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.errors import PluginError, WindowError
from hybriddup.pilot import N_PILOT_PAIRS
from hybriddup.spread import spread_rows
from hybriddup.steps.blocks.tables import Tables
from hybriddup.steps.verifiers import LearningVerifier, keeps_learning
from hybriddup.window.index.indexes import WindowPilot, sample_texts
from hybriddup.window.index.live_shapes import FEWEST_SHINGLES, shares_found
from hybriddup.window.index.shingles import count_shingles
from hybriddup.window.meta import SHINGLES, VERIFIER
from hybriddup.window.steps import Steps
from hybriddup.window.stores import WindowStore
from hybriddup.window.weights import FIT_AT

COMMON_IN = (3, 10, 30, 100)
"""A shingle in so many of the thousands of texts that are learned from is common; the first of these is tried first."""


def prepare_verifiers(steps: Steps, store: WindowStore) -> bool:
    """Prepare the verifiers of a window that is opened; return whether one is still to learn what is then kept.

    Verifiers go on with what was kept with the store. Where what a verifier learns cannot be kept, it learns from some
    of the store's texts now.
    """
    plan, is_learning = steps.components.plan, False
    of_store, of_nothing = steps.verifier_context(sample_texts(store)), steps.verifier_context([])
    for key, name, verifier in zip(plan.keys, plan.names, plan.verifiers, strict=True):
        kept = store.meta(VERIFIER + key)
        if not keeps_learning(verifier):
            verifier.prepare(of_store)
        elif kept is None:
            verifier.prepare(of_nothing)
            is_learning = True
        else:
            use_kept(verifier, name, kept)
    return is_learning


def prepare_shingles(steps: Steps, store: WindowStore) -> bool:
    """Go on with the common shingles that were kept with the store; return whether they are still to be learned."""
    kept = store.meta(SHINGLES)
    if kept is not None:
        steps.shingler.use(kept)
    return steps.may_use_shingles and kept is None


def learn_for_good(steps: Steps, store: WindowStore) -> dict[str, bytes]:
    """Learn from kept posts of the store, evenly spread; return what is to be kept with it.

    What was kept before stays as it is.
    """
    plan, n = steps.components.plan, store.next_position - store.first_position
    posts = store.posts(store.first_position + spread_rows(n, FIT_AT))
    texts = [post.compared_text for post in posts if post.kept]
    context = steps.verifier_context(texts)
    learned: dict[str, bytes] = {}
    if steps.may_use_shingles and store.meta(SHINGLES) is None:
        learn_common(steps, texts)
        learned[SHINGLES] = steps.shingler.learned()
    for key, verifier in zip(plan.keys, plan.verifiers, strict=True):
        if store.meta(VERIFIER + key) is None:
            verifier.prepare(context)
            if keeps_learning(verifier):
                learned[VERIFIER + key] = pack_arrays(verifier.learned())
    return learned


def learn_common(steps: Steps, texts: Sequence[str]) -> None:
    """Learn which shingles are common: as many as go with finding the pairs that the live index promises.

    What an edit brings into a text is mostly rare. The more shingles are common, the more of the first ones of an
    edited copy are those, and the fewer it shares with the original; how many, depends on the language.
    """
    chosen = [texts[row] for row in spread_rows(len(texts), N_PILOT_PAIRS).tolist() if texts[row]]
    pilot = WindowPilot(chosen, steps)
    options = Tables.Options.model_validate(steps.components.settings.blocks.options)
    counted = count_shingles(texts)
    for common_in in COMMON_IN:
        steps.shingler.learn(counted, common_in)
        _, n_least = shares_found(options, pilot.prints, pilot.shingles())
        if n_least is not None and n_least <= FEWEST_SHINGLES:
            return
    steps.shingler.learn(count_shingles([]), 1)


def use_kept(verifier: LearningVerifier, name: str, kept: bytes) -> None:
    """Let a verifier go on with what it learned.

    Raises
    ------
    WindowError
        It cannot: it is of another version, say.
    """
    try:
        verifier.use_learned(unpack_arrays(kept))
    except Exception as error:
        raise WindowError(
            f"what verifier {name} learned in this window cannot be used: {type(error).__name__}: {error}. Open the "
            "window with the version of the verifier that it was made with, or begin a new store."
        ) from error


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays by name as bytes.

    Raises
    ------
    PluginError
        They are no arrays of numbers or strings.

    Examples
    --------
    >>> unpack_arrays(pack_arrays({"n": np.array(3)}))
    {'n': array(3)}
    """
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise PluginError(f"learned must return arrays of numbers or strings; {name!r} is {array!r:.80}.")
    file = BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(file, **named)
    return file.getvalue()


def unpack_arrays(packed: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays that `pack_arrays` packed."""
    with np.load(BytesIO(packed), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
