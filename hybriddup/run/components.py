"""The components of a run, created from its settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from hybriddup.config.settings import ComponentSettings, Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import Int64s
from hybriddup.data.spread import spread_rows
from hybriddup.errors import ConfigError
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import RoleName
from hybriddup.run.bands import Bands, JudgePlan, plan_judges
from hybriddup.run.deciding_order import deciding_order
from hybriddup.run.guarding import plan_guards
from hybriddup.run.recipe import (
    BLOCKS,
    WEIGHTS,
    Arrays,
    LearnedRecipe,
    compare_recipes,
    hash_recipe,
    load_recipe,
    recipe_parts,
    verifier_part,
)
from hybriddup.steps.blocks import BlockIndex
from hybriddup.steps.deciding.contest import Limits, most_candidates
from hybriddup.steps.fingerprints import Fingerprinter, Simhashes
from hybriddup.steps.normalizers import Chain, Normalizer
from hybriddup.steps.normalizers.wordless import have_words
from hybriddup.steps.parallel import start_in_background
from hybriddup.steps.posts.parts import bodies_of, body_lengths, words_of
from hybriddup.steps.verifiers import LearningVerifier, VerifierContext, keeps_learning
from hybriddup.steps.verifiers.bounds import texts_at
from hybriddup.steps.weighters import FittedTable, FittedWeighter

LEARNED_FROM = 6000
"""Number of texts that a block index learns from, spread evenly over the corpus."""


@dataclass(frozen=True)
class Components:
    """The components that perform the steps of one run."""

    settings: Settings
    normalizer: Normalizer
    fingerprinter: Fingerprinter
    block_index: BlockIndex
    plan: JudgePlan
    bands: Bands
    learned: LearnedRecipe | None = None
    """The recipe given to the run; None = the components learn from the texts of the run."""

    @classmethod
    def create(cls, settings: Settings, registry: Registry, workers: int) -> Components:
        """Return new components for a run; runs share no component that has state."""

        def make(role: RoleName, chosen: ComponentSettings) -> Any:
            return registry.create_by_name(role, chosen.use, **chosen.options)

        fingerprinter = Fingerprinter(
            tokenizer=make("tokenizer", settings.tokenizer),
            weighter=make("weighter", settings.weighter),
            hasher=make("hasher", settings.hasher),
            n_bits=settings.fingerprint.bits,
            workers=workers,
        )
        plan = plan_judges([band.verifier for band in settings.lengths], partial(make, "verifier"))
        guards = plan_guards(settings.guards(), partial(make, "guard"))
        normalizers = tuple(make("normalizer", chosen) for chosen in settings.normalizers)
        components = cls(
            settings=settings,
            normalizer=Chain(normalizers) if isinstance(settings.normalizer, tuple) else normalizers[0],
            fingerprinter=fingerprinter,
            block_index=make("block_index", settings.blocks),
            plan=plan,
            bands=Bands.from_settings(settings, plan, guards),
        )
        components.block_index.prepare(settings.fingerprint.bits, settings.max_hamming_distance)
        if (path := settings.recipe) is not None:
            return components.with_learned(load_recipe(path), path)
        return components

    def with_learned(self, recipe: LearnedRecipe, name: str) -> Components:
        """Let the components use a learned recipe; return a copy of this collection with ``learned`` set to the recipe.

        Raises ConfigError, which mentions ``name``, if the recipe was learned with other components.
        """
        weighter, learned = self.fingerprinter.weighter, recipe.learned
        if isinstance(weighter, FittedWeighter) and WEIGHTS in learned:
            weighter.use(FittedTable.from_arrays(learned[WEIGHTS]))
        if differences := "; ".join(compare_recipes(self.learned_with(), recipe.parts, "there")):
            raise ConfigError(
                f"recipe: {name} was learned with another configuration: {differences}. Learn it anew with this "
                "configuration, or use the one that it was learned with."
            )
        if self.block_index.learns:
            self.block_index.use_learned(learned.get(BLOCKS, {}))
        for key, verifier in self.learning_verifiers():
            verifier.use_learned(learned.get(verifier_part(key), {}))
        return replace(self, learned=recipe)

    def compared(self, normalized: Sequence[str]) -> Sequence[str]:
        """Return the parts of normalized posts that are compared: only the words, or all text with ``compare: all``."""
        if self.settings.compare == "all":
            return normalized
        return bodies_of(normalized, self.fingerprinter.workers)

    def searched(self, compared: Sequence[str]) -> Sequence[str]:
        """Return the parts of compared texts from which fingerprints and block keys are computed.

        Emoji, links and mentions are left out of texts that also have words, except with ``compare: all``.
        """
        return compared if self.settings.compare == "all" else words_of(compared, self.fingerprinter.workers)

    def fingerprint(
        self, normalized: Sequence[str], searched: Sequence[str], advance: Callable[[int], None] = lambda _: None
    ) -> Simhashes:
        """Return the fingerprints of normalized posts, computed from their ``searched`` parts.

        The fingerprint of a post without words is marked as invalid, as if the post had no tokens, because a normalizer
        may have removed the parts in which such posts differ.
        """
        if all(chosen.use == "none" for chosen in self.settings.normalizers):
            return self.fingerprinter.fingerprint(searched, advance)
        worded = start_in_background(partial(have_words, normalized), self.fingerprinter.workers)
        simhashes = self.fingerprinter.fingerprint(searched, advance)
        return simhashes._replace(has_tokens=simhashes.has_tokens & worded())

    def looked_at(self, normalized: Sequence[str]) -> Int64s | None:
        """Return int64[n], ascending: indices of the posts that are not dropped for lack of text; None = all posts."""
        if self.settings.without_text != "drop":
            return None
        return np.flatnonzero(np.fromiter(map(len, normalized), np.int64, len(normalized)))

    def deciding_order(self, corpus: Corpus, normalized: Sequence[str]) -> Int64s | None:
        """Return int64[n]: indices of the posts in the order to decide them; None = input order.

        Posts of other corpora (``against``) come first.
        """
        workers, n = self.fingerprinter.workers, corpus.n_against
        posts = corpus.take(np.arange(n, len(corpus.texts))) if n else corpus
        order = deciding_order(posts, self.settings.keep_rules, lambda: body_lengths(normalized[n:], workers))
        return order if order is None or not n else np.concatenate([np.arange(n), n + order])

    def verifier_context(self, posts: Sequence[str], compared: Sequence[str], workers: int) -> VerifierContext:
        """Return the input for verifiers, given normalized posts and their compared parts."""
        maker = self.fingerprinter
        whole = None if compared is posts else posts
        return VerifierContext(compared, maker.tokenizer, maker.n_bits, workers, whole)

    def learn_blocks(self, texts: Sequence[str], scopes: Int64s | None = None) -> None:
        """Let the block index learn from a sample of the searched texts, unless there is a learned recipe.

        ``scopes``: int64[n], the scope of each text; texts of different scopes are never compared. None = one scope.
        """
        if not self.block_index.learns or self.learned is not None:
            return
        sample = spread_rows(len(texts), LEARNED_FROM)
        if scopes is None:
            self.block_index.learn(texts_at(texts, sample))
        else:
            self.block_index.learn_within(texts_at(texts, sample), scopes[sample])

    def learned_recipe(self) -> LearnedRecipe:
        """Return the recipe given to the run, if any; otherwise a recipe of the data that these components learned."""
        if self.learned is not None:
            return self.learned
        weighter = self.fingerprinter.weighter
        learned: dict[str, Arrays] = {BLOCKS: self.block_index.learned()}
        if isinstance(weighter, FittedWeighter):
            learned[WEIGHTS] = weighter.table.arrays()
        learned |= {verifier_part(key): verifier.learned() for key, verifier in self.learning_verifiers()}
        return LearnedRecipe(self.learned_with(), {part: arrays for part, arrays in learned.items() if arrays})

    def learned_with(self) -> dict[str, Any]:
        """Return the part of the configuration on which learned data depends, with a checksum of fitted weights."""
        parts = {
            "fingerprint": {} if self.fingerprinter.weighter.needs_fit else self.recipe(),
            "blocks": self.settings.blocks.to_dict() if self.block_index.learns else {},
            "verifiers": [key for key, _ in self.learning_verifiers()],
        }
        plain: dict[str, Any] = json.loads(json.dumps(parts))
        return plain

    def learning_verifiers(self) -> Iterator[tuple[str, LearningVerifier]]:
        """Yield (key, verifier) for each verifier whose learned data can be stored; the key is its name and options."""
        for key, verifier in zip(self.plan.keys, self.plan.verifiers, strict=True):
            if keeps_learning(verifier):
                yield key, verifier

    @property
    def notes(self) -> list[str]:
        """Remarks for the user: warnings about the settings, and notes of the steps."""
        return self.settings.warnings() + self.fingerprinter.notes

    @property
    def limits(self) -> Limits:
        """The limits on the number of texts per block key and the number of candidates per post."""
        most = self.block_index.max_candidates
        return Limits(self.block_index.max_bucket_size, partial(most_candidates, most=most))

    def recipe_id(self) -> str:
        """Return the recipe id of the fingerprints; call it after the weighter is fitted."""
        return hash_recipe(self.recipe())

    def recipe(self) -> dict[str, Any]:
        """Return the recipe of the fingerprints, as plain data; call it after the weighter is fitted."""
        maker = self.fingerprinter
        parts = {
            "normalizer": self.normalizer,
            "tokenizer": maker.tokenizer,
            "weighter": maker.weighter,
            "hasher": maker.hasher,
        }
        return recipe_parts(self.settings, parts)
