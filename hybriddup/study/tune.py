"""Fits a configuration to labeled pairs: its thresholds, or the model of the verifier `post`.

Several ways of fitting are compared by cross-validation, and the best one is used. The unchanged configuration wins
unless another way is clearly better, so that tuning on few labels does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hybriddup.config.settings import Settings
from hybriddup.data.records import Bools, Float64s, Int64s, LabeledPairs
from hybriddup.errors import InputError
from hybriddup.plugin.registry import Registry
from hybriddup.run.audit import wilson_interval
from hybriddup.steps.parallel import available_workers
from hybriddup.steps.verifiers.best_threshold import threshold_for
from hybriddup.steps.verifiers.post.features import pair_features
from hybriddup.steps.verifiers.post.fitting import FOLDS, fit_to
from hybriddup.steps.verifiers.post.model import shipped_models
from hybriddup.steps.verifiers.post.verifier import DEFAULT_MODEL
from hybriddup.study.evaluate import Measures, ScoredPairs, score_labeled, single_bands, thresholds_of, with_thresholds

POST = "post"
FEWEST_OF_KIND = 10
"""Minimum number of pairs with each label; with fewer, the pairs cannot be divided into folds."""
FEW = 100
"""Number of pairs below which the user is warned, because the confidence intervals are wider than about 0.1."""
FEWEST_OF_BAND = 20
"""Minimum number of pairs with each label for a length band to get its own threshold."""
FEWEST_TO_REFIT = 60
"""Minimum number of pairs with each label for fitting a new model, which has about 40 weights."""
CLEARLY = 0.005
"""Minimum gain in F1 for a changed configuration to win over the unchanged one."""
N_DRAWN = 1000
"""Number of bootstrap samples for the confidence interval of F1 (Efron 1979)."""
AS_IT_IS = "as it is"


class Interval(NamedTuple):
    """The bounds of a 95 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Reached:
    """Measures with their 95 % confidence intervals; an interval is None if the measure's denominator is 0."""

    measures: Measures
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None

    @classmethod
    def of(cls, found: Bools, labels: Bools) -> Reached:
        """Compute measures and intervals from predictions and true labels, bool[n_pairs] each."""
        measures = Measures.of(found, labels)
        return cls(
            measures,
            Interval(*wilson_interval(measures.n_right, measures.n_found)) if measures.n_found else None,
            Interval(*wilson_interval(measures.n_right, measures.n_wanted)) if measures.n_wanted else None,
            f1_interval(found, labels),
        )


@dataclass(frozen=True)
class BandReached:
    """The measures of one length band before and after tuning."""

    length_band: str
    n_pairs: int
    before: Measures
    after: Measures


@dataclass(frozen=True)
class Tuned:
    """The result of `tune`: a configuration fitted to labeled pairs, and its measures."""

    settings: Settings
    way: str
    """The changed part: ``as it is`` (nothing), ``threshold``, ``threshold of the model NAME``, or ``new model``."""
    before: Reached
    after: Reached
    """Cross-validated measures: each pair is judged by a configuration fitted to other pairs."""
    bands: tuple[BandReached, ...]
    warnings: tuple[str, ...]
    scored: ScoredPairs = field(repr=False)
    """The pairs, scored with the new configuration."""
    wrong: Int64s
    """int64[n], ascending: indices of the pairs that the new configuration misjudges."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data for JSON, without the settings and scores."""
        return {
            "way": self.way,
            "before": asdict(self.before),
            "after": asdict(self.after),
            "warnings": self.warnings,
            "bands": [asdict(band) for band in self.bands],
            "wrong": self.wrong.tolist(),
        }


class Way(NamedTuple):
    """One way of changing the configuration, which can be cross-validated and turned into settings."""

    name: str
    matches: Callable[[Bools], Bools]
    """Function of a mask, bool[n_pairs]: fits to the pairs in the mask, and returns the predictions for all pairs."""
    settings: Callable[[], Settings]
    """Function that fits to all pairs, and returns the changed settings."""


def tune(
    pairs: LabeledPairs,
    settings: Settings,
    registry: Registry,
    *,
    precision: float | None = None,
    workers: int | None = None,
) -> Tuned:
    """Fit the settings to labeled pairs, and measure the result.

    The aim is the highest F1. If ``precision`` (0.0 to 1.0) is given, reaching this precision takes priority.

    Raises
    ------
    InputError
        There are too few pairs of one label, or no length band has exactly one verifier.
    """
    check_pairs(pairs, settings)
    return Tuning(pairs, settings, registry, precision, workers or available_workers()).tuned()


