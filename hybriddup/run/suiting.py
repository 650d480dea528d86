"""Whether a configuration suits the texts of a run, by their lengths; their script it tells by itself, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hybriddup.config.settings import Settings, SingleVerifier
from hybriddup.data.records import Int32s

FEWEST_TEXTS = 100
"""With fewer texts nothing is said."""
SHORT = 10
"""Characters of a text that says enough to be compared with others."""
LONG = 1000
"""Characters of a text that is no short one any more: more than any post, message or headline."""


def notes_on_lengths(settings: Settings, lengths: Int32s) -> Iterator[str]:
    """Yield why another configuration might suit the texts better, a sentence each.

    Parameters
    ----------
    lengths
        int32[n_texts]: of the distinct texts, as they are compared.
    """
    lengths = lengths[lengths > 0]
    if len(lengths) < FEWEST_TEXTS:
        return
    median = int(np.median(lengths))
    band = next(band for _, band in settings.bands() if band.up_to is None or median <= band.up_to)
    if band.exact_only and median >= SHORT and any(not one.exact_only for one in settings.lengths):
        yield (
            f"half of the texts have at most {median:,} characters, and of these only equal ones are repeats here; "
            f"weibo, twitter, sms and headlines are made for short texts."
        )
    elif median > LONG and isinstance(band.verifier, SingleVerifier) and band.verifier.use == "post":
        yield (
            f"half of the texts have more than {median:,} characters; the verifier post judges short ones, and the "
            f"configuration articles is made for long ones."
        )
