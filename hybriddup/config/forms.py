"""The components that a configuration chooses, as it is written.

Written configurations may hold anything anywhere; what has the wrong type is passed over for the models to refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from hybriddup.plugin.roles import RoleName
from hybriddup.steps.options import Path

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
    """Yield every component that the configuration chooses, verifiers of each band included."""
    for key, role in STEP_ROLES.items():
        chosen = merged[key]
        in_chain = enumerate(chosen) if key in CHAINS and isinstance(chosen, list) else ()
        for path, written in [((key,), chosen), *(((key, place), one) for place, one in in_chain)]:
            if isinstance(written, dict):
                yield Chosen(role, path, written, ("use",))
    for number, band in enumerate(merged["lengths"] if isinstance(merged["lengths"], list) else ()):
        if isinstance(band, dict):
            yield from _verifiers(("lengths", number, "verifier"), band.get("verifier"))


def _verifiers(path: Path, verifier: Any) -> Iterator[Chosen]:
    if not isinstance(verifier, dict):
        return
    combine = combined_by(verifier)
    if combine is None:
        yield Chosen("verifier", path, verifier, VERIFIER_KEYS)
    elif isinstance(verifier[combine], list):
        for place, member in enumerate(verifier[combine]):
            yield from _verifiers((*path, combine, place), member)