def check_pairs(pairs: LabeledPairs, settings: Settings) -> None:
    """Raise InputError if there are too few pairs of one label, or no length band has exactly one verifier."""
    if fewest_of_kind(pairs.labels) < FEWEST_OF_KIND:
        n_right = int(pairs.labels.sum())
        raise InputError(
            f"tuning needs at least {FEWEST_OF_KIND} pairs that are duplicates and as many that are not; got "
            f"{n_right} and {len(pairs.labels) - n_right}. Judge more pairs."
        )
    if not single_bands(settings):
        raise InputError(
            "no length band of the configuration has a verifier by itself (all: and any: are left alone); give a band "
            "`verifier: {use: NAME, threshold: ...}`."
        )


@dataclass(frozen=True)
class Tuning:
    """Fits a configuration to labeled pairs in several ways, and chooses the best one."""

    pairs: LabeledPairs
    settings: Settings
    registry: Registry
    precision: float | None
    workers: int

    def score(self, settings: Settings) -> ScoredPairs:
        """Score the labeled pairs with these settings."""
        return score_labeled(self.pairs, settings, self.registry, self.workers)

    @cached_property
    def scored(self) -> ScoredPairs:
        """The pairs with their scores before tuning."""
        return self.score(self.settings)

    @cached_property
    def found_before(self) -> Bools:
        """bool[n_pairs]: whether the unchanged configuration finds each pair to be a repeat."""
        return self.scored.found(thresholds_of(self.settings))

    def ways(self) -> Iterator[Way]:
        """Yield the ways of changing the configuration that are compared; the first leaves it unchanged."""
        settings, found = self.settings, self.found_before
        yield Way(AS_IT_IS, lambda _: found, lambda: settings)
        yield self.by_thresholds("threshold", self.scored, settings)
        verifiers = single_bands(settings).values()
        if any(one.use != POST for one in verifiers):
            return
        used = {str(one.options.get("model", DEFAULT_MODEL)) for one in verifiers}
        for model in sorted(set(shipped_models()) - used):
            other = with_thresholds(settings, thresholds_of(settings), model=model)
            yield self.by_thresholds(f"threshold of the model {model}", self.score(other), other)
        yield self.by_new_model()

    def by_thresholds(self, name: str, scored: ScoredPairs, settings: Settings) -> Way:
        """Return the way ``name`` of changing the configuration, which fits one threshold to each of the `band_groups`.

        ``scored`` are the labeled pairs with their scores by ``settings``.
        """

        def thresholds(fitted: Bools) -> Float64s:
            return fit_thresholds(scored, settings, fitted, self.precision)

        def result() -> Settings:
            return with_thresholds(settings, thresholds(np.ones(len(scored.labels), np.bool_)))

        return Way(name, lambda fitted: scored.found(thresholds(fitted)), result)

    def by_new_model(self) -> Way:
        """Return the `Way` that fits a new model of the verifier `post`, and changes the configuration to use it."""
        scored, min_precision = self.scored, self.precision or 0.0
        reached = ~np.isnan(scored.scores) & ~scored.exact
        features = pair_features(scored.texts.context.posts, *scored.positions[reached].T)
        values = np.zeros((len(scored.labels), features.shape[1]))
        values[reached] = features

        def matches(fitted: Bools) -> Bools:
            if fewest_of_kind(scored.labels[fitted & reached]) < FEWEST_TO_REFIT:
                return np.zeros(len(fitted), np.bool_)
            model = fit_to(values[fitted & reached], scored.labels[fitted & reached], min_precision)
            # scores of 0.0 and 1.0 come from rules, which take precedence over the model
            is_ruled = np.isin(scored.scores, (0.0, 1.0))
            scores = np.where(is_ruled, scored.scores, model.scores(values))
            return np.asarray(scored.exact | (reached & (scores >= 0.5)))

        def result() -> Settings:
            model = fit_to(values[reached], scored.labels[reached], min_precision)
            return with_thresholds(self.settings, [0.5] * len(self.settings.lengths), model=model.to_dict())

        return Way("new model", matches, result)

    def tuned(self) -> Tuned:
        """Cross-validate every way of changing the configuration, and return the result of the best one."""
        ways, labels = list(self.ways()), self.pairs.labels
        judged = [cross_validated(way, self.scored) for way in ways]
        chosen = best_of(judged, labels, self.precision)
        settings, after = ways[chosen].settings(), judged[chosen]
        again, before, reached = self.score(settings), Reached.of(self.found_before, labels), Reached.of(after, labels)
        bands = tuple(self.bands_reached(after))
        warnings = warnings_about(self.scored, self.settings, reached.measures.precision, self.precision)
        wrong = np.flatnonzero(again.found(thresholds_of(settings)) != labels)
        return Tuned(settings, ways[chosen].name, before, reached, bands, warnings, again, wrong)

    def bands_reached(self, after: Bools) -> Iterator[BandReached]:
        """Yield the measures before and after tuning of each length band that has pairs.

        ``after``: bool[n_pairs], the predictions after tuning.
        """
        for place, (lower, band) in enumerate(self.settings.bands()):
            inside = self.scored.bands == place
            if inside.any():
                found = (Measures.of(one[inside], self.pairs.labels[inside]) for one in (self.found_before, after))
                yield BandReached(band.name(lower), int(inside.sum()), *found)


