"""Evaluates a configuration on labeled pairs: precision, recall and F1.

They are computed for the final decision, and for the search for candidate pairs (stage 1) alone.

Each pair is judged as if its two texts were the only posts of a run, but the components are fitted to the texts of all
pairs. Curves and tuning use the scores of the pairs and ignore the configured thresholds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import LengthBand, Settings, SingleVerifier
from hybriddup.data.records import Bools, CandidatePairs, Float64s, Int32s, Int64s, LabeledPairs, VerifiedPairs
from hybriddup.errors import InputError
from hybriddup.kernels.search.key_groups import NO_GROUP
from hybriddup.kernels.search.pair_limits import distances_within
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.pipeline import DistinctTexts, Run
from hybriddup.run.progress import Clock, Progress
from hybriddup.steps.options import quote
from hybriddup.steps.parallel import available_workers
from hybriddup.steps.verifiers.bounds import texts_at

FIELDS = ("a", "b", "label")
"""Keys of a mapping that represents a labeled pair."""
STEPS = 20
"""Number of equally spaced thresholds, the last one 1.0, at which a curve of precision and recall is computed."""


def label_pairs(pairs: Iterable[Any]) -> LabeledPairs:
    """Return labeled pairs from tuples (two texts and a label) or mappings with the fields a, b and label.

    Raises InputError if there are no pairs, or an item is not a labeled pair.
    """
    columns = list(zip(*(fields_of(pair, place) for place, pair in enumerate(pairs)), strict=True))
    if not columns:
        raise InputError("there are no pairs; give tuples of two texts and a label, or mappings with a, b and label.")
    return LabeledPairs(columns[0], columns[1], np.array(columns[2], np.bool_))


def fields_of(pair: Any, place: int) -> tuple[str, str, bool]:
    """Return the two texts and the label of a pair; raise InputError if it is invalid.

    ``place`` is the index of the pair, for the message.
    """
    values = [pair.get(name) for name in FIELDS] if isinstance(pair, Mapping) else pair
    if isinstance(values, (tuple, list)) and len(values) == len(FIELDS):
        a, b, label = values
        if isinstance(a, str) and isinstance(b, str) and label in (True, False, 0, 1):
            return a, b, bool(label)
    raise InputError(
        f"pair {place} must be two texts and a label (True or False), as a tuple or a mapping with a, b and label; got "
        f"{quote(pair)}."
    )


@dataclass(frozen=True)
class Measures:
    """Precision, recall and F1 (0.0 to 1.0), with their counts; None if the denominator is 0."""

    n_found: int
    """Number of pairs that the configuration takes for duplicates."""
    n_right: int
    """Number of pairs counted by `n_found` that are duplicates by their labels (true positives)."""
    n_wanted: int
    """Number of pairs that are duplicates by their labels."""
    precision: float | None
    recall: float | None
    f1: float | None

    @classmethod
    def of(cls, found: Bools, labels: Bools) -> Measures:
        """Compute the measures from predictions and true labels, bool[n_pairs] each.

        Examples
        --------
        >>> Measures.of(np.array([True, True, False]), np.array([True, False, False])).precision
        0.5
        """
        n_found, n_wanted, n_right = int(found.sum()), int(labels.sum()), int((found & labels).sum())
        shares = ((n_right, n_found), (n_right, n_wanted), (2 * n_right, n_found + n_wanted))
        return cls(n_found, n_right, n_wanted, *(part / whole if whole else None for part, whole in shares))


@dataclass(frozen=True)
class BandMeasures:
    """Measures over the pairs of one length band, or over all pairs."""

    length_band: str
    """Band of the shorter text after normalizing, such as ``7-20``; ``all`` for all pairs."""
    n_pairs: int
    decision: Measures
    stage_1: Measures
    """Measures of the search for candidates alone: exact repeats and candidate pairs count as predicted duplicates."""


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`."""

    total: BandMeasures
    bands: tuple[BandMeasures, ...]
    """Measures of each length band, shortest first."""
    recipe_id: str
    missed: Int64s
    """int64[n], ascending: indices of the pairs that are false negatives."""
    mistaken: Int64s
    """int64[n], ascending: indices of the pairs that are false positives."""

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain data for JSON."""
        return {**asdict(self), "missed": self.missed.tolist(), "mistaken": self.mistaken.tolist()}


def evaluate(
    pairs: LabeledPairs,
    settings: Settings,
    registry: Registry,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Evaluate the settings on labeled pairs.

    A weighter that learns from a corpus learns from the texts of all pairs.
    """
    workers = workers or available_workers()
    run = Run(Components.create(settings, registry, workers), workers, Clock(progress))
    texts, pair_positions, exact, band_of = distinct_pairs(run, pairs)
    candidates = candidates_of(run, texts, pair_positions[~exact])
    _, verified = run.verifier(texts)(candidates)
    found = exact | (places_among(pair_positions, verified) >= 0)
    stage_1 = exact | (places_among(pair_positions, candidates) >= 0)
    names = run.components.bands.names

    def measured(name: str, chosen: Bools) -> BandMeasures:
        of_steps = (Measures.of(step[chosen], pairs.labels[chosen]) for step in (found, stage_1))
        return BandMeasures(name, int(chosen.sum()), *of_steps)

    total = measured("all", np.ones(len(exact), np.bool_))
    bands = tuple(measured(name, band_of == band) for band, name in enumerate(names))
    missed, mistaken = np.flatnonzero(pairs.labels & ~found), np.flatnonzero(found & ~pairs.labels)
    return Evaluation(total, bands, run.components.recipe_id(), missed, mistaken)


