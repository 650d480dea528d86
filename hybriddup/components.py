"""The components of a run, made from its settings: one of each role, put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hybriddup.bands import Bands
from hybriddup.config.settings import Settings
from hybriddup.plugin.registry import Registry
from hybriddup.recipe import hash_recipe, recipe_parts
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.fingerprints import Fingerprinter
from hybriddup.steps.normalizers import Normalizer
from hybriddup.steps.verifiers.plan import JudgePlan, plan_judges


@dataclass(frozen=True)
class Components:
    """What performs the steps of one run."""

    settings: Settings
    normalizer: Normalizer
    fingerprinter: Fingerprinter
    index: BlockIndex
    plan: JudgePlan
    bands: Bands

    @classmethod
    def create(cls, settings: Settings, registry: Registry, workers: int) -> Components:
        """Return new components for a run; those with state are never shared between runs."""
        fingerprinter = Fingerprinter(
            tokenizer=registry.create("tokenizer", settings.tokenizer),
            weighter=registry.create("weighter", settings.weighter),
            hasher=registry.create("hasher", settings.hasher),
            n_bits=settings.fingerprint.bits,
            workers=workers,
        )
        plan = plan_judges(
            [band.verifier for band in settings.lengths],
            lambda use, options: registry.create_by_name("verifier", use, **options),
        )
        return cls(
            settings=settings,
            normalizer=registry.create("normalizer", settings.normalizer),
            fingerprinter=fingerprinter,
            index=registry.create("block_index", settings.blocks),
            plan=plan,
            bands=Bands.from_settings(settings, plan),
        )

    def recipe_id(self) -> str:
        """Return the id of what makes a fingerprint here; call it after the weighter is fitted."""
        return hash_recipe(self.recipe())

    def recipe(self) -> dict[str, Any]:
        """Return what makes a fingerprint here, as plain data; call it after the weighter is fitted."""
        maker = self.fingerprinter
        parts = {
            "normalizer": self.normalizer,
            "tokenizer": maker.tokenizer,
            "weighter": maker.weighter,
            "hasher": maker.hasher,
        }
        return recipe_parts(self.settings, parts)
