"""What a task needs to make the components of a run, small enough to travel with it."""

from __future__ import annotations

import gc
import json
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from pyspark import TaskContext

from hybriddup.config import open_session
from hybriddup.run.components import Components
from hybriddup.run.recipe import LearnedRecipe, read_recipe


@dataclass(frozen=True)
class Maker:
    """Makes the same components in every process."""

    settings: str
    """As JSON, without a recipe."""
    plugins: tuple[str, ...]
    """Modules that are loaded besides the installed plugins, by name."""
    recipe: bytes
    """What was learned, as `hybriddup.run.recipe.LearnedRecipe.write` writes it."""
    name: str
    """Of the recipe, for errors."""

    @classmethod
    def of(cls, settings: dict[str, Any], plugins: tuple[str, ...], recipe: LearnedRecipe, name: str) -> Maker:
        """Return what makes components with these settings that go by a recipe."""
        packed = BytesIO()
        recipe.write(packed)
        return cls(json.dumps({**settings, "recipe": None}), plugins, packed.getvalue(), name)

    def components(self) -> Components:
        """Return the components, which a process makes once."""
        return _make(self)


@lru_cache(maxsize=2)
def _make(maker: Maker) -> Components:
    settings, manager = open_session(json.loads(maker.settings), maker.plugins)
    recipe = read_recipe(BytesIO(maker.recipe), maker.name)
    components = Components.create(settings, manager.registry, 1).with_learned(recipe, maker.name)
    if TaskContext.get() is not None:
        exempt_from_garbage_collection(components)
    return components


def exempt_from_garbage_collection(components: Components) -> None:
    """Load what components need to work; until others are made, garbage is not looked for in all that is loaded.

    Spark's Python looks for it behind each task. Among these objects, which stay, that takes 0.1 s: 9 of the 96 s that
    two cores worked for a million posts.
    """
    components.fingerprinter.fingerprint(["text"])
    gc.unfreeze()
    gc.collect()  # components made before may be garbage by now
    gc.freeze()
