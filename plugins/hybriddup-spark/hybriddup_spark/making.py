"""What a task needs to make the components of a run, small enough to travel with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from hybriddup.config import open_session
from hybriddup.run.components import Components
from hybriddup.run.learned import LearnedRecipe, read_recipe


@dataclass(frozen=True)
class Maker:
    """Makes the same components in every process."""

    settings: str
    """As JSON, without a recipe."""
    plugins: tuple[str, ...]
    """Modules that are loaded besides the installed plugins, by name."""
    recipe: bytes
    """What was learned, as `hybriddup.run.learned.LearnedRecipe.write` writes it."""
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
    return Components.create(settings, manager.registry, 1).with_learned(recipe, maker.name)
