"""Pilot pairs: copies of the corpus's own texts, edited at random, by which a block index plans for a target recall."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from random import Random

import numpy as np

from hybriddup.bands import Bands
from hybriddup.components import Components
from hybriddup.config.settings import CombinedVerifier, LengthBand, Settings
from hybriddup.records import Fingerprints, text_lengths

N_PILOT_PAIRS = 1024
"""Pairs to make: recall near a target of 0.99 is then known to about half a point."""
SEED = 0


def make_pilot(originals: Sequence[str], components: Components) -> tuple[Fingerprints, Fingerprints]:
    """Return the fingerprints of some texts of the corpus, and of an edited copy of each, row by row.

    Copies are edited by up to the share that the threshold of their length allows, most of them by more than half of
    it, one character here and there, which disturbs more n-grams than editing a passage does: an index that finds these
    finds most others. The same texts give the same pairs.
    """
    return as_prints(originals, components), as_prints(edited_copies(originals, components), components)


def edited_copies(originals: Sequence[str], components: Components) -> list[str]:
    """Return an edited copy of each text: those of which `make_pilot` makes the fingerprints."""
    random = Random(SEED)  # noqa: S311  (not for secrets)
    shares = edit_shares(originals, components.settings, components.bands)
    return [edit_text(text, share * sqrt(random.random()), originals, random)
            for text, share in zip(originals, shares, strict=True)]  # fmt: skip


def as_prints(texts: Sequence[str], components: Components) -> Fingerprints:
    """Return the fingerprints of texts outside the run, with the limits of their lengths; positions are 0, 1, 2, ..."""
    simhashes = components.fingerprinter.fingerprint(texts)
    positions = np.arange(len(texts), dtype=np.int64)
    limits = components.bands.limits_of(text_lengths(texts))
    return Fingerprints(positions, simhashes.bits, simhashes.strengths, limits)


def edit_shares(texts: Sequence[str], settings: Settings, bands: Bands) -> list[float]:
    """Return for each text the largest share of its characters that may be replaced under its threshold."""
    share_of_band = [allowed_share(band) for _, band in settings.bands()]
    return [share_of_band[band] for band in bands.of_lengths(text_lengths(texts)).tolist()]


def allowed_share(band: LengthBand) -> float:
    """Return 1 - threshold of the band's verifier, that of the most lenient member where several are combined."""
    if band.verifier is None:
        return 0.0
    verifiers = band.verifier.members if isinstance(band.verifier, CombinedVerifier) else (band.verifier,)
    return 1.0 - min(verifier.threshold for verifier in verifiers)


def edit_text(text: str, share: float, others: Sequence[str], random: Random) -> str:
    """Return the text with a share of its characters replaced by characters of other texts, at least one."""
    characters = list(text)
    n_edits = min(max(1, round(share * len(characters))), len(characters))
    places: set[int] = set()
    while len(places) < n_edits:
        places.add(draw(random, len(characters)))
    for place in sorted(places):
        other = others[draw(random, len(others))]
        characters[place] = other[draw(random, len(other))] if other else " "
    return "".join(characters)


def draw(random: Random, n: int) -> int:
    """Return a random number below ``n``, by the one method whose stream Python promises to keep the same."""
    return int(random.random() * n)
