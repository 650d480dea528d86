"""Finds the components that a configuration chooses, and checks the rules that involve more than one key.

The functions take the configuration as a mapping with defaults filled in. They skip values of the wrong type, which are
reported when `Settings` is validated, so that one wrong value does not hide other faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hybriddup.config.guards import MUST_AGREE, blind_guard_faults, half_blind_guards, named_guards
from hybriddup.plugin.roles import RoleName
from hybriddup.steps.options import Fault, Path, fault_at, quote

STEP_ROLES: dict[str, RoleName] = {
    "normalizer": "normalizer",
    "tokenizer": "tokenizer",
    "weighter": "weighter",
    "hasher": "hasher",
    "blocks": "block_index",
}
"""Maps the key of each step to the role of the component that it chooses."""

CHAINS = ("normalizer",)
"""Keys that may list several components, applied one after another."""

VERIFIER_KEYS = ("use", "threshold")
"""Keys of a verifier's mapping that are not options of the component."""
_KEYS_UNLESS_EXACT = ("max_hamming_distance", "verifier", MUST_AGREE)
_SHORT_BAND = 200
"""Maximum ``up_to``, in characters, of a length band with the default Hamming limit of short texts."""
_SHORT_LIMIT, _LONG_LIMIT = 44, 40
"""Default Hamming limits for 128 bits, in bands of short and of long texts; copies of short texts differ more."""


