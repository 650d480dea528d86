"""What a window learns: once, on its first posts, and then kept with the store and never changed again.

It learns the weights of tokens, which shingles are common, and what verifiers learn from a corpus. A weighter that
learns has no weights when a window begins: until `FIT_AT` posts have come, every token weighs what a rare one does.
That costs no precision, because the verifier looks at the texts, and nearly no recall, because so few posts are all
compared. Later, fingerprints stay comparable, and a pair has the same score at every opening.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.spread import spread_rows
from hybriddup.errors import ConfigError, WindowError
from hybriddup.run.components import Components
from hybriddup.run.recipe import BLOCKS as BLOCKS_PART
from hybriddup.run.recipe import WEIGHTS as WEIGHTS_PART
from hybriddup.run.recipe import compare_recipes, pack_arrays, unpack_arrays
from hybriddup.steps.fingerprints import FIT_SAMPLE
from hybriddup.steps.verifiers import LearningVerifier, keeps_learning
from hybriddup.steps.weighters import FittedTable, FittedWeighter
from hybriddup.window.preparing import Steps
from hybriddup.window.stores import BLOCKS, RECIPE, VERIFIER, WEIGHTS, WindowStore

FIT_AT = FIT_SAMPLE
"""Posts after which a window learns."""
META_OF_PART = {WEIGHTS_PART: WEIGHTS, BLOCKS_PART: BLOCKS}
"""Under which name a store keeps what a part of a recipe learned; a verifier has the same name in both."""
Meta = Callable[[str], bytes | None]
"""Returns the value that a store has under a key, None where there is none."""
N_SAMPLED = 2000
"""Texts that verifiers look at where what they learn cannot be kept."""


def learns(components: Components) -> bool:
    """Return whether the weights are still to be learned from posts; ConfigError where they could not be kept."""
    weighter = components.fingerprinter.weighter
    if weighter.needs_fit and not isinstance(weighter, FittedWeighter):
        raise ConfigError(
            f"weighter {components.settings.weighter.use!r} learns from a corpus, and what it learned cannot be kept "
            "with a window. Use tfidf or levels, or a weighter that is fitted already."
        )
    return weighter.needs_fit


def pack_recipe(recipe: Mapping[str, Any]) -> bytes:
    """Return a recipe as bytes."""
    return json.dumps(recipe, sort_keys=True).encode()


def use_stored_weights(components: Components, packed: bytes | None) -> bool:
    """Give a weighter that learns the weights of the store; return whether there are any.

    Where there are none yet, every token weighs the most.
    """
    maker = components.fingerprinter
    if packed is not None and isinstance(maker.weighter, FittedWeighter):
        maker.weighter.use(FittedTable.from_arrays(unpack_arrays(packed)))
        return True
    maker.fit([])
    return False


def refuse_other_recipe(stored: bytes, recipe: Mapping[str, Any]) -> None:
    """Raise WindowError where a window was made with another recipe than this one."""
    if differences := "; ".join(compare_recipes(recipe, json.loads(stored), "in the store")):
        raise WindowError(
            f"the window was made with another recipe: {differences}. Open it with the configuration that it was made "
            "with, or begin a new one under another name."
        )


def fitted_meta(components: Components) -> dict[str, bytes]:
    """Return what the store has to remember when the weights are fitted: the table, and the recipe with it."""
    weighter = components.fingerprinter.weighter
    if not isinstance(weighter, FittedWeighter):
        raise TypeError("only weights that can be kept are fitted")
    return {WEIGHTS: pack_arrays(weighter.table.arrays()), RECIPE: pack_recipe(components.recipe())}


def missing_of_recipe(steps: Steps, meta: Meta) -> dict[str, bytes]:
    """Return what a store has yet to keep of a learned recipe; WindowError where the window goes by something else."""
    recipe, missing = steps.components.learned, dict[str, bytes]()
    if recipe is None:
        return missing
    for part, arrays in recipe.learned.items():
        key = META_OF_PART.get(part, part)
        kept = meta(key)
        if kept is None:
            missing[key] = pack_arrays(arrays)
        elif not same_arrays(unpack_arrays(kept), arrays):
            raise WindowError(
                f"the window goes by other {part} than the recipe {recipe.id}. Open it without recipe:, or with the "
                "one that it was made with, or begin a new store."
            )
    return missing


def same_arrays(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether two mappings hold the same arrays; one that only tells a format is passed over."""
    return all(name in a and np.array_equal(a[name], array) for name, array in b.items())


def prepare_blocks(steps: Steps, meta: Meta) -> bool:
    """Go on with what the block index learned and was kept with the store; return whether it is still to learn."""
    index, kept = steps.components.block_index, meta(BLOCKS)
    if kept is not None:
        index.use_learned(unpack_arrays(kept))
    return index.learns and kept is None


def sample_texts(steps: Steps, store: WindowStore) -> Sequence[str]:
    """Return some normalized texts of the store, spread evenly; a text that is empty says nothing and is left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_SAMPLED)
    posts = store.posts(positions.astype(np.int64))
    return [text for text in steps.normalize([post.text for post in posts]) if text]


def prepare_verifiers(steps: Steps, meta: Meta, sample: Sequence[str]) -> bool:
    """Prepare the verifiers of a window that is opened; return whether one is still to learn what is then kept.

    Verifiers go on with what was kept. Where what a verifier learns cannot be kept, it learns from a sample of
    normalized texts now.
    """
    plan, is_learning = steps.components.plan, False
    of_sample, of_nothing = steps.verifier_context(sample), steps.verifier_context([])
    for key, name, verifier in zip(plan.keys, plan.names, plan.verifiers, strict=True):
        kept = meta(VERIFIER + key)
        if not keeps_learning(verifier):
            verifier.prepare(of_sample)
        elif kept is None:
            verifier.prepare(of_nothing)
            is_learning = True
        else:
            use_kept(verifier, name, kept)
    return is_learning


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
    """Let a verifier go on with what it learned; WindowError where it cannot, as of another version."""
    try:
        verifier.use_learned(unpack_arrays(kept))
    except Exception as error:
        raise WindowError(
            f"what verifier {name} learned in this window cannot be used: {type(error).__name__}: {error}. Open the "
            "window with the version of the verifier that it was made with, or begin a new store."
        ) from error
