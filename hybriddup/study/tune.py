"""Fitting a configuration to pairs that its user has judged: thresholds, or the model of `post`.

Several ways of deciding are tried on folds of the pairs, each fitted to the other folds, and the best one is taken; the
configuration as it is wins where none is clearly better, so that few labels do no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hybriddup.config.settings import Settings, SingleVerifier
from hybriddup.data.records import Bools, Float64s, Int64s
from hybriddup.errors import InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.audit import wilson_interval
from hybriddup.steps.parallel import available_workers
from hybriddup.steps.verifiers.best_threshold import threshold_for
from hybriddup.steps.verifiers.post.features import pair_features
from hybriddup.steps.verifiers.post.fitting import FOLDS, fit_to
from hybriddup.steps.verifiers.post.model import shipped_models
from hybriddup.steps.verifiers.post.verifier import DEFAULT_MODEL
from hybriddup.study.evaluate import (
    LabeledPairs,
    Measures,
    ScoredPairs,
    score_labeled,
    single_bands,
    thresholds_of,
    with_thresholds,
)

POST = "post"
FEWEST_OF_KIND = 10
"""Pairs of either label: with fewer there is nothing to divide into folds."""
FEW = 100
"""Pairs below which a warning says so: intervals are then some .1 wide."""
FEWEST_OF_BAND = 20
"""Pairs of either label that a length band needs for a threshold of its own."""
FEWEST_TO_REFIT = 60
"""Pairs of either label that a new model needs: it has some 80 weights."""
CLEARLY = 0.005
"""F1 by which another way has to be better than the configuration as it is."""
N_DRAWN = 1000
"""Times that pairs are drawn again to tell the interval of F1 (the bootstrap, Efron 1979)."""
AS_IT_IS = "as it is"


class Interval(NamedTuple):
    """The bounds of a 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Reached:
    """Measures with their 95 % intervals; None where nothing can be divided."""

    measures: Measures
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None

    @classmethod
    def of(cls, found: Bools, labels: Bools) -> Reached:
        """Return the measures of the answers ``found`` to the questions ``labels``."""
        measures = Measures.of(found, labels)
        return cls(
            measures,
            Interval(*wilson_interval(measures.n_right, measures.n_found)) if measures.n_found else None,
            Interval(*wilson_interval(measures.n_right, measures.n_wanted)) if measures.n_wanted else None,
            f1_interval(found, labels),
        )


@dataclass(frozen=True)
class BandReached:
    """What one length band reaches, before and after."""

    length_band: str
    n_pairs: int
    before: Measures
    after: Measures


@dataclass(frozen=True)
class Tuned:
    """A configuration that was fitted to labeled pairs, and what it reaches."""

    settings: Settings
    way: str
    """What was changed: ``as it is``, ``threshold``, ``threshold of the model NAME``, or ``new model``."""
    before: Reached
    after: Reached
    """Of pairs that were judged by what was fitted to other ones."""
    bands: tuple[BandReached, ...]
    warnings: tuple[str, ...]
    scored: ScoredPairs = field(repr=False)
    """The pairs with their scores by the new configuration."""
    wrong: Int64s
    """int64: indices of the pairs that it judges wrongly."""

    def to_dict(self) -> dict[str, Any]:
        """Return what was reached as plain data that JSON can hold, without the settings."""
        return {
            "way": self.way,
            "before": asdict(self.before),
            "after": asdict(self.after),
            "warnings": self.warnings,
            "bands": [asdict(band) for band in self.bands],
            "wrong": self.wrong.tolist(),
        }


class Way(NamedTuple):
    """One way of deciding: what it says of pairs when it was fitted to others, and the settings that it comes to."""

    name: str
    matches: Callable[[Bools, Bools], Bools]
    """Returns, of the pairs bool[n] of the second argument, which match by what was fitted to those of the first."""
    settings: Callable[[], Settings]


def tune(
    pairs: LabeledPairs,
    settings: Settings,
    registry: Registry,
    *,
    precision: float | None = None,
    workers: int | None = None,
) -> Tuned:
    """Return settings that judge labeled pairs better, and what they reach.

    Where a precision is asked for, 0.0 to 1.0, as much of it as can be reached counts first, and then the best F1.
    InputError where there are too few pairs of one label, or no length band has a single verifier.
    """
    check_pairs(pairs, settings)
    workers = workers or available_workers()
    scored = score_labeled(pairs, settings, registry, workers)
    ways = [unchanged(scored, settings), *ways_of(pairs, scored, settings, registry, precision, workers)]
    judged = [cross_validated(way, scored) for way in ways]
    chosen = best_of(judged, scored.labels, precision)
    return describe(pairs, scored, ways[chosen], judged[chosen], registry, workers, settings, precision)


