"""The ten steps in order. Reads like the diagram in README.md; the work is in `hybriddup.steps`.

read -> normalize -> exact -> tokenize -> weight -> hash -> fingerprint -> block index -> verify -> decide -> write
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from hybriddup.audit import estimate_recall
from hybriddup.bands import LimitsByLength
from hybriddup.clock import Clock
from hybriddup.compiler import note_compiling, start_compiler
from hybriddup.components import Components
from hybriddup.config.settings import Settings
from hybriddup.corpus import Corpus
from hybriddup.exact import EqualTexts, find_equal_texts, part_without_tokens
from hybriddup.keep import deciding_order
from hybriddup.number_guard import number_keys, with_same_numbers
from hybriddup.parallel import available_workers
from hybriddup.pilot import N_PILOT_PAIRS, make_pilot
from hybriddup.plugin.registry import Registry
from hybriddup.progress import Progress, Silent
from hybriddup.records import (
    NO_COUNTS,
    CandidatePairs,
    Fingerprints,
    Int32s,
    Int64s,
    VerifiedPairs,
    text_lengths,
)
from hybriddup.result import Assembler, Result
from hybriddup.spread import spread_rows
from hybriddup.steps.blocks import BlockIndex, Expectation
from hybriddup.steps.blocks.length_classes import compatible_share
from hybriddup.steps.deciders import Decisions, Verify, decide
from hybriddup.steps.fingerprints import Simhashes
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import texts_at
from hybriddup.summary import Summary
from hybriddup.waiting import FingerprintQueue

T = TypeVar("T")


def run(
    corpus: Corpus,
    settings: Settings,
    registry: Registry,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    config_name: str = "",
) -> Result:
    """Return what is kept and what is removed of the posts, and why.

    Parameters
    ----------
    workers
        Threads, and processes where a tokenizer needs them; None = one for each core. Never changes the result.
    config_name
        Name of the configuration, for the summary.
    """
    workers = workers or available_workers()
    clock = Clock(progress or Silent())
    with note_compiling(clock.progress):
        start_compiler()
        return Run(Components.create(settings, registry, workers), workers, clock).dedupe(corpus, config_name)


@dataclass
class DistinctTexts:
    """The distinct texts of a run by position, and the fingerprints of those that could be near repeats."""

    context: VerifierContext
    """The texts, as verifiers see them."""
    lengths: Int32s
    """int32[n]: code points."""
    waiting: FingerprintQueue


@dataclass
class Run:
    """One run over one corpus."""

    components: Components
    workers: int
    clock: Clock

    def dedupe(self, corpus: Corpus, config_name: str) -> Result:
        """Return the result of all steps."""
        order = deciding_order(corpus, self.components.settings.keep)
        raw = take_texts(corpus.texts, order)
        self.components.fingerprinter.expect(raw)
        normalized = self.normalize(raw)
        equal = self.find_equal(normalized, raw)
        equal, distinct = self.fingerprint(equal, normalized, raw)
        verify = self.verifier(distinct)
        decisions = self.decide(distinct, verify)
        summary = self.summarize(decisions, config_name)
        n_removed = len(raw) - int(decisions.kept.sum())
        self.audit(decisions, n_removed, verify, summary)
        distinct.context.release()
        assembler = Assembler(corpus, order, equal, decisions, distinct.lengths, self.components.bands)
        with self.clock.step("decide", len(raw)):
            result = assembler.assemble(summary)
        summary.timings = self.clock.timings()
        return result

    def normalize(self, raw: Sequence[str]) -> list[str]:
        """Return the texts in the form in which they are compared."""
        with self.clock.step("normalize", len(raw)):
            return self.components.normalizer.normalize_batch(raw)

    def find_equal(self, normalized: Sequence[str], raw: Sequence[str]) -> EqualTexts:
        """Settle exact repeats."""
        with self.clock.step("exact", len(raw)):
            return find_equal_texts(normalized, raw)

    def fingerprint(
        self, equal: EqualTexts, normalized: Sequence[str], raw: Sequence[str]
    ) -> tuple[EqualTexts, DistinctTexts]:
        """Return the equal texts, with those parted that have no tokens, and the distinct ones with fingerprints."""
        maker = self.components.fingerprinter
        texts = take_texts(normalized, equal.distinct)
        with self.clock.step("fingerprint", len(texts)):
            maker.fit(texts)
            parts = list(maker.fingerprint_parts(texts, self.clock.progress.advance))
        parted = part_without_tokens(equal, np.concatenate([part.has_tokens for part in parts]), raw)
        positions = np.searchsorted(parted.distinct, equal.distinct)
        texts = texts if parted is equal else take_texts(normalized, parted.distinct)
        context = VerifierContext(texts, maker.tokenizer, maker.n_bits, self.workers)
        lengths = text_lengths(texts)
        return parted, DistinctTexts(context, lengths, self.comparable(positions, parts, lengths, context))

    def comparable(
        self, positions: Int64s, parts: list[Simhashes], lengths: Int32s, context: VerifierContext
    ) -> FingerprintQueue:
        """Return the fingerprints that stage 1 should see: those with bits set, of texts that could be near repeats."""
        bands = self.components.bands
        with self.clock.step("verify", 0, "pairs"):
            characters = context.characters if bands.least_in_common().any() else NO_COUNTS
        by_length = LimitsByLength.of(bands, lengths)
        prints: list[Fingerprints] = []
        first = 0
        for part in drain(parts):
            some = positions[first : first + len(part.bits)]
            ranks = by_length.rank_of[lengths[some]]
            chosen = part.say_something & by_length.near[ranks]
            limits = by_length.limits.take(ranks[chosen])
            part = part if chosen.all() else part.take(chosen)
            prints.append(Fingerprints(some[chosen], part.bits, part.strengths, limits, characters))
            first += len(some)
        return FingerprintQueue(prints)

    def verifier(self, distinct: DistinctTexts) -> Verify:
        """Return what verifies candidate pairs, ready to be called."""
        components, texts = self.components, distinct.context.texts
        keys = number_keys(texts) if components.settings.numbers_must_match else None
        with self.clock.step("verify", 0, "pairs"):
            components.plan.prepare(distinct.context)

        def verify(pairs: CandidatePairs) -> VerifiedPairs:
            guarded = pairs if keys is None else with_same_numbers(pairs, keys)
            with self.clock.part("verify", len(pairs)):
                return components.bands.verify(guarded, distinct.lengths)

        return verify

    def prepare_index(self, distinct: DistinctTexts) -> BlockIndex:
        """Return the block index, empty and in the shape that suits these texts."""
        components, n_waiting = self.components, len(distinct.waiting)
        sample = distinct.waiting.take_some(spread_rows(n_waiting, N_PILOT_PAIRS))
        expectation = Expectation(
            n_texts=n_waiting,
            workers=self.workers,
            bits=components.fingerprinter.n_bits,
            max_hamming_distance=components.settings.max_hamming_distance,
            pilot=lambda: make_pilot(texts_at(distinct.context.texts, sample.positions), components),
            compatible_share=compatible_share(sample.limits),
        )
        components.index.prepare(expectation)
        return components.index

    def decide(self, distinct: DistinctTexts, verify: Verify) -> Decisions:
        """Find candidate pairs, verify them and decide, batch by batch."""
        with self.clock.step("block index", len(distinct.waiting)):
            index = self.prepare_index(distinct)
            n_texts = len(distinct.context.texts)
            return decide(distinct.waiting, n_texts, index, verify, self.clock.progress.advance)

    def summarize(self, decisions: Decisions, config_name: str) -> Summary:
        """Return the summary without the counts of posts, which the result brings."""
        return Summary(
            n_candidate_pairs=decisions.n_candidate_pairs,
            n_verified_pairs=len(decisions.verified),
            recipe_id=self.components.recipe_id(),
            config=config_name,
            workers=self.workers,
            blocks=self.components.index.report(),
            notes=self.components.fingerprinter.notes,
        )

    def audit(self, decisions: Decisions, n_removed: int, verify: Verify, summary: Summary) -> None:
        """Estimate the recall of stage 1 into the summary."""
        sample = self.components.settings.audit.sample
        if sample == 0:
            return
        with self.clock.step("audit", min(sample, int(decisions.kept.sum()))):
            estimate = estimate_recall(decisions.kept_prints, n_removed, verify, sample=sample, workers=self.workers)
        if estimate is not None:
            summary.estimated_stage1_recall, summary.estimated_stage1_recall_margin = estimate


def take_texts(texts: Sequence[str], places: Int64s) -> Sequence[str]:
    """Return the texts at these places; the texts themselves where that is all of them in order.

    Each text that is touched costs a miss of the cache, and each list eight bytes a text.
    """
    if len(places) == len(texts) and np.array_equal(places, np.arange(len(texts))):
        return texts
    return texts_at(texts, places)


def drain(parts: list[T]) -> Iterator[T]:
    """Yield the parts in order, forgetting each."""
    parts.reverse()
    while parts:
        yield parts.pop()
