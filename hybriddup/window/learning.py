"""Data that a window learns once, from its first posts; it is stored with the window and does not change.

A window learns token weights, the common shingles, and what verifiers learn from a corpus. A weighter that
learns has no weights when a window begins: until `FIT_AT` posts have come, every token has the weight of a rare token.
That costs no precision, because the verifier compares the texts themselves, and nearly no recall, because all posts can
be compared while there are few. As learned data does not change, fingerprints made with it stay comparable, and a pair
gets the same score whenever the window is opened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple, Protocol

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
from hybriddup.window.stores import LEARNED, RECIPE
from hybriddup.window.stores.store import WindowStore

FIT_AT = FIT_SAMPLE
"""Number of posts after which a window learns."""
Learned = Mapping[str, Arrays]
"""Learned arrays by part (weights, block index, or one verifier), as in `hybriddup.run.recipe.LearnedRecipe`."""
N_SAMPLED = 2000
"""Number of texts from which a verifier learns at each opening, if its learned data cannot be stored."""


def check_weights(components: Components) -> None:
    """Raise ConfigError if the weighter learns from posts, but its weights cannot be stored with a window."""
    weighter = components.fingerprinter.weighter
    if weighter.needs_fit and not isinstance(weighter, FittedWeighter):
        raise ConfigError(
            f"weighter {components.settings.weighter.use!r} learns from a corpus, and its weights cannot be stored "
            "with a window. Use tfidf or levels, or a weighter that is fitted already."
        )


class RecipeStore(Protocol):
    """Stores the recipe of a window, which is the configuration that its data depends on, and what it has learned."""

    def meta(self, key: str) -> bytes | None:
        """Return the value of a key; None if it has none."""

    def set_first(self, key: str, value: bytes) -> bytes:
        """Store a value unless the key has one already; return the value that the key then has."""


class Prepared(NamedTuple):
    """The learned data of a window, and whether token weights, or any data at all, have yet to be learned."""

    learned: dict[str, Arrays]
    weights_learn: bool
    is_learning: bool


def prepare_components(
    steps: Steps,
    store: RecipeStore,
    keep: Callable[[bytes], None],
    sample: Callable[[], Sequence[str]],
    *,
    read_only: bool,
) -> Prepared:
    """Load the learned data of a window into the components; WindowError if the window has another recipe.

    A new window gets the recipe of the components. If the configuration names a learned ``recipe:``, its data is added,
    and ``keep`` is called with the packed result to store it. ``sample`` returns some normalized texts of the window.
    """
    components = steps.components
    learned = read_learned(components, store)
    weights_learn = components.fingerprinter.weighter.needs_fit and not use_weights(components, learned)
    agree_on_recipe(components.recipe(), store, read_only=read_only)
    if not read_only:
        stored, learned = learned, with_given_recipe(components, learned)
        if learned.keys() != stored.keys():
            keep(pack_learned(components, learned))
    if BLOCKS in learned:
        components.block_index.use_learned(learned[BLOCKS])
    verifiers_learn = prepare_verifiers(steps, learned, sample())
    return Prepared(learned, weights_learn, weights_learn or verifiers_learn or blocks_learn(components, learned))


def agree_on_recipe(recipe: Mapping[str, Any], store: RecipeStore, *, read_only: bool) -> None:
    """Store the recipe in a new window; raise WindowError if the window already has a different recipe."""
    stored = store.meta(RECIPE) if read_only else store.set_first(RECIPE, pack_recipe(recipe))
    if stored is None:
        raise WindowError("the window is new and has no posts to read yet. Open it read-only after posts were added.")
    if differences := "; ".join(compare_recipes(recipe, json.loads(stored), "in the store")):
        raise WindowError(
            f"the window was made with another recipe: {differences}. Open it with the configuration that it was made "
            "with, or begin a new one under another name."
        )


def pack_recipe(recipe: Mapping[str, Any]) -> bytes:
    """Return a recipe as JSON in bytes, with sorted keys, so that equal recipes have equal bytes."""
    return json.dumps(recipe, sort_keys=True).encode()


def read_learned(components: Components, store: RecipeStore) -> dict[str, Arrays]:
    """Return what each component of a window has learned, by the component's name; empty if nothing is stored yet."""
    # earlier versions stored each part under a key of its own
    names = [WEIGHTS, BLOCKS, *(verifier_part(key) for key, _ in components.learning_verifiers())]
    learned: dict[str, Arrays] = {name: unpack_arrays(part) for name in names if (part := store.meta(name)) is not None}
    packed = store.meta(LEARNED)
    return learned if packed is None else {**learned, **read_recipe(BytesIO(packed), "of the window").learned}


