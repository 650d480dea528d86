"""Runs the steps of deduplication in order, from the texts of a corpus to the decisions.

read -> normalize -> exact -> tokenize -> weight -> hash -> fingerprint -> block index -> verify -> decide -> write
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.corpus import Corpus
from hybriddup.data.records import NO_SKETCHES, Bools, CandidatePairs, Int32s, Int64s, UInt64s, VerifiedPairs
from hybriddup.kernels.cache import anchor
from hybriddup.kernels.search.pair_limits import TextColumns, text_columns
from hybriddup.plugin.registry import Registry
from hybriddup.run.assembling import Assembler
from hybriddup.run.audit import COMMON_IN, Audit
from hybriddup.run.bands import Bands
from hybriddup.run.components import Components
from hybriddup.run.decisions import RunDecisions, decide_all
from hybriddup.run.guarding import GuardPlan
from hybriddup.run.near_misses import JudgedPairs
from hybriddup.run.progress import Clock, Progress, note_compiling
from hybriddup.run.recipe import LearnedRecipe
from hybriddup.run.result import TIME_FIELD, Origin, Result
from hybriddup.run.scopes import Scopes, Times, equal_as_exact, order_by_time, part_by_time, scopes_of, times_of
from hybriddup.run.summary import Summary, notes_on_kind, notes_on_lengths, notes_on_markup
from hybriddup.steps.blocks import BlockReport
from hybriddup.steps.candidates.groups import Groups, group_texts
from hybriddup.steps.candidates.run_index import RunIndex
from hybriddup.steps.candidates.sketches import sketch_texts
from hybriddup.steps.deciding.contest import Verify
from hybriddup.steps.deciding.decider import Decider
from hybriddup.steps.deciding.pairs import join_pairs, no_verified_pairs, pair_codes
from hybriddup.steps.exact import EqualTexts, find_equal_texts, part_by_scope, part_without_tokens
from hybriddup.steps.parallel import available_workers, start_in_background, start_in_thread, undisturbed
from hybriddup.steps.verifiers import VerifierContext
from hybriddup.steps.verifiers.bounds import texts_at


def run(
    corpus: Corpus,
    settings: Settings,
    registry: Registry,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    config_name: str = "",
    per: str | None = None,
    time_field: str = TIME_FIELD,
    authors: str | None = None,
    while_auditing: Callable[[Result], object] | None = None,
) -> Result:
    """Decide which posts are kept and which are removed, and why.

    Parameters
    ----------
    workers
        Number of threads, None = one per core; it never changes the result.
    config_name
        Name of the configuration, for the summary.
    per
        A field among the `Corpus.order_values`: a post repeats only posts with the same value of this field.
    time_field
        The field among the `Corpus.order_values` with the times, for ``within`` and reports.
    authors
        The field among the `Corpus.order_values` with the authors, for reports; None = there are no authors.
    while_auditing
        Called with the result as soon as all posts are decided. The summary then lacks the recall, which another thread
        estimates meanwhile. None = call nothing, and estimate the recall with all workers.
    """
    workers = workers or available_workers()
    clock = Clock(progress)

    def dedupe() -> tuple[Result, Audit]:
        with note_compiling(clock.progress.note):
            anchor()  # at the first call of any kernel, numba sets itself up, which belongs to no step of a run
            components = Components.create(settings, registry, workers)
            return Run(components, workers, clock, per, time_field).dedupe(corpus, config_name)

    result, audit = undisturbed(dedupe, clock.stop)
    judge = partial(
        judge_candidates, registry=registry, workers=workers, recipe=result.recipe, per=per, time_field=time_field
    )
    result = replace(result, origin=Origin(corpus, settings, judge, registry, per, time_field, authors))
    if while_auditing is None:
        undisturbed(lambda: audit.add_to(result.summary, workers, clock), clock.stop)
    else:
        own = Clock()  # the progress shows what the caller does
        wait = start_in_thread(lambda: audit.add_to(result.summary, workers, own), workers)
        while_auditing(result)
        undisturbed(wait)
        clock.include(own)
    result.summary.timings[:0] = clock.timings()
    return result


def judge_candidates(
    corpus: Corpus,
    settings: Settings,
    *,
    registry: Registry,
    workers: int,
    recipe: LearnedRecipe | None,
    per: str | None,
    time_field: str,
) -> JudgedPairs:
    """Judge the candidate pairs of a corpus with ``settings`` and the recipe of a run, without removing posts."""
    components = Components.create(settings, registry, workers)
    if recipe is not None:
        components = components.with_learned(recipe, "of the run")
    pairs, guards = undisturbed(lambda: Run(components, workers, Clock(), per, time_field).judge_candidates(corpus))
    return JudgedPairs(pairs, components.plan.names, components.bands.names, guards)


def learn(
    corpus: Corpus, settings: Settings, registry: Registry, workers: int | None, progress: Progress | None = None
) -> LearnedRecipe:
    """Return the recipe that components with these settings learn from the posts; ``workers`` as for `run`."""
    workers, clock = workers or available_workers(), Clock(progress)
    learner = Run(Components.create(settings, registry, workers), workers, clock)
    return undisturbed(lambda: learner.learn(corpus), clock.stop)


@dataclass(frozen=True)
class DistinctTexts:
    """The distinct texts of a run, numbered by first occurrence, with their posts, fingerprints and block keys."""

    equal: EqualTexts
    context: VerifierContext
    """The input of the verifiers, including the texts."""
    searched: Sequence[str]
    """The parts of the texts from which fingerprints and block keys are computed."""
    columns: TextColumns
    """Fingerprints, limits and character sketches of the texts, by which candidate pairs are found."""
    is_near: Bools
    """bool[n]: whether each text could be a near repeat."""
    groups: Groups
    has_common_key: Bools
    """bool[n]: whether each text has a block key that at least `COMMON_IN` texts have."""


@dataclass(frozen=True)
class PairVerifier:
    """Verifies candidate pairs of distinct texts or of posts.

    A pair is rejected if its texts belong to different scopes (values of ``per``).
    """

    bands: Bands
    context: VerifierContext
    scopes: Int64s | None
    """int64[n]: the scope of each distinct text; None = there is one scope."""
    clock: Clock
    text_numbers: Int32s | None = None
    """int32[n_posts]: index of each post's distinct text; None = the pairs are pairs of texts, not of posts."""
    times: Times | None = None
    """Times of the posts or texts of the pairs; None = there is no time limit."""

    def __call__(self, pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs], whether each pair is accepted, and the accepted pairs."""
        of_texts, accepted = pairs, np.ones(len(pairs), np.bool_)
        if self.text_numbers is not None:
            earlier, later = (self.text_numbers[some].astype(np.int64) for some in (pairs.earlier, pairs.later))
            of_texts = CandidatePairs(earlier, later, pairs.hamming_distances)
        if self.times is not None:
            accepted &= self.times.are_close(pairs)
        if self.scopes is not None:
            accepted &= self.scopes[of_texts.earlier] == self.scopes[of_texts.later]
        if not accepted.all():
            of_texts = of_texts.take(accepted)
        with self.clock.part("verify", len(of_texts), "pairs"):
            accepted[accepted], verified = self.bands.verify(of_texts, self.context)
        return accepted, verified.of(pairs.take(accepted))


@dataclass
class Run:
    """Performs the steps of one run over one corpus, with the components and settings of the run."""

    components: Components
    workers: int
    clock: Clock
    per: str | None = None
    time_field: str = TIME_FIELD

    def dedupe(self, corpus: Corpus, config_name: str) -> tuple[Result, Audit]:
        """Run all steps except the audit; return the result, and the audit to run later."""
        normalized = self.normalize(corpus.texts)
        n, looked_at = corpus.n_against, self.components.looked_at(normalized)
        if looked_at is None:
            result, audit = self.dedupe_normalized(corpus, normalized, config_name)
        else:
            chosen, texts = corpus.take(looked_at), texts_at(normalized, looked_at)
            result, audit = self.dedupe_normalized(chosen, texts, config_name)
            result = replace(result, dropped=np.delete(corpus.rows[n:], looked_at[looked_at >= n] - n).tolist())
        result.summary.n_read, result.summary.n_against = len(corpus.texts) - n, n
        result.summary.n_without_text += len(result.dropped)
        result.summary.notes += notes_on_markup(self.components.settings, corpus.texts[n:])
        result.summary.notes += notes_on_kind(self.components.settings, corpus.texts[n:])
        return result, audit

    def dedupe_normalized(self, corpus: Corpus, normalized: Sequence[str], config_name: str) -> tuple[Result, Audit]:
        """Run the steps after normalizing, except the audit; return the result, and the audit to run later."""
        times = self.times(corpus)
        order = self.components.deciding_order(corpus, normalized)
        if times is not None:
            order = order_by_time(corpus, times)
            times = times.take(order)
        raw, normalized = take_texts(corpus.texts, order), take_texts(normalized, order)
        equal = self.find_equal(normalized, raw)
        scopes, known = self.scopes(corpus), equal.text_numbers
        within = None if scopes is None else scopes.numbers if order is None else scopes.numbers[order]
        if times is not None:
            equal = part_by_time(equal, times, within)
        texts = self.fingerprint(equal, normalized, raw, within)
        verify = self.verifier(texts, times)
        of_posts = replace(verify, text_numbers=texts.equal.text_numbers, times=times)
        decisions, report = self.decide(texts, of_posts, corpus.n_against)
        if times is not None:
            decisions = equal_as_exact(decisions, known)
        summary = self.summarize(decisions, report, config_name)
        if scopes is not None:
            summary.notes.append(scopes.note())
        summary.notes += notes_on_lengths(self.components.settings, texts.context.lengths)
        audit = self.audit(texts, decisions, corpus.n_against, verify)
        numbers, lengths = texts.equal.text_numbers, texts.context.lengths
        del texts, of_posts  # the groups need much memory
        assembler = Assembler(corpus, order, numbers, decisions, lengths, self.components)
        with self.clock.step("decide", len(raw)):
            result = assembler.assemble(summary)
        summary.n_without_text = int((lengths[numbers[corpus.n_against :]] == 0).sum())
        return replace(result, recipe=self.components.learned_recipe()), audit

    def scopes(self, corpus: Corpus) -> Scopes | None:
        """Return the scope of each post; posts of different scopes are never compared. None = one scope."""
        return None if self.per is None else scopes_of(self.per, corpus.order_values[self.per])

    def times(self, corpus: Corpus) -> Times | None:
        """Return the times of the posts; None if there is no time limit between repeats."""
        within = self.components.settings.within
        return None if within is None else times_of(corpus, self.time_field, within)

    def learn(self, corpus: Corpus, *, as_decided: bool = False) -> LearnedRecipe:
        """Return the recipe that the components learn from a corpus.

        ``as_decided`` = they learn from the posts in the order of deciding, not in input order.
        """
        normalized = self.normalize(corpus.texts)
        order = self.components.deciding_order(corpus, normalized) if as_decided else None
        raw, normalized = take_texts(corpus.texts, order), take_texts(normalized, order)
        looked_at = self.components.looked_at(normalized)
        raw, normalized = take_texts(raw, looked_at), take_texts(normalized, looked_at)
        texts = take_texts(normalized, self.find_equal(normalized, raw).distinct)
        with self.clock.step("learn", len(texts)):
            compared = self.components.compared(texts)
            self.fit(self.components.searched(compared))
            self.components.plan.prepare(self.components.verifier_context(texts, compared, self.workers))
        return self.components.learned_recipe()

    def judge_candidates(self, corpus: Corpus) -> tuple[VerifiedPairs, list[list[str]]]:
        """Return all candidate pairs that reach their threshold, as indices in the corpus; no post is removed.

        Also return, for each pair, the reasons of the guards that reject it.
        """
        scopes, bands = self.scopes(corpus), self.components.bands
        texts = self.distinct_texts(corpus.texts, None if scopes is None else scopes.numbers)
        unguarded = replace(self.components, bands=replace(bands, guards=GuardPlan()))
        verify, judged = replace(self, components=unguarded).verifier(texts, self.times(corpus)), [no_verified_pairs()]
        numbers, places = texts.equal.text_numbers.astype(np.int64), texts.equal.distinct

        def judge_and_keep_both(pairs: CandidatePairs) -> tuple[Bools, VerifiedPairs]:
            of_texts = CandidatePairs(numbers[pairs.earlier], numbers[pairs.later], pairs.hamming_distances)
            judged.append(verify(of_texts)[1])
            return np.zeros(len(pairs), np.bool_), no_verified_pairs()

        self.decide(texts, judge_and_keep_both, 0)
        found = join_pairs(judged)
        found = found.take(np.unique(pair_codes(found.earlier, found.later), return_index=True)[1])
        guards = bands.guards.reasons_of(texts.context.posts, found.earlier, found.later, found.length_bands)
        return replace(found, earlier=places[found.earlier], later=places[found.later]), guards

    def distinct_texts(self, raw: Sequence[str], scopes: Int64s | None = None) -> DistinctTexts:
        """Normalize and fingerprint posts, given in the order of deciding, and return their distinct texts."""
        normalized = self.normalize(raw)
        return self.fingerprint(self.find_equal(normalized, raw), normalized, raw, scopes)

    def normalize(self, raw: Sequence[str]) -> Sequence[str]:
        """Return the normalized texts."""
        with self.clock.step("normalize", len(raw)):
            return self.components.normalizer.normalize_batch(raw)

    def find_equal(self, normalized: Sequence[str], raw: Sequence[str]) -> EqualTexts:
        """Find the posts with equal texts, which are exact repeats."""
        with self.clock.step("exact", len(raw)):
            return find_equal_texts(normalized, raw, without_text=self.components.settings.without_text)

    def fit(self, searched: Sequence[str], scopes: Int64s | None = None) -> None:
        """Let the weighter and the block index learn from distinct texts, in parallel."""
        learn_blocks = start_in_background(partial(self.components.learn_blocks, searched, scopes), self.workers)
        self.components.fingerprinter.fit(searched)
        learn_blocks()

    def fingerprint(
        self, equal: EqualTexts, normalized: Sequence[str], raw: Sequence[str], scopes: Int64s | None
    ) -> DistinctTexts:
        """Return the distinct texts of each scope, with fingerprints, grouped by block key."""
        texts = take_texts(normalized, equal.distinct)
        with self.clock.step("fingerprint", len(texts)):
            compared = self.components.compared(texts)
            searched = self.components.searched(compared)
            self.fit(searched, None if scopes is None else scopes[equal.distinct])
            simhashes = self.components.fingerprint(texts, searched, self.clock.advance)
        context = self.components.verifier_context(texts, compared, self.workers)
        parted = part_without_tokens(equal, simhashes.has_tokens, raw)
        if scopes is not None:
            parted = part_by_scope(parted, scopes)
            scopes = scopes[parted.distinct]
        bits, comparable = simhashes.bits, simhashes.is_comparable
        if parted is not equal:
            rows = equal.text_numbers[parted.distinct].astype(np.int64)
            context, bits, comparable = context.take(rows), bits[rows], comparable[rows]
            searched = texts_at(searched, rows)
        return self.group(parted, context, searched, bits, comparable, scopes)

    def group(
        self,
        equal: EqualTexts,
        context: VerifierContext,
        searched: Sequence[str],
        bits: UInt64s,
        comparable: Bools,
        scopes: Int64s | None,
    ) -> DistinctTexts:
        """Return the distinct texts, grouped by block key, with the arrays by which candidate pairs are found."""
        texts = context.texts
        limits, ranks = self.components.bands.limits_by_length(context.lengths)
        is_near = comparable & self.components.bands.may_be_near(context.lengths)
        with self.clock.step("block index", len(texts)):
            groups = group_texts(self.components.block_index, searched, bits, is_near, self.workers, scopes)
        with self.clock.step("characters", len(texts)):
            columns = text_columns(bits, limits, NO_SKETCHES, ranks)
            if self.components.bands.least_in_common().any():
                sketch_texts(texts, self.workers, into=columns.sketches)
        has_common_key = groups.with_common_keys(COMMON_IN)
        return DistinctTexts(equal, context, searched, columns, is_near, groups, has_common_key)

    def verifier(self, texts: DistinctTexts, times: Times | None = None) -> PairVerifier:
        """Return a verifier of candidate pairs of distinct texts.

        ``times`` are the times of all posts; None = there is no time limit between repeats.
        """
        with self.clock.part("verify", 0, "pairs"):
            self.components.plan.prepare(texts.context, is_learned=self.components.learned is not None)
        times = None if times is None else times.take(texts.equal.distinct)
        return PairVerifier(self.components.bands, texts.context, texts.groups.scopes, self.clock, times=times)

    def decide(self, texts: DistinctTexts, verify: Verify, n_given: int) -> tuple[RunDecisions, BlockReport]:
        """Decide the posts by finding and verifying candidate pairs; the first ``n_given`` posts are always kept."""
        index, numbers = self.components.block_index, texts.equal.text_numbers
        with self.clock.step("block index", int(texts.is_near[numbers].sum())):
            held = RunIndex(index, texts.groups, texts.columns, texts.searched, numbers, self.workers)
            decider = Decider(held, verify, self.components.limits, held.report, self.workers)
            near, advance = texts.is_near, self.clock.advance
            decided = decide_all(decider, held, near, texts.equal, advance, n_given=n_given)
            report = held.report
            del held, decider  # the decisions about all posts need memory, and no index
            return decided.all(), report

    def summarize(self, decisions: RunDecisions, report: BlockReport, config_name: str) -> Summary:
        """Return the summary without the counts of posts, which `Assembler.assemble` adds."""
        return Summary(
            n_candidate_pairs=decisions.n_verified,
            n_verified_pairs=len(decisions.accepted),
            recipe_id=self.components.recipe_id(),
            config=config_name,
            workers=self.workers,
            blocks=report,
            notes=self.components.notes,
        )

    def audit(self, texts: DistinctTexts, decisions: RunDecisions, n_given: int, verify: PairVerifier) -> Audit:
        """Prepare the audit of a run whose first ``n_given`` posts were kept without being compared."""
        numbers = texts.equal.text_numbers
        kept = np.flatnonzero(decisions.kept & texts.is_near[numbers])
        return Audit(
            texts.columns,
            numbers[kept].astype(np.int64),
            int((~decisions.kept[n_given:]).sum()),
            lambda clock: replace(verify, clock=clock),
            self.components.settings.audit.sample,
            int(np.searchsorted(kept, n_given)),
            texts.has_common_key,
        )


def take_texts(texts: Sequence[str], places: Int64s | None) -> Sequence[str]:
    """Return the texts at the indices ``places``, int64[n]; None = all texts, in order.

    For all texts in order, the result is ``texts`` itself: a copy would cost a cache miss and eight bytes per text.
    """
    if places is None or (len(places) == len(texts) and np.array_equal(places, np.arange(len(texts)))):
        return texts
    return texts_at(texts, places)
