"""The scores of labeled pairs, whatever the thresholds are: what curves and tuning go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hybriddup.config.settings import LengthBand, Settings, SingleVerifier
from hybriddup.data.records import Bools, Float64s, Int32s
from hybriddup.plugin.registry import Registry
from hybriddup.run.components import Components
from hybriddup.run.pipeline import DistinctTexts, Run
from hybriddup.run.progress import Clock
from hybriddup.study.evaluate import LabeledPairs, Measures, bands_of, candidates_of, places_among, positions_of_pairs

STEPS = 20
"""Points of a curve."""


class ScoredPairs(NamedTuple):
    """Labeled pairs with the scores of the verifiers of their bands."""

    labels: Bools
    exact: Bools
    """bool[n_pairs]: which are equal."""
    bands: Int32s
    """int32[n_pairs]: the length band that judges each."""
    scores: Float64s
    """float64[n_pairs]: NaN where stage 1 does not propose the pair, or its band has no single verifier."""
    single: list[int]
    """The bands with a single verifier."""
    texts: DistinctTexts
    positions: Any
    """int64[n_pairs, 2]: which of the texts are those of each pair, the smaller number first."""

    def found(self, thresholds: Float64s) -> Bools:
        """Return bool[n_pairs]: which match by a threshold for each band, NaN = none does."""
        return np.asarray(self.exact | (self.scores >= thresholds[self.bands]))


class CurvePoint(NamedTuple):
    """What a threshold reaches, if all length bands have it; None where nothing can be divided."""

    threshold: float
    n_found: int
    precision: float | None
    recall: float | None
    f1: float | None


def curve_of(scored: ScoredPairs) -> tuple[CurvePoint, ...]:
    """Return what thresholds from 0.05 to 1 reach, of the pairs whose length bands have a single verifier."""
    judged = scored.exact | ~np.isnan(scored.scores) | np.isin(scored.bands, scored.single)
    points = []
    for step in range(1, STEPS + 1):
        threshold = step / STEPS
        found = scored.exact | (scored.scores >= threshold)
        measures = Measures.of(found[judged], scored.labels[judged])
        points.append(CurvePoint(threshold, measures.n_found, measures.precision, measures.recall, measures.f1))
    return tuple(points)


def thresholds_of(settings: Settings) -> Float64s:
    """Return float64[n_bands]: the thresholds of single verifiers, NaN for other bands."""
    verifiers = [band.verifier for band in settings.lengths]
    return np.array([one.threshold if isinstance(one, SingleVerifier) else np.nan for one in verifiers])


def with_thresholds(settings: Settings, thresholds: Iterable[float], **options: Any) -> Settings:
    """Return settings with other thresholds of the bands that have a single verifier, of one for each band.

    ``options`` are added to those of each such verifier.
    """

    def changed(band: LengthBand, threshold: float) -> LengthBand:
        verifier = band.verifier
        if not isinstance(verifier, SingleVerifier):
            return band
        update = {"threshold": float(threshold), "options": {**verifier.options, **options}}
        return band.model_copy(update={"verifier": verifier.model_copy(update=update)})

    return settings.model_copy(update={"lengths": tuple(map(changed, settings.lengths, thresholds))})


def open_to_all(settings: Settings) -> Settings:
    """Return settings whose single verifiers accept every pair."""
    return with_thresholds(settings, [0.0] * len(settings.lengths))


def single_bands(lengths: Sequence[LengthBand]) -> list[int]:
    """Return the bands with a single verifier."""
    return [place for place, band in enumerate(lengths) if isinstance(band.verifier, SingleVerifier)]


def score_labeled(pairs: LabeledPairs, settings: Settings, registry: Registry, workers: int) -> ScoredPairs:
    """Return the scores of labeled pairs by the single verifiers of their bands."""
    single = single_bands(settings.lengths)
    run = Run(Components.create(open_to_all(settings), registry, workers), workers, Clock())
    texts = run.distinct_texts([*pairs.a, *pairs.b])
    positions = positions_of_pairs(texts.equal, len(pairs.a))
    exact = positions[:, 0] == positions[:, 1]
    bands = bands_of(run, texts, positions)
    _, verified = run.verifier(texts)(candidates_of(run, texts, positions[~exact & np.isin(bands, single)]))
    known = np.concatenate([verified.scores, [np.nan]])
    return ScoredPairs(pairs.labels, exact, bands, known[places_among(positions, verified)], single, texts, positions)
