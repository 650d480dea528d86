"""The components that a configuration chooses, and rules across its keys, which no single field can check.

Both look at the mapping as it is written, every default filled in, and pass over whatever has the wrong type: that is
reported by the field itself, and the other rules are still worth checking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hybriddup.config.guards import MUST_AGREE, blind_guard_faults, half_blind_guards, named_guards
from hybriddup.plugin.roles import RoleName
from hybriddup.steps.options import Fault, Path, quote, spell

STEP_ROLES: dict[str, RoleName] = {
    "normalizer": "normalizer",
    "tokenizer": "tokenizer",
    "weighter": "weighter",
    "hasher": "hasher",
    "blocks": "block_index",
}
"""Keys of the configuration that choose one component, and the role it fills."""

CHAINS = ("normalizer",)
"""Those of them that may choose several components, which follow each other."""

VERIFIER_KEYS = ("use", "threshold")
"""Keys of a verifier's mapping that are not options of the component."""
BAND_KEYS = ("max_hamming_distance", "verifier", MUST_AGREE)
SHORT = 200
LIMIT_OF_SHORT, LIMIT_OF_LONG = 44, 40
"""Hamming limits, of 128 bits, of bands up to so many characters and of longer ones: copies of short texts differ in
more bits."""


def thaw(value: Any) -> Any:
    """Return a copy in which every mapping is a dict and every list or tuple a list."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return [thaw(item) for item in value] if isinstance(value, (list, tuple)) else value


def combined_by(verifier: Any) -> str | None:
    """Return ``all`` or ``any`` where the verifier is a combination, else None."""
    found = [key for key in ("all", "any") if isinstance(verifier, dict) and key in verifier]
    return found[0] if found else None


class Chosen(NamedTuple):
    """A component as it is chosen somewhere in the configuration."""

    role: RoleName
    path: Path
    written: dict[str, Any]
    keys: tuple[str, ...]
    """Keys of the mapping that are not options of the component."""


def chosen_components(merged: Mapping[str, Any]) -> Iterator[Chosen]:
    """Yield every component that the configuration chooses, verifiers and guards of each band included."""
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
    """Return every breach of a rule that links several keys."""
    lengths = written.get("lengths")
    faults = [*blind_guard_faults(written), *_keep_faults(written.get("keep"))]
    if isinstance(lengths, Sequence) and not isinstance(lengths, str):
        bands = [band if isinstance(band, Mapping) else None for band in lengths]
        faults += _order_faults(bands)
        for number, band in enumerate(bands):
            if band is not None:
                faults += _band_faults(number, band, written.get("fingerprint"))
                faults += _verifier_faults(("lengths", number, "verifier"), band.get("verifier"))
    return faults


def _keep_faults(keep: Any) -> Iterator[Fault]:
    for place, rule in enumerate(keep[:-1] if isinstance(keep, Sequence) and not isinstance(keep, str) else ()):
        if rule in ("first", "last"):
            yield Fault(
                ("keep", place),
                f"keep[{place}] must be the last rule if it is {rule}: no two posts are alike in it, so that the rules "
                f"after it are never asked.",
            )


def _order_faults(bands: Sequence[Mapping[str, Any] | None]) -> Iterator[Fault]:
    """Yield what keeps the bands from covering every length once: order, overlap, and an end that is not open."""
    before: int | None = None
    for number, band in enumerate(bands):
        if band is None:
            before = None
            continue
        up_to, path = band.get("up_to"), ("lengths", number, "up_to")
        if number == len(bands) - 1 and up_to is not None:
            yield Fault(
                path,
                f"lengths[{number}].up_to must be left out of the last band, so that longer texts have a band too; "
                f"got {quote(up_to)}.",
            )
        elif number < len(bands) - 1 and up_to is None:
            yield Fault(path, f"lengths[{number}].up_to is missing; only the last band may be open.")
        if isinstance(up_to, int) and before is not None and up_to <= before:
            yield Fault(
                path, f"lengths[{number}].up_to must be above {before}, the end of the band before it; got {up_to}."
            )
        before = up_to if isinstance(up_to, int) else None


def _band_faults(number: int, band: Mapping[str, Any], fingerprint: Any) -> Iterator[Fault]:
    place = f"lengths[{number}]"
    given = [key for key in BAND_KEYS if band.get(key) is not None]
    if band.get("exact_only") is True:
        for key in given:
            yield Fault(
                ("lengths", number, key),
                f"{place}.{key} must be left out where exact_only is true; got {quote(band[key])}.",
            )
        return
    if "verifier" not in given:
        yield Fault(("lengths", number, "verifier"), f"{place}.verifier is missing; set it, or set exact_only: true.")
    distance = band.get("max_hamming_distance")
    bits = fingerprint.get("bits") if isinstance(fingerprint, Mapping) else None
    if isinstance(distance, int) and isinstance(bits, int) and distance >= bits:
        yield Fault(
            ("lengths", number, "max_hamming_distance"),
            f"{place}.max_hamming_distance must be below fingerprint.bits, which is {bits}; got {distance}.",
        )


def _verifier_faults(path: Path, verifier: Any) -> Iterator[Fault]:
    combine = combined_by(verifier)
    if combine is None:
        return
    for key in verifier:
        if key != combine:
            place = (*path, key)
            message = f"{spell(place)} cannot stand beside {combine}; give it to a verifier of that list."
            yield Fault(place, message)
    members = verifier[combine]
    for number, member in enumerate(members if isinstance(members, (list, tuple)) else ()):
        yield from _verifier_faults((*path, combine, number), member)


def default_limit(bits: int, up_to: int | None) -> int:
    """Return the Hamming limit of a band that sets none."""
    limit = LIMIT_OF_SHORT if up_to is not None and up_to <= SHORT else LIMIT_OF_LONG
    return round(limit * bits / 128)


def limit_warning(name: str, max_hamming_distance: int, bits: int) -> str | None:
    """Return what is to be said of a limit within which texts lie that have nothing in common; None where none do.

    Fingerprints of unrelated texts differ in half of their bits, give or take; over three eighths some pass.
    """
    widest = 3 * bits // 8
    if max_hamming_distance <= widest:
        return None
    return (
        f"{name} is {max_hamming_distance} of {bits} bits. Over three eighths of the bits ({widest}) unrelated texts "
        "pass too: each is verified, which costs time."
    )


def setting_warnings(written: Mapping[str, Any]) -> list[str]:
    """Return what works but is hardly meant, of resolved settings as a file writes them."""
    bits = written["fingerprint"]["bits"]
    limits = {
        f"lengths[{number}].max_hamming_distance": band.get("max_hamming_distance", 0)
        for number, band in enumerate(written["lengths"])
    }
    warnings = (limit_warning(name, limit, bits) for name, limit in limits.items())
    return [*(warning for warning in warnings if warning is not None), *half_blind_guards(written)]
