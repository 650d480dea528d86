"""The weights of tokens in a window: given, or fitted once on its first posts and then frozen with the store.

A weighter that learns from a corpus has none when a window begins: until `FIT_AT` posts have come, every token weighs
what a rare one does. That costs no precision, because the verifier looks at the texts, and nearly no recall, because
so few posts are all compared. Then the weights are fitted on these posts, kept in the store and never changed again,
so that fingerprints stay comparable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hybriddup.errors import ConfigError, WindowError
from hybriddup.run.components import Components
from hybriddup.run.recipe import compare_recipes, pack_arrays, unpack_arrays
from hybriddup.steps.fingerprints import FIT_SAMPLE
from hybriddup.steps.weighters import FittedTable, FittedWeighter
from hybriddup.window.meta import RECIPE, WEIGHTS

FIT_AT = FIT_SAMPLE
"""Posts after which the weights are fitted, and verifiers learn."""


def learns(components: Components) -> bool:
    """Return whether the weights are still to be learned from posts.

    Raises
    ------
    ConfigError
        A weighter of a plugin learns from a corpus, and its weights cannot be kept.
    """
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
    if differences := compare_recipes(json.loads(stored), recipe):
        raise WindowError(
            "the window was made with another recipe: "
            + "; ".join(differences).replace(" in one and ", " in the store and ").replace(" in the other", " here")
            + ". Open it with the configuration that it was made with, or begin a new one under another name."
        )


def fitted_meta(components: Components) -> dict[str, bytes]:
    """Return what the store has to remember when the weights are fitted: the table, and the recipe with it."""
    weighter = components.fingerprinter.weighter
    if not isinstance(weighter, FittedWeighter):
        raise TypeError("only weights that can be kept are fitted")
    return {WEIGHTS: pack_arrays(weighter.table.arrays()), RECIPE: pack_recipe(components.recipe())}
