"""Length bands at run time: which band judges a pair, and what its limits are for each length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hybriddup.config.settings import Settings
from hybriddup.data.records import Bools, CandidatePairs, Float32s, Int32s, Int64s, PairLimits, UInt64s, VerifiedPairs
from hybriddup.run.judge_plan import JudgePlan
from hybriddup.steps.verifiers import LeastInCommon
from hybriddup.steps.verifiers.number_guard import have_same_numbers, number_keys

EXACT_ONLY = -1
"""The Hamming limit of bands that remove exact repeats only: no distance is within it."""


@dataclass(frozen=True)
class Bands:
    """The length bands of the settings with their judges; band ``i`` ends at ``ends[i]``, inclusive."""

    ends: Int32s
    """int32[n_bands - 1], rising; the last band is open."""
    max_hamming_distances: Int32s
    """int32[n_bands]."""
    numbers_must_match: Bools
    """bool[n_bands]: whether pairs with different numbers are refused."""
    names: tuple[str, ...]
    plan: JudgePlan

    @classmethod
    def from_settings(cls, settings: Settings, plan: JudgePlan) -> Bands:
        """Return the bands of the settings; the plan has one judge a band."""
        bands = list(settings.bands())
        ends = np.array([band.up_to for _, band in bands[:-1]], np.int32)
        limits = [EXACT_ONLY if band.max_hamming_distance is None else band.max_hamming_distance for _, band in bands]
        own = [band.numbers_must_match for _, band in bands]
        guarded = np.array([settings.numbers_must_match if one is None else one for one in own], np.bool_)
        names = tuple(band.name(lower) for lower, band in bands)
        return cls(ends, np.array(limits, np.int32), guarded, names, plan)

    def of_lengths(self, lengths: Int32s) -> Int32s:
        """Return int32[n]: the band of each length."""
        return np.searchsorted(self.ends, lengths).astype(np.int32)

    def names_of(self, lengths: Int32s) -> list[str]:
        """Return the name of the band of each length, int32[n]."""
        return [self.names[band] for band in self.of_lengths(lengths).tolist()]

    def limits_of(self, lengths: Int32s) -> PairLimits:
        """Return what pairs must satisfy whose shorter text has these lengths."""
        bands = self.of_lengths(lengths)
        partners = np.zeros(len(lengths), np.int32)
        for band, judge in enumerate(self.plan.judges):
            chosen = bands == band
            if judge is not None and chosen.any():
                partners[chosen] = judge.max_partner_lengths(lengths[chosen])
        of_shorter, of_longer = (share[bands] for share in self.least_in_common())
        return PairLimits(lengths, self.max_hamming_distances[bands], partners, of_shorter, of_longer)

    def may_be_near(self, lengths: Int32s) -> Bools:
        """Return bool[n]: whether texts of these lengths could be half of a near pair, whatever other texts there are.

        The shorter text of a pair decides, so that a band is enough that is not above the text's own.
        """
        near: Bools = np.maximum.accumulate(self.max_hamming_distances)[self.of_lengths(lengths)] > EXACT_ONLY
        return near

    def number_keys(self, texts: Sequence[str]) -> UInt64s | None:
        """Return uint64[n], what tells the numbers of texts apart; None where no band asks for the same numbers."""
        return number_keys(texts) if self.numbers_must_match.any() else None

    def refused_for_numbers(self, pairs: CandidatePairs, bands: Int32s, keys: UInt64s) -> Bools:
        """Return bool[n_pairs]: which pairs of these bands, int32[n_pairs], their bands refuse for other numbers."""
        return self.numbers_must_match[bands] & ~have_same_numbers(pairs, keys)

    def least_in_common(self) -> Float32s:
        """Return float32[2, n_bands]: how much a pair needs in common, as shares of its shorter and longer text."""
        least = [LeastInCommon() if judge is None else judge.least_in_common() for judge in self.plan.judges]
        return np.array(least, np.float32).T

    def verify(
        self, pairs: CandidatePairs, lengths: Int32s, number_keys: UInt64s | None = None
    ) -> tuple[Bools, VerifiedPairs]:
        """Return bool[n_pairs], which pairs of texts the judge of their band accepts, and these.

        ``lengths`` are int32[n_texts]; ``number_keys`` are what the method of this name returned of the texts.
        """
        bands = self.of_lengths(np.minimum(lengths[pairs.earlier], lengths[pairs.later]))
        accepted = np.ones(len(pairs), np.bool_)
        if number_keys is not None:
            accepted &= ~self.refused_for_numbers(pairs, bands, number_keys)
        asked, bands = pairs.take(accepted), bands[accepted]
        judged = self.plan.judge(asked, bands)
        accepted[accepted] = judged.accepted
        verified = VerifiedPairs(asked.earlier, asked.later, asked.hamming_distances, *judged, bands)
        return accepted, verified.take(judged.accepted)


@dataclass(frozen=True)
class LimitsByLength:
    """The limits of every length that occurs: far fewer than there are texts."""

    limits: PairLimits
    """Those of the lengths that occur, rising."""
    near: Bools
    """bool[n_lengths]: whether a text of that length could be half of a near pair at all."""
    ranks: Int64s
    """int64[n_texts]: which of the lengths that occur each text has."""

    @classmethod
    def of(cls, bands: Bands, lengths: Int32s) -> LimitsByLength:
        """Return the limits of the lengths of these texts."""
        occurs = np.bincount(lengths) > 0
        limits = bands.limits_of(np.flatnonzero(occurs).astype(np.int32))
        return cls(limits, can_be_near(limits), (np.cumsum(occurs) - 1)[lengths])

    def of_texts(self) -> PairLimits:
        """Return the limits of each text."""
        return self.limits.take(self.ranks)

    @property
    def lengths(self) -> Int32s:
        """int32[n_texts]: the length of each text."""
        return self.limits.lengths[self.ranks]

    def is_near(self) -> Bools:
        """Return bool[n_texts]: whether each text could be half of a near pair at all."""
        return self.near[self.ranks]


def can_be_near(limits: PairLimits) -> Bools:
    """Return bool[n]: whether a text could be half of a near pair at all, by the limits of its own length or a shorter.

    Keeps texts that may only be exact repeats out of stage 1.
    """
    allowed = limits.max_hamming_distances >= 0
    order = np.argsort(limits.lengths, kind="stable")
    reaches = np.where(allowed, limits.max_partner_lengths, -1)[order]
    reach_so_far = np.empty(len(order), np.int32)
    reach_so_far[order] = np.maximum.accumulate(reaches)
    near: Bools = allowed | (reach_so_far >= limits.lengths)
    return near
