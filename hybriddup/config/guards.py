"""Finds the guards of a configuration, and checks that the normalizer leaves something for them to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hybriddup.steps.options import Fault, Path, spell

MUST_AGREE = "must_agree"

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