def distinct_pairs(run: Run, pairs: LabeledPairs) -> tuple[DistinctTexts, Int64s, Bools, Int32s]:
    """Return the distinct texts of labeled pairs, and for each pair three columns.

    These are int64[n_pairs, 2], the indices of the two texts, the smaller index first; bool[n_pairs], whether the texts
    are equal; and int32[n_pairs], the index of the length band of the shorter text.
    """
    texts = run.distinct_texts([*pairs.a, *pairs.b])
    positions = np.sort(texts.equal.text_numbers.astype(np.int64).reshape(2, len(pairs.a)).T, axis=1)
    shorter = texts.context.lengths[positions].min(axis=1, initial=np.iinfo(np.int32).max)
    return texts, positions, positions[:, 0] == positions[:, 1], run.components.bands.of_lengths(shorter)


def candidates_of(run: Run, texts: DistinctTexts, wanted: Int64s) -> CandidatePairs:
    """Return the pairs in ``wanted`` that share a block key and are within the Hamming limit of their length band.

    ``wanted``: int64[n, 2], the indices of the two texts of each pair, the smaller index first.
    """
    earlier, later = np.unique(wanted, axis=0).T
    groups, columns = texts.groups, texts.columns
    later_texts = texts_at(texts.searched, later)
    own, probed = groups.of(earlier), groups.probed(run.components.block_index, later, later_texts, columns.bits[later])
    shares = ((own[:, :, None] == probed[:, None, :]) & (own != NO_GROUP)[:, :, None]).any(axis=(1, 2))
    rows = np.ascontiguousarray(earlier), np.ascontiguousarray(later)
    distances = distances_within(columns, *rows)
    pairs = CandidatePairs(earlier, later, distances.astype(np.int32))
    return pairs.take(shares & (distances >= 0) & texts.is_near[earlier] & texts.is_near[later])


def places_among(pairs: Int64s, others: CandidatePairs | VerifiedPairs) -> Int64s:
    """Return int64[n_pairs]: the index of each pair in ``others``; -1 if the pair is missing.

    ``pairs``: int64[n_pairs, 2], the indices of the two texts of each pair, the smaller index first.
    """
    listed = zip(others.earlier.tolist(), others.later.tolist(), strict=True)
    place_of = {pair: place for place, pair in enumerate(listed)}
    return np.array([place_of.get((a, b), -1) for a, b in pairs.tolist()], np.int64)