def pack_learned(components: Components, learned: Learned) -> bytes:
    """Return learned data in the format of a recipe file, to be stored with the window."""
    file = BytesIO()
    LearnedRecipe(components.learned_with(), dict(learned)).write(file)
    return file.getvalue()


def use_weights(components: Components, learned: Learned) -> bool:
    """Pass the learned weights to a weighter that learns; return whether weights were passed.

    Without learned weights, every token gets the maximum weight.
    """
    maker = components.fingerprinter
    if WEIGHTS in learned and isinstance(maker.weighter, FittedWeighter):
        maker.weighter.use(FittedTable.from_arrays(learned[WEIGHTS]))
        return True
    maker.fit([])
    return False


def with_given_recipe(components: Components, learned: Learned) -> dict[str, Arrays]:
    """Return the data that the window has learned; parts that it lacks come from ``recipe:`` in the configuration.

    WindowError if both have a part, and it differs.
    """
    recipe = components.learned
    if recipe is None:
        return dict(learned)
    for part, arrays in recipe.learned.items():
        if part in learned and not same_arrays(learned[part], arrays):
            raise WindowError(
                f"the window has learned other {part} than the recipe {recipe.id}. Open it without recipe:, with the "
                "recipe that it was made with, or begin a new store."
            )
    return {**recipe.learned, **learned}


def same_arrays(a: Mapping[str, NDArray[Any]], b: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether ``a`` has every array of ``b``, under the same name and with equal values."""
    return all(name in a and np.array_equal(a[name], array) for name, array in b.items())


def blocks_learn(components: Components, learned: Learned) -> bool:
    """Return whether the block index has yet to learn."""
    return components.block_index.learns and BLOCKS not in learned


def sample_texts(steps: Steps, store: WindowStore) -> Sequence[str]:
    """Return the normalized texts of a sample of stored posts, at evenly spread positions; empty texts are left out."""
    first, n = store.first_position, store.next_position - store.first_position
    positions = first + spread_rows(n, N_SAMPLED)
    posts = store.posts(positions.astype(np.int64))
    return [text for text in steps.normalize([post.text for post in posts]) if text]


def prepare_verifiers(steps: Steps, learned: Learned, sample: Sequence[str]) -> bool:
    """Prepare the verifiers of a window; return whether any of them has yet to learn data that can be stored.

    Verifiers use their stored data. A verifier whose data cannot be stored learns from the sample now.
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
    """Learn missing parts from kept posts at evenly spread positions of the store, and add them to ``learned``.

    If learning a part fails, ``learned`` already has the parts learned before.
    """
    plan, n = steps.components.plan, store.next_position - store.first_position
    posts = store.posts(store.first_position + spread_rows(n, FIT_AT))
    context = steps.verifier_context(steps.normalize([post.text for post in posts if post.kept]))
    if blocks_learn(steps.components, learned):
        steps.components.block_index.learn(steps.components.searched(context.texts))
        learned[BLOCKS] = steps.components.block_index.learned()
    for key, verifier in zip(plan.keys, plan.verifiers, strict=True):
        if verifier_part(key) not in learned:
            verifier.prepare(context)
            if keeps_learning(verifier):
                learned[verifier_part(key)] = verifier.learned()


def use_kept(verifier: LearningVerifier, name: str, kept: Arrays) -> None:
    """Pass the learned data ``kept`` to a verifier; WindowError if it rejects this data, such as after an upgrade."""
    try:
        verifier.use_learned(kept)
    except Exception as error:
        raise WindowError(
            f"the learned data of verifier {name} cannot be used: {type(error).__name__}: {error}. Open the "
            "window with the version of the verifier that it was made with, or begin a new store."
        ) from error
