"""One threshold in the place of those of all length bands, for those who want no configuration of their own."""

from __future__ import annotations

from hybriddup.config.settings import CombinedVerifier, LengthBand, Settings
from hybriddup.errors import ConfigError


def with_threshold(settings: Settings, threshold: float, config: str) -> tuple[Settings, str]:
    """Return the settings with one threshold in all length bands that have a verifier, and what that means, in words.

    Parameters
    ----------
    threshold
        0.0 to 1.0: the lowest score that makes a pair a duplicate, inclusive.
    config
        Name of the configuration, for errors.

    Raises
    ------
    ConfigError
        The threshold is out of range, or a band is judged by several verifiers, or no band by any.
    """
    if not 0 <= threshold <= 1:
        percent = f" {threshold:g} % is {threshold / 100:g}." if 1 < threshold <= 100 else ""
        raise ConfigError(f"the threshold must be from 0.0 to 1.0 (the same text); got {threshold:g}.{percent}")
    meaning: list[str] = []
    lengths: list[LengthBand] = []
    for lower, band in settings.bands():
        texts = f"up to {band.up_to} characters" if band.up_to else "longer" if lower else "all texts"
        if isinstance(band.verifier, CombinedVerifier):
            raise ConfigError(
                f"one threshold is not enough: {config} has several verifiers for a text. Set theirs in your own "
                f"configuration; `hybriddup config init NAME > mine.yaml` writes one to begin with."
            )
        if band.verifier is None:
            meaning.append(f"{texts}: only equal ones")
        else:
            meaning.append(f"{texts}: {band.verifier.use} {threshold:g}")
            band = band.model_copy(update={"verifier": band.verifier.model_copy(update={"threshold": threshold})})
        lengths.append(band)
    if all(band.verifier is None for band in lengths):
        raise ConfigError(f"a threshold changes nothing: by {config}, only equal texts are duplicates.")
    return settings.model_copy(update={"lengths": tuple(lengths)}), "; ".join(meaning)
