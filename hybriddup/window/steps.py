"""The steps that remember nothing: texts to fingerprints, candidate pairs to verified ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from hybriddup.characters import count_classes
from hybriddup.components import Components
from hybriddup.kernels.near_pairs import near_pairs
from hybriddup.number_guard import number_keys, with_same_numbers
from hybriddup.parallel import beside, map_slices
from hybriddup.records import (
    Bools,
    CandidatePairs,
    Fingerprints,
    Int32s,
    Int64s,
    UInt32s,
    UInt64s,
    VerifiedPairs,
    text_lengths,
)
from hybriddup.steps.blocks.join import no_pairs
from hybriddup.steps.blocks.tables import Tables
from hybriddup.steps.deciders import join_candidates
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.window.exact_keys import exact_keys, hash_keys
from hybriddup.window.index.shingles import Shingler

FEWEST_BESIDE = 128
"""Texts for whose sketches and shingles another thread is woken."""
FEWEST_A_SLICE = 1024
"""Posts of a batch that are worth a thread when they are compared with those before them."""

TextsAt = Callable[[Int64s], Sequence[str]]
"""Returns the compared texts at some positions of the window."""


class PreparedTexts(NamedTuple):
    """Texts that are to be looked up, with what the steps made of them."""

    positions: Int64s
    """int64[n], rising; by one in a batch that is decided."""
    normalized: Sequence[str]
    keys: list[tuple[bool, str]]
    """What each must be equal in to be an exact repeat."""
    hashes: UInt64s
    """uint64[n]: of the keys."""
    lengths: Int32s
    prints: Fingerprints
    """Of those that could be near repeats."""
    places: Int64s
    """int64[n_prints]: which texts these are."""
    sketches: UInt64s | None
    """uint64[n_prints, 2]: of their characters; None = nobody asks."""
    shingles: UInt32s | None = None
    """uint32[n_prints, MOST_SHINGLES]: of their texts; None = nobody asks."""

    def without(self, left_out: Bools) -> PreparedTexts:
        """Return these texts with some of them, bool[n], not to be near repeats."""
        rows = np.flatnonzero(~left_out[self.places])
        return self._replace(
            prints=self.prints.take(rows),
            places=self.places[rows],
            sketches=None if self.sketches is None else self.sketches[rows],
            shingles=None if self.shingles is None else self.shingles[rows],
        )


@dataclass(frozen=True)
class Steps:
    """The components of a window, and the work of a batch that needs nothing else."""

    components: Components
    workers: int
    shingler: Shingler = field(default_factory=Shingler)

    def prepare(self, raw: Sequence[str], normalized: Sequence[str], positions: Int64s) -> PreparedTexts:
        """Return normalized texts ready to be looked up, at these positions."""
        workers = self.workers if len(raw) >= FEWEST_BESIDE else 1
        sets = beside(lambda: (self.sketches(normalized), self.shingles(normalized)), workers)
        simhashes, lengths = self.components.fingerprinter.fingerprint(normalized), text_lengths(normalized)
        keys = exact_keys(normalized, raw, simhashes.has_tokens)
        hashes = hash_keys(keys)
        chosen = np.flatnonzero(simhashes.say_something & self.components.bands.may_be_near(lengths))
        prints = Fingerprints(
            positions[chosen],
            simhashes.bits[chosen],
            simhashes.strengths[chosen],
            self.components.bands.limits_of(lengths[chosen]),
        )
        sketches, shingles = sets()
        sketches = None if sketches is None else sketches[chosen]
        shingles = None if shingles is None else shingles[chosen]
        return PreparedTexts(positions, normalized, keys, hashes, lengths, prints, chosen, sketches, shingles)

    def fit(self, texts: Sequence[str]) -> None:
        """Fit the weighter on these texts, in place of what it weighed by before."""
        maker = self.components.fingerprinter
        maker.weighter.fit(maker.tokenizer.tokenize_batch(texts))

    def sketches(self, texts: Sequence[str]) -> UInt64s | None:
        """Return uint64[n, 2]: the sketches of the characters; None where no verifier tells how many are needed."""
        return count_classes(texts, 1).sketches if self.counts_characters else None

    def shingles(self, texts: Sequence[str]) -> UInt32s | None:
        """Return uint32[n, MOST_SHINGLES]: the shingles; None where the live index does not go by them."""
        return self.shingler.shingles(texts) if self.may_use_shingles else None

    def verifier_context(self, texts: Sequence[str]) -> VerifierContext:
        """Return these texts as verifiers look at them."""
        maker = self.components.fingerprinter
        return VerifierContext(texts, maker.tokenizer, maker.n_bits, self.workers)

    @property
    def finds_a_share(self) -> bool:
        """Whether stage 1 promises a share of the pairs only."""
        return self.components.settings.blocks.use == "tables"

    @cached_property
    def may_use_shingles(self) -> bool:
        """Whether the live index may go by shingles: it promises a share, and no option says how to find it."""
        options = self.components.settings.blocks.options
        return self.finds_a_share and not Tables.Options.model_validate(options).is_fixed

    @cached_property
    def counts_characters(self) -> bool:
        """Whether a verifier tells how many characters a pair needs in common."""
        return bool(self.components.bands.least_in_common().any())

    def pairs_within(self, prints: Fingerprints) -> CandidatePairs:
        """Return the pairs among texts of one batch, all of them that are within their limits."""
        lengths, max_distances, max_partner_lengths, _, _ = prints.limits

        def of_slice(first: int, last: int) -> CandidatePairs:
            earlier, later, distances = near_pairs(
                prints.bits, lengths, max_distances, max_partner_lengths, first, last
            )
            return CandidatePairs(prints.positions[earlier], prints.positions[later], distances)

        return join_candidates([no_pairs(), *map_slices(of_slice, len(prints), self.workers, FEWEST_A_SLICE)])

    def verify(self, pairs: CandidatePairs, prepared: PreparedTexts, texts_at: TextsAt) -> VerifiedPairs:
        """Return the pairs that the verifier of their length accepts.

        Parameters
        ----------
        pairs
            Positions; ``later`` is among the prepared texts, ``earlier`` too or in the window.
        """
        local = self.localize(pairs, prepared, texts_at)
        verified = self.components.bands.verify(local.pairs, local.lengths)
        earlier, later = local.positions[verified.earlier], local.positions[verified.later]
        return VerifiedPairs(
            earlier,
            later,
            verified.hamming_distances,
            verified.scores,
            verified.thresholds,
            verified.verifiers,
            verified.length_bands,
        )

    def localize(self, pairs: CandidatePairs, prepared: PreparedTexts, texts_at: TextsAt) -> LocalPairs:
        """Return the pairs by place among the texts that they need, and let the verifiers look at these texts."""
        first, positions = int(prepared.positions[0]), np.unique(np.concatenate([pairs.earlier, pairs.later]))
        n_of_window = int(np.searchsorted(positions, first))
        in_batch = (positions[n_of_window:] - first).tolist()
        texts = [*texts_at(positions[:n_of_window]), *(prepared.normalized[place] for place in in_batch)]
        local = CandidatePairs(
            np.searchsorted(positions, pairs.earlier),
            np.searchsorted(positions, pairs.later),
            pairs.hamming_distances,
        )
        if self.components.settings.numbers_must_match:
            local = with_same_numbers(local, number_keys(texts))
        self.components.plan.renew(self.verifier_context(texts))
        return LocalPairs(local, positions, text_lengths(texts))


class LocalPairs(NamedTuple):
    """Pairs by place among a few texts."""

    pairs: CandidatePairs
    positions: Int64s
    """int64[n_texts]: the position of the text at each place, rising."""
    lengths: Int32s
    """int32[n_texts]."""
