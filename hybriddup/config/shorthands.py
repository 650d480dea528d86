"""Expands short forms in a configuration, and translates the deprecated key that `must_agree` replaces.

The short forms are a component or guard given only by name, the guard ``{words: [...]}``, and a threshold for one or
all length bands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hybriddup.config.guards import MUST_AGREE
from hybriddup.config.rules import CHAINS, STEP_ROLES, combined_by
from hybriddup.steps.options import Fault, Path, fault_at, quote, spell

THRESHOLD = "threshold"
SCORE = "a number from 0.0 to 1.0 (the same text)"
OLD_KEY = "numbers_must_match"
"""Deprecated key, accepted for one more version; true means `STRICT_NUMBERS`, false means no guards."""
STRICT_NUMBERS = {"use": "numbers", "strict": True}


class SpelledOut(NamedTuple):
    """A configuration without short forms: every component and guard is a mapping ``{use: NAME, ...}``."""

    data: dict[str, Any]
    faults: list[Fault]
    remarks: list[str]
    """Deprecation warnings, one sentence each."""


def spell_out(data: Mapping[str, Any], defaults: Mapping[str, Any]) -> SpelledOut:
    """Expand names to mappings, and move thresholds into the verifiers, at the top level and in each length band.

    Examples
    --------
    >>> spell_out({"tokenizer": "jieba", "lengths": [{"threshold": 0.8}]}, {"lengths": []}).data
    {'tokenizer': {'use': 'jieba'}, 'lengths': [{'verifier': {'use': 'post', 'threshold': 0.8}}]}
    >>> spell_out({"must_agree": ["numbers", {"words": ["buy", "sell"]}]}, {}).data
    {'must_agree': [{'use': 'numbers'}, {'use': 'words', 'words': ['buy', 'sell']}]}
    """
    spelled = SpelledOut(dict(data), [], [])
    for key in STEP_ROLES.keys() & data.keys():
        in_chain = key in CHAINS and isinstance(data[key], list)
        spelled.data[key] = list(map(_component, data[key])) if in_chain else _component(data[key])
    _spell_out_guards(spelled.data, (), spelled)
    of_all = _take_threshold(spelled.data, (), spelled.faults)
    bands = data.get("lengths", defaults["lengths"] if of_all is not None else None)
    if isinstance(bands, list):
        spelled.data["lengths"] = [
            _band(band, ("lengths", number), of_all, "lengths" in data, spelled) if isinstance(band, Mapping) else band
            for number, band in enumerate(bands)
        ]
    return spelled


def _component(written: Any) -> Any:
    return {"use": written} if isinstance(written, str) else written


def _guard(written: Any) -> Any:
    is_words = isinstance(written, Mapping) and "words" in written
    return {"use": "words", **written} if is_words else _component(written)


def _spell_out_guards(holder: dict[str, Any], path: Path, spelled: SpelledOut) -> None:
    """Spell out the guards of ``holder``, the top level or a length band, in place; translate the deprecated key."""
    value, guards, place = holder.pop(OLD_KEY, None), holder.get(MUST_AGREE), (*path, OLD_KEY)
    if value is None:
        if isinstance(guards, list):
            holder[MUST_AGREE] = list(map(_guard, guards))
    elif not isinstance(value, bool):
        spelled.faults.append(fault_at(place, f"must be true or false; got {quote(value)}."))
    elif guards is not None:
        spelled.faults.append(fault_at(place, f"is the old name of {MUST_AGREE}; leave it out."))
    else:
        holder[MUST_AGREE] = [dict(STRICT_NUMBERS)] if value else []
        instead = f"{MUST_AGREE}: {'[{use: numbers, strict: true}]' if value else '[]'}"
        spelled.remarks.append(
            f"{spell(place)} is deprecated and will be removed in the next version. Write {instead} instead."
        )


def with_lines_of_guards(lines: Mapping[Path, int]) -> dict[Path, int]:
    """Return a copy of ``lines`` in which each `must_agree` that replaces a deprecated key has the line of that key."""
    old = {(*path[:-1], MUST_AGREE): line for path, line in lines.items() if path and path[-1] == OLD_KEY}
    return old | dict(lines)


def _band(written: Mapping[str, Any], path: Path, of_all: Any, is_written: bool, spelled: SpelledOut) -> dict[str, Any]:
    """Return a copy of a length band without short forms, with its threshold moved into its verifier.

    The band's own threshold takes precedence over the verifier's, and the verifier's over ``of_all``, the threshold for
    all bands. If the band is one of the default bands (``is_written`` is false), ``of_all`` takes precedence over the
    verifier's. Faults and remarks are added to ``spelled``.
    """
    band, verifier = dict(written), _component(written.get("verifier"))
    _spell_out_guards(band, path, spelled)
    own = _take_threshold(band, path, spelled.faults)
    threshold = of_all if own is None else own
    if threshold is None or (own is None and (verifier is None or band.get("exact_only"))):
        return band if verifier is None else {**band, "verifier": verifier}
    if combined_by(verifier):
        place = (THRESHOLD,) if own is None else (*path, THRESHOLD)
        several = f"is one threshold, but {spell(path)} has several verifiers; set theirs."
        spelled.faults.append(fault_at(place, several))
        return band
    verifier = {"use": "post"} if verifier is None else verifier
    if isinstance(verifier, Mapping) and (own is not None or not is_written or THRESHOLD not in verifier):
        verifier = {**verifier, THRESHOLD: threshold}
    return {**band, "verifier": verifier}


def _take_threshold(holder: dict[str, Any], path: Path, faults: list[Fault]) -> Any:
    """Remove the threshold from ``holder`` and return it, None if there is none.

    If it is invalid, add a fault, and return 1.0 as a valid value.
    """
    value, place = holder.pop(THRESHOLD, None), (*path, THRESHOLD)
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1):
        return value
    faults.append(fault_at(place, f"must be {SCORE}; got {quote(value)}."))
    return 1.0
