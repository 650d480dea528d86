"""The recipe id: what makes a fingerprint, hashed, so that fingerprints of different recipes are never compared."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import xxhash

from hybriddup.config.settings import ComponentSettings, Settings
from hybriddup.steps.options import spell, to_plain
from hybriddup.steps.posts.parts import BODY_FORMAT

RECIPE_FORMAT = 1
"""Raised when hybriddup itself comes to make other fingerprints from the same parts."""

COMPARED_BEFORE = "all"
"""What was compared before there was a choice, so that recipes keep their ids."""
RECIPE_ROLES = ("normalizer", "tokenizer", "weighter", "hasher")


def recipe_parts(settings: Settings, components: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that a fingerprint depends on, as plain data.

    Parameters
    ----------
    settings
        Resolved settings, with every option filled in.
    components
        The component of each role in `RECIPE_ROLES`, the weighter fitted; several normalizers in a ``Chain``. What
        its ``recipe()`` returns, where it has one, is added to its options and takes the place of an option of the same
        name: so the checksum of a dictionary stands in for its path.
    """
    parts: dict[str, Any] = {"format": RECIPE_FORMAT}
    for role in RECIPE_ROLES:
        chosen, component = getattr(settings, role), components.get(role)
        if isinstance(chosen, tuple):
            parts[role] = [
                _part(one, member) for one, member in zip(chosen, getattr(component, "members", ()), strict=True)
            ]
        else:
            parts[role] = _part(chosen, component)
    parts["fingerprint"] = {"bits": settings.fingerprint.bits}
    if settings.compare != COMPARED_BEFORE:  # left out where it is as it was before it could be set
        parts |= {"compare": settings.compare, "body": BODY_FORMAT}
    plain: dict[str, Any] = json.loads(json.dumps(parts, default=to_plain))
    return plain


def _part(chosen: ComponentSettings, component: Any) -> dict[str, Any]:
    recipe = getattr(component, "recipe", None)
    return {**chosen.to_dict(), **(recipe() if callable(recipe) else {})}


def hash_recipe(parts: Mapping[str, Any]) -> str:
    """Return the recipe id: 32 hexadecimal digits, equal where and only where all parts are, in whatever order."""
    return xxhash.xxh3_128_hexdigest(_canonical(parts).encode())


def compare_recipes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    """Return where the parts of two recipes differ, in words; nothing where they are equal.

    Examples
    --------
    >>> compare_recipes({"hasher": {"use": "xxh3", "seed": 0}}, {"hasher": {"use": "xxh3", "seed": 7}})
    ['hasher.seed is 0 in one and 7 in the other']
    """
    return list(_differences(a, b, ()))


def _differences(a: Any, b: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in dict.fromkeys([*a, *b]):
            yield from _differences(a.get(key), b.get(key), (*path, key))
    elif a != b:
        yield f"{spell(path)} is {_canonical(a)} in one and {_canonical(b)} in the other"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=to_plain)
