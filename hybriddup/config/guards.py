"""The key `must_agree` as people write it: names, mappings, and lists of words; and the key that it replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hybriddup.steps.options import Fault, Path, quote, spell

MUST_AGREE = "must_agree"
OLD_KEY = "numbers_must_match"
"""Read for one version more; true stands for `STRICT_NUMBERS`, false for no guard."""
STRICT_NUMBERS = {"use": "numbers", "strict": True}

BLINDED_BY = {
    "numbers": ("digits", {"mask"}),
    "links": ("urls", {"mask"}),
    "mentions": ("mentions", {"mask"}),
    "emoji": ("emoji", {"mask", "drop"}),
}
"""Guards with the option of the normalizer, and its values, that leave them nothing to compare."""
SEES_LESS = {"links": "urls", "mentions": "mentions"}
"""Guards with the option of the normalizer that, where it is drop, leaves them only what is part of the sentence."""


class SpelledOut(NamedTuple):
    """What a user wrote, with guards as mappings that name their component."""

    data: dict[str, Any]
    faults: list[Fault]
    remarks: list[str]
    """What the user should change, a sentence each."""


def spell_out_guards(data: Mapping[str, Any]) -> SpelledOut:
    """Return a configuration with the guards of the top and of each length band spelled out.

    Examples
    --------
    >>> spell_out_guards({"must_agree": ["numbers", {"words": ["buy", "sell"]}]}).data
    {'must_agree': [{'use': 'numbers'}, {'use': 'words', 'words': ['buy', 'sell']}]}
    """
    spelled = SpelledOut(dict(data), [], [])
    spelled.data.update(_of_holder(data, (), spelled))
    spelled.data.pop(OLD_KEY, None)
    bands = data.get("lengths")
    if isinstance(bands, list):
        spelled.data["lengths"] = [
            _of_band(band, ("lengths", number), spelled) if isinstance(band, Mapping) else band
            for number, band in enumerate(bands)
        ]
    return spelled


def _of_band(band: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    kept = {key: value for key, value in band.items() if key != OLD_KEY}
    return {**kept, **_of_holder(band, path, spelled)}


def _of_holder(holder: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    """Return the guards that the top or a band names, by the key; nothing where it names none."""
    if holder.get(OLD_KEY) is not None:
        return _of_old_key(holder, (*path, OLD_KEY), spelled)
    guards = holder.get(MUST_AGREE)
    return {MUST_AGREE: list(map(_spell_out, guards))} if isinstance(guards, list) else {}


def _spell_out(guard: Any) -> Any:
    if isinstance(guard, str):
        return {"use": guard}
    return {"use": "words", **guard} if isinstance(guard, Mapping) and "words" in guard else guard


def _of_old_key(holder: Mapping[str, Any], path: Path, spelled: SpelledOut) -> dict[str, Any]:
    value = holder[OLD_KEY]
    if not isinstance(value, bool):
        spelled.faults.append(Fault(path, f"{spell(path)} must be true or false; got {quote(value)}."))
        return {}
    if holder.get(MUST_AGREE) is not None:
        spelled.faults.append(Fault(path, f"{spell(path)} is the old name of {MUST_AGREE}; leave it out."))
        return {}
    instead = "[{use: numbers, strict: true}]" if value else "[]"
    spelled.remarks.append(f"{spell(path)} will go in the next version. Write {MUST_AGREE}: {instead} instead.")
    return {MUST_AGREE: [dict(STRICT_NUMBERS)] if value else []}


def with_lines_of_guards(lines: Mapping[Path, int]) -> dict[Path, int]:
    """Return the lines of a file with those of guards that it names by the old key."""
    old = {(*path[:-1], MUST_AGREE): line for path, line in lines.items() if path and path[-1] == OLD_KEY}
    return old | dict(lines)


def named_guards(written: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield every guard that a configuration names, spelled out, with its place."""
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
    """Yield the guards that have nothing left to compare after normalizing."""
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
    """Return the guards of the top that have something to compare after normalizing."""
    blind = {fault.path for fault in blind_guard_faults(written)}
    return [guard for place, guard in enumerate(written[MUST_AGREE]) if (MUST_AGREE, place) not in blind]


def half_blind_guards(written: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each guard that compares only some of what posts have, of resolved settings."""
    for path, guard in named_guards(written):
        option = SEES_LESS.get(str(guard.get("use")), "")
        if any(one.get(option) == "drop" for one in _normalizers(written)):
            yield (
                f"{spell(path)}: where normalizer.{option} is drop, the guard {guard['use']} compares only those that "
                f"are part of a sentence. Set normalizer.{option}: keep to compare all of them."
            )
