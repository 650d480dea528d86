"""What a window learns: once, on its first posts, and then kept with the store and never changed again.

It learns the weights of tokens, which shingles are common, and what verifiers learn from a corpus. A weighter that
learns has no weights when a window begins: until `FIT_AT` posts have come, every token weighs what a rare one does.
That costs no precision, because the verifier looks at the texts, and nearly no recall, because so few posts are all
compared. Later, fingerprints stay comparable, and a pair has the same score at every opening.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybriddup.data.spread import spread_rows
from hybriddup.errors import ConfigError, WindowError
from hybriddup.run.components import Components
from hybriddup.run.recipe import (
    BLOCKS,
    WEIGHTS,
    Arrays,
    LearnedRecipe,
    compare_recipes,
    read_recipe,
    unpack_arrays,
    verifier_part,
)
from hybriddup.steps.fingerprints import FIT_SAMPLE
from hybriddup.steps.verifiers import LearningVerifier, keeps_learning
from hybriddup.steps.weighters import FittedTable, FittedWeighter
from hybriddup.window.preparing import Steps
from hybriddup.window.stores import LEARNED, WindowStore

FIT_AT = FIT_SAMPLE
"""Posts after which a window learns."""
Meta = Callable[[str], bytes | None]
"""Returns the value that a store has under a key, None if there is none."""
Learned = Mapping[str, Arrays]
"""What was learned, by part, as in `hybriddup.run.recipe.LearnedRecipe`."""
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


def read_learned(components: Components, meta: Meta) -> dict[str, Arrays]:
    """Return what the window of a store has learned; empty if it is nothing yet."""
    # earlier versions stored each part under a key of its own
    names = [WEIGHTS, BLOCKS, *(verifier_part(key) for key, _ in components.learning_verifiers())]
    learned: dict[str, Arrays] = {name: unpack_arrays(part) for name in names if (part := meta(name)) is not None}
    packed = meta(LEARNED)
    return learned if packed is None else {**learned, **read_recipe(BytesIO(packed), "of the window").learned}


def pack_learned(components: Components, learned: Learned) -> bytes:
    """Return what a window has learned as bytes."""
    file = BytesIO()
    LearnedRecipe(components.learned_with(), dict(learned)).write(file)
    return file.getvalue()


def use_weights(components: Components, learned: Learned) -> bool:
    """Give a weighter that learns the weights that were learned; return whether there are any.

    If there are none yet, every token has the largest weight.
    """
    maker = components.fingerprinter
    if WEIGHTS in learned and isinstance(maker.weighter, FittedWeighter):
        maker.weighter.use(FittedTable.from_arrays(learned[WEIGHTS]))
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


def fitted_weights(components: Components) -> Arrays:
    """Return the weights of tokens that were fitted."""
    weighter = components.fingerprinter.weighter
    if not isinstance(weighter, FittedWeighter):
        raise TypeError("only weights that can be kept are fitted")
    return weighter.table.arrays()


def with_given_recipe(components: Components, learned: Learned) -> dict[str, Arrays]:
    """Return what a window has learned with the parts of the recipe that it is given, if any is.

    WindowError if the window has learned something else.
    """
    recipe = components.learned
    if recipe is None:
        return dict(learned)
    for part, arrays in recipe.learned.items():
        if part in learned and not same_arrays(learned[part], arrays):
            raise WindowError(
                f"the window goes by other {part} than the recipe {recipe.id}. Open it without recipe:, or with the "
                "one that it was made with, or begin a new store."
            )
    return {**recipe.learned, **learned}


def same_arrays(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether two mappings hold the same arrays; one that only tells a format is passed over."""
    return all(name in a and np.array_equal(a[name], array) for name, array in b.items())


def prepare_blocks(components: Components, learned: Learned) -> bool:
    """Give the block index what it learned; return whether it is still to learn."""
    index = components.block_index
    if BLOCKS in learned:
        index.use_learned(learned[BLOCKS])
    return index.learns and BLOCKS not in learned


def sample_texts(steps: Steps, store: WindowStore) -> Sequence[str]:
    """Return some normalized texts of the store, spread evenly; a text that is empty says nothing and is left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_SAMPLED)
    posts = store.posts(positions.astype(np.int64))
    return [text for text in steps.normalize([post.text for post in posts]) if text]


def prepare_verifiers(steps: Steps, learned: Learned, sample: Sequence[str]) -> bool:
    """Prepare the verifiers of a window that is opened; return whether one is still to learn what is then kept.

    Verifiers go on with what was kept. If what a verifier learns cannot be kept, it learns from a sample of normalized
    texts now.
    """
    plan, is_learning = steps.components.plan, False
    of_sample, of_nothing = steps.verifier_context(sample), steps.verifier_context([])
    for key, name, verifier in zip(plan.keys, plan.names, plan.verifiers, strict=True):
        kept = learned.get(verifier_part(key))
        if not keeps_learning(verifier):
            verifier.prepare(of_sample)
        elif kept is None:
            verifier.prepare(of_nothing)
            is_learning = True
        else:
            use_kept(verifier, name, kept)
    return is_learning


def learn_parts(store: WindowStore, steps: Steps, learned: dict[str, Arrays]) -> None:
    """Learn from kept posts of the store, evenly spread, and add it to what was ``learned`` before, which stays.

    If one part cannot be learned, the parts that were learned before it are there.
    """
    plan, n = steps.components.plan, store.next_position - store.first_position
    posts = store.posts(store.first_position + spread_rows(n, FIT_AT))
    context = steps.verifier_context(steps.normalize([post.text for post in posts if post.kept]))
    index = steps.components.block_index
    if index.learns and BLOCKS not in learned:
        index.learn(context.texts)
        learned[BLOCKS] = index.learned()
    for key, verifier in zip(plan.keys, plan.verifiers, strict=True):
        if verifier_part(key) not in learned:
            verifier.prepare(context)
            if keeps_learning(verifier):
                learned[verifier_part(key)] = verifier.learned()


def use_kept(verifier: LearningVerifier, name: str, kept: Arrays) -> None:
    """Let a verifier go on with what it learned; WindowError if it cannot, for example in another version."""
    try:
        verifier.use_learned(kept)
    except Exception as error:
        raise WindowError(
            f"what verifier {name} learned in this window cannot be used: {type(error).__name__}: {error}. Open the "
            "window with the version of the verifier that it was made with, or begin a new store."
        ) from error