def check_pairs(pairs: LabeledPairs, settings: Settings) -> None:
    """Refuse what nothing can be learned from."""
    if fewest_of_kind(pairs.labels) < FEWEST_OF_KIND:
        n_right = int(pairs.labels.sum())
        raise InputError(
            f"tuning needs at least {FEWEST_OF_KIND} pairs that are duplicates and as many that are not; got "
            f"{n_right} and {len(pairs.labels) - n_right}. Judge more pairs."
        )
    if not single_bands(settings.lengths):
        raise InputError(
            "no length band of the configuration has a verifier by itself (all: and any: are left alone); give a band "
            "`verifier: {use: NAME, threshold: ...}`."
        )


def unchanged(scored: ScoredPairs, settings: Settings) -> Way:
    """Return the configuration as it is."""
    found = scored.found(thresholds_of(settings))
    return Way(AS_IT_IS, lambda _, asked: found[asked], lambda: settings)


def ways_of(
    pairs: LabeledPairs,
    scored: ScoredPairs,
    settings: Settings,
    registry: Registry,
    precision: float | None,
    workers: int,
) -> list[Way]:
    """Return the ways of deciding to try besides the configuration as it is."""
    ways = [by_thresholds("threshold", scored, settings, precision)]
    verifiers = [settings.lengths[band].verifier for band in single_bands(settings.lengths)]
    if any(not isinstance(one, SingleVerifier) or one.use != POST for one in verifiers):
        return ways
    used = {str(one.options.get("model", DEFAULT_MODEL)) for one in verifiers if isinstance(one, SingleVerifier)}
    for model in sorted(set(shipped_models()) - used):
        other = with_thresholds(settings, thresholds_of(settings), model=model)
        by_model = score_labeled(pairs, other, registry, workers)
        ways.append(by_thresholds(f"threshold of the model {model}", by_model, other, precision))
    return [*ways, by_new_model(scored, settings, precision)]


def by_thresholds(name: str, scored: ScoredPairs, settings: Settings, precision: float | None) -> Way:
    """Return the way of looking for thresholds: one of each band with enough pairs, and one of all others together."""

    def thresholds(fitted: Bools) -> Float64s:
        return fit_thresholds(scored, settings, fitted, precision)

    def matches(fitted: Bools, asked: Bools) -> Bools:
        return scored.found(thresholds(fitted))[asked]

    def result() -> Settings:
        return with_thresholds(settings, thresholds(np.ones(len(scored.labels), np.bool_)))

    return Way(name, matches, result)


def fit_thresholds(scored: ScoredPairs, settings: Settings, fitted: Bools, precision: float | None) -> Float64s:
    """Return float64[n_bands]: thresholds fitted to some pairs, NaN for bands without a single verifier."""
    thresholds = thresholds_of(settings)
    known = fitted & ~np.isnan(scored.scores)
    for bands in band_groups(scored, settings):
        inside = known & np.isin(scored.bands, bands)
        labels = scored.labels[inside]
        if labels.any() and not labels.all():
            thresholds[bands] = threshold_between(scored.scores[inside], labels, precision)
    return thresholds


def band_groups(scored: ScoredPairs, settings: Settings) -> list[list[int]]:
    """Return the bands that have one threshold: each with enough pairs alone, the others by verifier."""
    groups: dict[Any, list[int]] = {}
    for band in single_bands(settings.lengths):
        labels = scored.labels[(scored.bands == band) & ~np.isnan(scored.scores)]
        verifier = settings.lengths[band].verifier
        assert isinstance(verifier, SingleVerifier)  # noqa: S101  (single_bands says so)
        has_enough = fewest_of_kind(labels) >= FEWEST_OF_BAND
        groups.setdefault(band if has_enough else (verifier.use, str(verifier.options)), []).append(band)
    return list(groups.values())


def threshold_between(scores: Float64s, labels: Bools, precision: float | None) -> float:
    """Return the threshold of the best F1, midway between the lowest score that matches and the next one below."""
    lowest = threshold_for(scores, labels, 0.0 if precision is None else precision)
    below = scores[scores < lowest]
    return float(round((lowest + below.max()) / 2, 4)) if len(below) else float(lowest)


def by_new_model(scored: ScoredPairs, settings: Settings, precision: float | None) -> Way:
    """Return the way of fitting a new model of `post`."""
    reached = ~np.isnan(scored.scores) & ~scored.exact
    features = pair_features(scored.texts.context.posts, *scored.positions[reached].T)
    values = np.zeros((len(scored.labels), features.shape[1]))
    values[reached] = features
    asked_precision = 0.0 if precision is None else precision

    def matches(fitted: Bools, asked: Bools) -> Bools:
        if fewest_of_kind(scored.labels[fitted & reached]) < FEWEST_TO_REFIT:
            return np.zeros(int(asked.sum()), np.bool_)
        model = fit_to(values[fitted & reached], scored.labels[fitted & reached], asked_precision, 0)
        scores = np.where(
            np.isin(scored.scores, (0.0, 1.0)), scored.scores, model.scores(values)
        )  # rules before models
        return np.asarray(scored.exact | (reached & (scores >= 0.5)))[asked]

    def result() -> Settings:
        model = fit_to(values[reached], scored.labels[reached], asked_precision, 0)
        return with_thresholds(settings, [0.5] * len(settings.lengths), model=model.to_dict())

    return Way("new model", matches, result)


