"""Expands the short forms of the key `must_agree`, and translates the deprecated key that it replaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hybriddup.steps.options import Fault, Path, quote, spell

MUST_AGREE = "must_agree"
OLD_KEY = "numbers_must_match"
"""Deprecated key, accepted for one more version; true means `STRICT_NUMBERS`, false means no guards."""
STRICT_NUMBERS = {"use": "numbers", "strict": True}

BLINDED_BY = {
    "numbers": ("digits", {"mask"}),
    "links": ("urls", {"mask"}),
    "mentions": ("mentions", {"mask"}),
    "emoji": ("emoji", {"mask", "drop"}),
}
"""Maps a guard to a normalizer option, and to the values of this option that remove everything the guard compares."""
SEES_LESS = {"links": "urls", "mentions": "mentions"}
"""Maps a guard to a normalizer option. With the value ``drop``, `links` compares only the links inside sentences,
and `mentions` only the mentions inside sentences; see `hybriddup.steps.normalizers.decoration`."""


class SpelledOut(NamedTuple):
    """A configuration in which every guard is written as a mapping ``{use: NAME, ...}``."""

    data: dict[str, Any]
    faults: list[Fault]
    remarks: list[str]
    """Deprecation warnings, one sentence each."""


def spell_out_guards(data: Mapping[str, Any]) -> SpelledOut:
    """Write out the guards of a configuration as mappings, at the top level and in each length band.

    Examples
    --------
    >>> spell_out_guards({"must_agree": ["numbers", {"words": ["buy", "sell"]}]}).data
    {'must_agree': [{'use': 'numbers'}, {'use': 'words', 'words': ['buy', 'sell']}]}
    """
    spelled = SpelledOut(dict(data), [], [])
    spelled.data.update(_guards_of(data, (), spelled))
    spelled.data.pop(OLD_KEY, None)
    bands = data.get("lengths")
    if isinstance(bands, list):
        spelled.data["lengths"] = [
            _spell_out_band(band, ("lengths", number), spelled) if isinstance(band, Mapping) else band
            for number, band in enumerate(bands)
        ]
    return spelled


def _spell_out_band(band: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    kept = {key: value for key, value in band.items() if key != OLD_KEY}
    return {**kept, **_guards_of(band, path, spelled)}


def _guards_of(holder: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    """Return ``{must_agree: guards}`` for ``holder``, the top level or a band; an empty dict if it has no guards."""
    if holder.get(OLD_KEY) is not None:
        return _translate_old_key(holder, (*path, OLD_KEY), spelled)
    guards = holder.get(MUST_AGREE)
    return {MUST_AGREE: list(map(_spell_out, guards))} if isinstance(guards, list) else {}


def _spell_out(guard: Any) -> Any:
    if isinstance(guard, str):
        return {"use": guard}
    return {"use": "words", **guard} if isinstance(guard, Mapping) and "words" in guard else guard


def _translate_old_key(holder: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    value = holder[OLD_KEY]
    if not isinstance(value, bool):
        spelled.faults.append(Fault(path, f"{spell(path)} must be true or false; got {quote(value)}."))
        return {}
    if holder.get(MUST_AGREE) is not None:
        spelled.faults.append(Fault(path, f"{spell(path)} is the old name of {MUST_AGREE}; leave it out."))
        return {}
    instead = "[{use: numbers, strict: true}]" if value else "[]"
    spelled.remarks.append(
        f"{spell(path)} is deprecated and will be removed in the next version. Write {MUST_AGREE}: {instead} instead."
    )
    return {MUST_AGREE: [dict(STRICT_NUMBERS)] if value else []}


def with_lines_of_guards(lines: Mapping[Path, int]) -> dict[Path, int]:
    """Return a copy of ``lines`` in which each `must_agree` that replaces a deprecated key has the line of that key."""
    old = {(*path[:-1], MUST_AGREE): line for path, line in lines.items() if path and path[-1] == OLD_KEY}
    return old | dict(lines)


def named_guards(written: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the path and the mapping of every guard in a configuration; guards in other forms are skipped."""
    bands = written.get("lengths")
    holders: list[tuple[Path, Any]] = [((), written)]
    holders += [(("lengths", number), band) for number, band in enumerate(bands if isinstance(bands, list) else ())]
    for path, holder in holders:
        guards = holder.get(MUST_AGREE) if isinstance(holder, Mapping) else None
        for place, guard in enumerate(guards if isinstance(guards, (list, tuple)) else ()):
            if isinstance(guard, Mapping):
                yield (*path, MUST_AGREE, place), guard


def _normalizers(written: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    chosen = written.get("normalizer")
    return [one for one in (chosen if isinstance(chosen, (list, tuple)) else [chosen]) if isinstance(one, Mapping)]


def blind_guard_faults(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each guard that has nothing to compare, such as ``links`` if the normalizer masks all links."""
    for path, guard in named_guards(written):
        option, values = BLINDED_BY.get(str(guard.get("use")), ("", set[str]()))
        for one in _normalizers(written):
            if one.get(option) in values:
                yield Fault(
                    path,
                    f"{spell(path)}: the guard {guard['use']} has nothing to compare where normalizer.{option} is "
                    f"{one[option]}; set normalizer.{option}: keep, or leave the guard out.",
                )


def guards_that_see(written: Mapping[str, Any]) -> list[Any]:
    """Return the top-level guards of a configuration, except guards of content that the normalizer removes."""
    blind = {fault.path for fault in blind_guard_faults(written)}
    return [guard for place, guard in enumerate(written[MUST_AGREE]) if (MUST_AGREE, place) not in blind]


def half_blind_guards(written: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each guard that compares only some links or mentions, because the normalizer drops others."""
    for path, guard in named_guards(written):
        option = SEES_LESS.get(str(guard.get("use")), "")
        if any(one.get(option) == "drop" for one in _normalizers(written)):
            yield (
                f"{spell(path)}: if normalizer.{option} is drop, the guard {guard['use']} compares only those that "
                f"are part of a sentence. Set normalizer.{option}: keep to compare all of them."
            )