def thaw(value: Any) -> Any:
    """Return a copy in which every mapping is a dict and every list or tuple a list."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, (list, tuple)) else value


def combined_by(verifier: Any) -> str | None:
    """Return the key of a combined verifier, ``all`` or ``any``; None for a single verifier."""
    found = [key for key in ("all", "any") if isinstance(verifier, dict) and key in verifier]
    return found[0] if found else None


class Chosen(NamedTuple):
    """A component in a configuration: its role, its path of keys, and the mapping with its name and options."""

    role: RoleName
    path: Path
    written: dict[str, Any]
    keys: tuple[str, ...]
    """Keys of ``written`` that are not options of the component."""


def chosen_components(merged: Mapping[str, Any]) -> Iterator[Chosen]:
    """Yield every component that the configuration chooses, including the verifiers and guards of each band."""
    for key, role in STEP_ROLES.items():
        chosen = merged[key]
        in_chain = enumerate(chosen) if key in CHAINS and isinstance(chosen, list) else ()
        for path, written in [((key,), chosen), *(((key, place), one) for place, one in in_chain)]:
            if isinstance(written, dict):
                yield Chosen(role, path, written, ("use",))
    for number, band in enumerate(merged["lengths"] if isinstance(merged["lengths"], list) else ()):
        if isinstance(band, dict):
            yield from _verifiers(("lengths", number, "verifier"), band.get("verifier"))
    for path, guard in named_guards(merged):
        if isinstance(guard, dict):
            yield Chosen("guard", path, guard, ("use",))


def _verifiers(path: Path, verifier: Any) -> Iterator[Chosen]:
    if not isinstance(verifier, dict):
        return
    combine = combined_by(verifier)
    if combine is None:
        yield Chosen("verifier", path, verifier, VERIFIER_KEYS)
    elif isinstance(verifier[combine], list):
        for place, member in enumerate(verifier[combine]):
            yield from _verifiers((*path, combine, place), member)


def setting_faults(written: Mapping[str, Any]) -> list[Fault]:
    """Check the rules that involve several keys; return a fault for each broken rule."""
    lengths = written.get("lengths")
    faults = [*blind_guard_faults(written), *_keep_faults(written.get("keep"))]
    if written.get("within") is not None and written.get("keep", "first") not in ("first", "none"):
        why = "because posts are then decided in the order of their times"
        faults.append(fault_at(("within",), f"needs keep: first (or none), {why}."))
    if isinstance(lengths, Sequence) and not isinstance(lengths, str):
        bands = [band if isinstance(band, Mapping) else None for band in lengths]
        faults += _order_faults(bands)
        for number, band in enumerate(bands):
            if band is not None:
                faults += _band_faults(("lengths", number), band, written.get("fingerprint"))
                faults += _verifier_faults(("lengths", number, "verifier"), band.get("verifier"))
    return faults


def _keep_faults(keep: Any) -> Iterator[Fault]:
    rules = keep if isinstance(keep, (list, tuple)) else ()
    for place, rule in enumerate(rules):
        if rule == "none":
            yield fault_at(("keep", place), "must not be none, which stands alone: keep: none.")
        elif rule in ("first", "last") and place < len(rules) - 1:
            why = "no two posts tie under it, so the rules after it are never used."
            yield fault_at(("keep", place), f"must be the last rule if it is {rule}: {why}")


def _order_faults(bands: Sequence[Mapping[str, Any] | None]) -> Iterator[Fault]:
    """Yield a fault for each reason why the length bands do not cover all lengths in ascending order."""
    before: int | None = None
    for number, band in enumerate(bands):
        if band is None:
            before = None
            continue
        up_to, path = band.get("up_to"), ("lengths", number, "up_to")
        if number == len(bands) - 1 and up_to is not None:
            why = "so that longer texts have a band too"
            yield fault_at(path, f"must be left out of the last band, {why}; got {quote(up_to)}.")
        elif number < len(bands) - 1 and up_to is None:
            yield fault_at(path, "is missing; only the last band may be open.")
        if isinstance(up_to, int) and before is not None and up_to <= before:
            yield fault_at(path, f"must be above {before}, the end of the band before it; got {up_to}.")
        before = up_to if isinstance(up_to, int) else None


def _band_faults(path: Path, band: Mapping[str, Any], fingerprint: Any) -> Iterator[Fault]:
    given = [key for key in _KEYS_UNLESS_EXACT if band.get(key) is not None]
    if band.get("exact_only") is True:
        for key in given:
            yield fault_at((*path, key), f"must be left out where exact_only is true; got {quote(band[key])}.")
        return
    if "verifier" not in given:
        yield fault_at((*path, "verifier"), "is missing; set it, or set exact_only: true.")
    distance = band.get("max_hamming_distance")
    bits = fingerprint.get("bits") if isinstance(fingerprint, Mapping) else None
    if isinstance(distance, int) and isinstance(bits, int) and distance >= bits:
        what = f"must be below fingerprint.bits, which is {bits}"
        yield fault_at((*path, "max_hamming_distance"), f"{what}; got {distance}.")


def _verifier_faults(path: Path, verifier: Any) -> Iterator[Fault]:
    combine = combined_by(verifier)
    if combine is None:
        return
    for key in [key for key in verifier if key != combine]:
        yield fault_at((*path, key), f"cannot be combined with {combine}; give it to a verifier of that list.")
    members = verifier[combine]
    for number, member in enumerate(members if isinstance(members, (list, tuple)) else ()):
        yield from _verifier_faults((*path, combine, number), member)


def default_limit(bits: int, up_to: int | None) -> int:
    """Return the default Hamming limit of a band: 44 of 128 bits if ``up_to`` is at most 200, else 40 of 128 bits.

    The limit is scaled to ``bits``.
    """
    limit = _SHORT_LIMIT if up_to is not None and up_to <= _SHORT_BAND else _LONG_LIMIT
    return round(limit * bits / 128)


def limit_warning(name: str, max_hamming_distance: int, bits: int) -> str | None:
    """Return a warning if the Hamming limit lets pairs of unrelated texts pass, else None.

    Fingerprints of unrelated texts differ in about half of the bits, so some pairs pass a limit above three eighths.
    ``name`` is the name of the setting, for the message.
    """
    widest = 3 * bits // 8
    if max_hamming_distance <= widest:
        return None
    return (
        f"{name} is {max_hamming_distance} of {bits} bits. Above three eighths of the bits ({widest}) unrelated texts "
        "pass too: each is verified, which takes time."
    )


def setting_warnings(written: Mapping[str, Any]) -> list[str]:
    """Return warnings about resolved settings that are valid but probably not intended."""
    bits = written["fingerprint"]["bits"]
    limits = [band.get("max_hamming_distance", 0) for band in written["lengths"]]
    names = [f"lengths[{number}].max_hamming_distance" for number in range(len(limits))]
    of_limits = (limit_warning(name, limit, bits) for name, limit in zip(names, limits, strict=True))
    return [*filter(None, of_limits), *half_blind_guards(written)]
