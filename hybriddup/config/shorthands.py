"""Expands short forms in a configuration: a component given only by name, and a threshold for one or all bands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hybriddup.config.rules import CHAINS, STEP_ROLES
from hybriddup.steps.options import Fault, Path, quote, spell

THRESHOLD = "threshold"
SCORE = "a number from 0.0 to 1.0 (the same text)"


def spell_out_shorthands(data: Mapping[str, Any], defaults: Mapping[str, Any]) -> tuple[dict[str, Any], list[Fault]]:
    """Expand names to mappings, and move thresholds into the verifiers; return the new configuration and its faults.

    Examples
    --------
    >>> spell_out_shorthands({"tokenizer": "jieba", "lengths": [{"threshold": 0.8}]}, {"lengths": []})[0]
    {'tokenizer': {'use': 'jieba'}, 'lengths': [{'verifier': {'use': 'post', 'threshold': 0.8}}]}
    """
    spelled, faults = dict(data), list[Fault]()
    for key in STEP_ROLES.keys() & data.keys():
        spelled[key] = _component(data[key])
        if key in CHAINS and isinstance(data[key], list):
            spelled[key] = list(map(_component, data[key]))
    of_all = _score(spelled.pop(THRESHOLD, None), (THRESHOLD,), faults)
    bands = data.get("lengths", defaults["lengths"] if of_all is not None else None)
    if isinstance(bands, list):
        spelled["lengths"] = [
            _band(band, ("lengths", number), of_all, "lengths" in data, faults) if isinstance(band, Mapping) else band
            for number, band in enumerate(bands)
        ]
    return spelled, faults


def _component(written: Any) -> Any:
    return {"use": written} if isinstance(written, str) else written


def _band(band: Mapping[str, Any], path: Path, of_all: Any, is_written: bool, faults: list[Fault]) -> dict[str, Any]:
    """Return a copy of a length band, with its threshold moved into its verifier.

    The band's own threshold takes precedence over the verifier's, and the verifier's over ``of_all``, the threshold for
    all bands. If the band is one of the default bands (``is_written`` is false), ``of_all`` takes precedence over the
    verifier's. Faults are added to ``faults``.
    """
    spelled, verifier = dict(band), _component(band.get("verifier"))
    own = _score(spelled.pop(THRESHOLD, None), (*path, THRESHOLD), faults)
    threshold = of_all if own is None else own
    if threshold is None or (own is None and (verifier is None or band.get("exact_only"))):
        return spelled if verifier is None else {**spelled, "verifier": verifier}
    if isinstance(verifier, Mapping) and {"all", "any"} & verifier.keys():
        place = (THRESHOLD,) if own is None else (*path, THRESHOLD)
        faults.append(
            Fault(place, f"{spell(place)} is one threshold, but {spell(path)} has several verifiers; set theirs.")
        )
        return spelled
    verifier = {"use": "post"} if verifier is None else verifier
    if isinstance(verifier, Mapping) and (own is not None or not is_written or THRESHOLD not in verifier):
        verifier = {**verifier, THRESHOLD: threshold}
    return {**spelled, "verifier": verifier}


def _score(value: Any, path: Path, faults: list[Fault]) -> Any:
    """Return a threshold unchanged if it is valid or None; otherwise, add a fault, and return 1.0 as a valid value."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1):
        return value
    faults.append(Fault(path, f"{spell(path)} must be {SCORE}; got {quote(value)}."))
    return 1.0