def fit_thresholds(scored: ScoredPairs, settings: Settings, fitted: Bools, precision: float | None) -> Float64s:
    """Return float64[n_bands]: the threshold of each length band, fitted to the pairs in the mask ``fitted``.

    The threshold of a band without exactly one verifier is NaN. The aim is the highest F1, but if ``precision`` is
    given, reaching this precision takes priority.
    """
    thresholds = thresholds_of(settings)
    known = fitted & ~np.isnan(scored.scores)
    for bands in band_groups(scored, settings):
        inside = known & np.isin(scored.bands, bands)
        labels = scored.labels[inside]
        if labels.any() and not labels.all():
            thresholds[bands] = threshold_between(scored.scores[inside], labels, precision)
    return thresholds


def band_groups(scored: ScoredPairs, settings: Settings) -> list[list[int]]:
    """Group the length bands that share a threshold; return the indices of the bands in each group.

    A band with at least `FEWEST_OF_BAND` pairs of each label is a group of its own. Other bands are grouped by
    verifier.
    """
    groups: dict[Any, list[int]] = {}
    for band, verifier in single_bands(settings).items():
        labels = scored.labels[(scored.bands == band) & ~np.isnan(scored.scores)]
        has_enough = fewest_of_kind(labels) >= FEWEST_OF_BAND
        groups.setdefault(band if has_enough else (verifier.use, str(verifier.options)), []).append(band)
    return list(groups.values())


def threshold_between(scores: Float64s, labels: Bools, precision: float | None) -> float:
    """Return the threshold with the best F1, halfway between the lowest accepted and the highest rejected score.

    If ``precision`` is given, reaching this precision takes priority.
    """
    lowest = threshold_for(scores, labels, 0.0 if precision is None else precision)
    below = scores[scores < lowest]
    return float(round((lowest + below.max()) / 2, 4)) if len(below) else float(lowest)


def fewest_of_kind(labels: Bools) -> int:
    """Return the number of pairs with the rarer label."""
    n_right = int(labels.sum())
    return min(n_right, len(labels) - n_right)


def cross_validated(way: Way, scored: ScoredPairs) -> Bools:
    """Return bool[n_pairs]: the prediction for each pair, after fitting to the folds that do not contain this pair."""
    found = np.zeros(len(scored.labels), np.bool_)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for others, fold in folds.split(scored.labels, scored.labels):
        fitted = np.zeros(len(found), np.bool_)
        fitted[others] = True
        found[fold] = way.matches(fitted)[fold]
    return found


def best_of(judged: Sequence[Bools], labels: Bools, precision: float | None) -> int:
    """Return the index of the best `Way`: 0, the unchanged configuration, unless another one is clearly better.

    A way that reaches ``precision`` is better than one that does not; among others, F1 decides. ``judged``: the
    predictions of each way, bool[n_pairs].
    """
    measures = [Measures.of(found, labels) for found in judged]
    reached = [round(min(one.precision or 0.0, precision or 0.0), 2) for one in measures]
    f1 = [(one.f1 or 0.0) - (CLEARLY if place else 0.0) for place, one in enumerate(measures)]
    return max(range(len(judged)), key=lambda place: (reached[place], f1[place]))


def warnings_about(
    scored: ScoredPairs, settings: Settings, reached: float | None, required: float | None
) -> tuple[str, ...]:
    """Return a sentence for each warning: precision not reached, few pairs, or length bands that stay unchanged."""
    found = []
    if required is not None and (reached or 0.0) < required:
        found.append(
            f"the required precision, {required:g}, is not reached on held-out pairs: judge more "
            "pairs, or require a higher one, which raises the thresholds."
        )
    n = len(scored.labels)
    if n < FEW:
        found.append(f"{n} pairs are few, so the intervals are wide. {FEW} are enough to start with.")
    left = [place for place in range(len(settings.lengths)) if place not in scored.single]
    n_inside = int((np.isin(scored.bands, left) & ~scored.exact).sum())
    if n_inside:
        names = [band.name(lower) for place, (lower, band) in enumerate(settings.bands()) if place in left]
        found.append(
            f"length bands {', '.join(names)} have no single verifier and stay as they are ({n_inside} pairs)."
        )
    return tuple(found)


def f1_interval(found: Bools, labels: Bools) -> Interval | None:
    """Return the 95 % confidence interval of F1 by the bootstrap; None if F1 is undefined."""
    if not found.any() and not labels.any():
        return None
    drawn = np.random.default_rng(0).integers(0, len(labels), (N_DRAWN, len(labels)))
    right, total = (found & labels)[drawn].sum(axis=1), (found[drawn].sum(axis=1) + labels[drawn].sum(axis=1))
    low, high = np.percentile(2 * right / np.maximum(total, 1), (2.5, 97.5))
    return Interval(float(low), float(high))
