"""What a window learns besides the weights of tokens: once, like these, and then kept with the store.

It learns which shingles are common. And a verifier that learns from a corpus has learned nothing when a window begins:
after `hybriddup.window.weights.FIT_AT` posts it learns from these, and what it learned is kept, so that a pair has the
same score at every later opening.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.spread import spread_rows
from hybriddup.errors import WindowError
from hybriddup.run.recipe import BLOCKS as BLOCKS_PART
from hybriddup.run.recipe import WEIGHTS as WEIGHTS_PART
from hybriddup.run.recipe import pack_arrays, unpack_arrays
from hybriddup.steps.verifiers import LearningVerifier, keeps_learning
from hybriddup.window.meta import BLOCKS, VERIFIER, WEIGHTS
from hybriddup.window.preparing import Steps
from hybriddup.window.stores import WindowStore
from hybriddup.window.weights import FIT_AT

META_OF_PART = {WEIGHTS_PART: WEIGHTS, BLOCKS_PART: BLOCKS}
"""Under which name a store keeps what a part of a recipe learned; a verifier has the same name in both."""
N_SAMPLED = 2000
"""Texts that verifiers look at where what they learn cannot be kept."""


class Values(Protocol):
    """What a window keeps by name besides its posts."""

    def meta(self, key: str) -> bytes | None:
        """Return the value under a key, None where there is none."""
        ...

    def set_meta(self, values: Mapping[str, bytes]) -> None:
        """Store values under their keys: all of them are safe when it returns, or none is and it raises."""
        ...


def prepare_verifiers(steps: Steps, store: WindowStore) -> bool:
    """Prepare the verifiers of a window that is opened; return whether one is still to learn what is then kept.

    Verifiers go on with what was kept with the store. Where what a verifier learns cannot be kept, it learns from some
    of the store's texts now.
    """
    plan, is_learning = steps.components.plan, False
    of_store, of_nothing = steps.verifier_context(sample_texts(steps, store)), steps.verifier_context([])
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


def keep_recipe(steps: Steps, store: Values) -> None:
    """Keep what a learned recipe says with the store, where the window has learned nothing yet.

    Raises
    ------
    WindowError
        The window has learned something else.
    """
    recipe = steps.components.learned
    if recipe is None:
        return
    missing: dict[str, bytes] = {}
    for part, arrays in recipe.learned.items():
        key = META_OF_PART.get(part, part)
        kept = store.meta(key)
        if kept is None:
            missing[key] = pack_arrays(arrays)
        elif not same_arrays(unpack_arrays(kept), arrays):
            raise WindowError(
                f"the window goes by other {part} than the recipe {recipe.id}. Open it without recipe:, or with the "
                "one that it was made with, or begin a new store."
            )
    store.set_meta(missing)


def same_arrays(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether two mappings hold the same arrays; one that only tells a format is passed over."""
    return all(name in a and np.array_equal(a[name], array) for name, array in b.items())


def prepare_blocks(steps: Steps, store: Values) -> bool:
    """Go on with what the block index learned and was kept with the store; return whether it is still to learn."""
    index, kept = steps.components.block_index, store.meta(BLOCKS)
    if kept is not None:
        index.use_learned(unpack_arrays(kept))
    return index.learns and kept is None


def sample_texts(steps: Steps, store: WindowStore) -> Sequence[str]:
    """Return some normalized texts of the store, spread evenly; a text that is empty says nothing and is left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_SAMPLED)
    posts = store.posts(positions.astype(np.int64))
    return [text for text in steps.normalize([post.text for post in posts]) if text]


def learn_from(store: WindowStore, steps: Steps, learned: dict[str, bytes]) -> None:
    """Learn from kept posts of the store, evenly spread, and add to ``learned`` what is to be kept with it.

    What was kept before stays as it is. Where one thing cannot be learned, what was learned before it stands.
    """
    plan, n = steps.components.plan, store.next_position - store.first_position
    posts = store.posts(store.first_position + spread_rows(n, FIT_AT))
    texts = steps.normalize([post.text for post in posts if post.kept])
    context = steps.verifier_context(texts)
    index = steps.components.block_index
    if index.learns and store.meta(BLOCKS) is None:
        index.learn(context.texts)
        learned[BLOCKS] = pack_arrays(index.learned())
    for key, verifier in zip(plan.keys, plan.verifiers, strict=True):
        if store.meta(VERIFIER + key) is None:
            verifier.prepare(context)
            if keeps_learning(verifier):
                learned[VERIFIER + key] = pack_arrays(verifier.learned())


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