class ScoredPairs(NamedTuple):
    """Labeled pairs, each with the score by the verifier of its length band."""

    labels: Bools
    exact: Bools
    """bool[n_pairs]: whether the texts are equal after normalizing."""
    bands: Int32s
    """int32[n_pairs]: index of each pair's length band."""
    scores: Float64s
    """float64[n_pairs]: the score of each pair; NaN for exact repeats, pairs that the search for candidates misses, and
    pairs in bands with no verifier or a combination of several."""
    single: list[int]
    """Indices of the bands with exactly one verifier."""
    texts: DistinctTexts
    positions: Any
    """int64[n_pairs, 2]: indices in ``texts`` of each pair's two texts, the smaller index first."""

    def found(self, thresholds: Float64s) -> Bools:
        """Return bool[n_pairs]: whether each pair matches at these thresholds.

        ``thresholds``: float64[n_bands], NaN = only exact repeats match in the band.
        """
        return np.asarray(self.exact | (self.scores >= thresholds[self.bands]))


class CurvePoint(NamedTuple):
    """Precision, recall and F1 if all length bands use this ``threshold``; None if the denominator is 0."""

    threshold: float
    n_found: int
    precision: float | None
    recall: float | None
    f1: float | None


def curve_of(scored: ScoredPairs) -> tuple[CurvePoint, ...]:
    """Return precision, recall and F1 at each of the thresholds 0.05, 0.1, ..., 1.0.

    Pairs are left out if their length band has no verifier or a combination of several, unless they are exact repeats.
    """
    judged = scored.exact | ~np.isnan(scored.scores) | np.isin(scored.bands, scored.single)
    points = []
    for step in range(1, STEPS + 1):
        threshold = step / STEPS
        found = scored.exact | (scored.scores >= threshold)
        measures = Measures.of(found[judged], scored.labels[judged])
        points.append(CurvePoint(threshold, measures.n_found, measures.precision, measures.recall, measures.f1))
    return tuple(points)


def thresholds_of(settings: Settings) -> Float64s:
    """Return float64[n_bands]: threshold of each band with exactly one verifier, NaN for other bands."""
    verifiers = [band.verifier for band in settings.lengths]
    return np.array([one.threshold if isinstance(one, SingleVerifier) else np.nan for one in verifiers])


def with_thresholds(settings: Settings, thresholds: Iterable[float], **options: Any) -> Settings:
    """Return a copy of the settings with new thresholds, one per length band.

    Only bands with exactly one verifier change. ``options`` are added to the options of these verifiers.
    """

    def changed(band: LengthBand, threshold: float) -> LengthBand:
        verifier = band.verifier
        if not isinstance(verifier, SingleVerifier):
            return band
        update = {"threshold": float(threshold), **options}
        return band.model_copy(update={"verifier": verifier.model_copy(update=update)})

    return settings.model_copy(update={"lengths": tuple(map(changed, settings.lengths, thresholds))})


def open_to_all(settings: Settings) -> Settings:
    """Return a copy of the settings in which all bands with exactly one verifier accept every pair (threshold 0.0)."""
    return with_thresholds(settings, [0.0] * len(settings.lengths))


def single_bands(settings: Settings) -> dict[int, SingleVerifier]:
    """Return the verifier of each length band with exactly one, not a combination, by the index of the band."""
    verifiers = (band.verifier for band in settings.lengths)
    return {place: one for place, one in enumerate(verifiers) if isinstance(one, SingleVerifier)}


def score_labeled(pairs: LabeledPairs, settings: Settings, registry: Registry, workers: int) -> ScoredPairs:
    """Score each labeled pair whose length band has exactly one verifier, not a combination of several."""
    single = list(single_bands(settings))
    run = Run(Components.create(open_to_all(settings), registry, workers), workers, Clock())
    texts, positions, exact, bands = distinct_pairs(run, pairs)
    _, verified = run.verifier(texts)(candidates_of(run, texts, positions[~exact & np.isin(bands, single)]))
    known = np.concatenate([verified.scores, [np.nan]])
    return ScoredPairs(pairs.labels, exact, bands, known[places_among(positions, verified)], single, texts, positions)