def fewest_of_kind(labels: Bools) -> int:
    """Return how many pairs there are of the label that has fewer."""
    n_right = int(labels.sum())
    return min(n_right, len(labels) - n_right)


def cross_validated(way: Way, scored: ScoredPairs) -> Bools:
    """Return bool[n_pairs]: what a way of deciding says of each pair when it is fitted to other folds."""
    found = np.zeros(len(scored.labels), np.bool_)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for others, fold in folds.split(scored.labels, scored.labels):
        fitted, asked = np.zeros(len(found), np.bool_), np.zeros(len(found), np.bool_)
        fitted[others], asked[fold] = True, True
        found[asked] = way.matches(fitted, asked)
    return found


def best_of(judged: Sequence[Bools], labels: Bools, precision: float | None) -> int:
    """Return which way is best; the first, the configuration as it is, unless another one is clearly better."""
    measures = [Measures.of(found, labels) for found in judged]
    reached = [round(min(one.precision or 0.0, precision or 0.0), 2) for one in measures]
    f1 = [(one.f1 or 0.0) - (CLEARLY if place else 0.0) for place, one in enumerate(measures)]
    return max(range(len(judged)), key=lambda place: (reached[place], f1[place]))


def describe(
    pairs: LabeledPairs,
    scored: ScoredPairs,
    way: Way,
    after: Bools,
    registry: Registry,
    workers: int,
    before: Settings,
    precision: float | None,
) -> Tuned:
    """Return the outcome of a way of deciding."""
    settings, labels = way.settings(), pairs.labels
    again = score_labeled(pairs, settings, registry, workers)
    found_before, found = scored.found(thresholds_of(before)), again.found(thresholds_of(settings))
    bands = tuple(
        BandReached(
            name,
            int(inside.sum()),
            Measures.of(found_before[inside], labels[inside]),
            Measures.of(after[inside], labels[inside]),
        )
        for name, inside in bands_with_pairs(scored, before)
    )
    reached = Reached.of(after, labels)
    return Tuned(
        settings,
        way.name,
        Reached.of(found_before, labels),
        reached,
        bands,
        warnings_about(scored, before, reached.measures.precision, precision),
        again,
        np.flatnonzero(found != labels),
    )


def bands_with_pairs(scored: ScoredPairs, settings: Settings) -> list[tuple[str, Bools]]:
    """Return each length band by name, and which pairs it judges."""
    named = [(band.name(lower), scored.bands == place) for place, (lower, band) in enumerate(settings.bands())]
    return [(name, inside) for name, inside in named if inside.any()]


def warnings_about(
    scored: ScoredPairs, settings: Settings, reached: float | None, asked: float | None
) -> tuple[str, ...]:
    """Return what to keep in mind about the outcome and the precision that it reaches, a sentence each."""
    found = []
    if asked is not None and (reached or 0.0) < asked:
        found.append(
            f"the precision asked for, {asked:g}, is not reached on pairs that nothing was fitted to: judge more "
            "pairs, or ask for a higher one, which raises the thresholds."
        )
    n = len(scored.labels)
    if n < FEW:
        found.append(f"{n} pairs are few: the intervals tell how little is known. {FEW} are enough to begin with.")
    left = [place for place in range(len(settings.lengths)) if place not in scored.single]
    n_inside = int((np.isin(scored.bands, left) & ~scored.exact).sum())
    if n_inside:
        names = [band.name(lower) for place, (lower, band) in enumerate(settings.bands()) if place in left]
        found.append(
            f"length bands {', '.join(names)} have no single verifier and stay as they are ({n_inside} pairs)."
        )
    return tuple(found)


def f1_interval(found: Bools, labels: Bools) -> Interval | None:
    """Return the 95 % interval of F1 by the bootstrap; None where nothing can be divided."""
    if not found.any() and not labels.any():
        return None
    drawn = np.random.default_rng(0).integers(0, len(labels), (N_DRAWN, len(labels)))
    right, total = (found & labels)[drawn].sum(axis=1), (found[drawn].sum(axis=1) + labels[drawn].sum(axis=1))
    low, high = np.percentile(2 * right / np.maximum(total, 1), (2.5, 97.5))
    return Interval(float(low), float(high))
