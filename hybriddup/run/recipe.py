"""Recipes: the components that determine a fingerprint, and the data learned from a corpus.

The recipe id is a hash of the components, so that fingerprints of different recipes are never compared. A learned
recipe is a file with an id, shared by runs, windows and engines. It holds the weights of tokens, the common shingles of
the block index, and what verifiers learned (the IDF of `cosine`). With the same recipe and the same order, a run and a
window remove the same posts with the same keepers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile

import numpy as np
import xxhash
from numpy.typing import NDArray

from hybriddup.config.settings import ComponentSettings, Settings
from hybriddup.errors import ConfigError, PluginError
from hybriddup.files.outputs import save_whole
from hybriddup.steps.options import spell, to_plain
from hybriddup.steps.posts.parts import BODY_FORMAT

RECIPE_FORMAT = 1
"""Version number, increased when a release of hybriddup makes other fingerprints from the same components."""

COMPARED_BEFORE = "all"
"""The value of ``compare`` that is left out of recipes, so that older recipes keep their ids."""
RECIPE_ROLES = ("normalizer", "tokenizer", "weighter", "hasher")
LEARNED_FORMAT = 1
"""Version number of the format of learned recipe files, increased when the format changes."""
RECIPE_IS_GIVEN = "recipe must not be in a configuration for learning: it names a recipe that was learned before."
PARTS = "parts"
REMEDY = "Name a file that `hybriddup learn` wrote, or leave recipe: out to learn from each run's posts."
WEIGHTS, BLOCKS, VERIFIER = "weights", "blocks", "verifier"

Arrays = Mapping[str, NDArray[Any]]


def recipe_parts(settings: Settings, components: Mapping[str, Any]) -> dict[str, Any]:
    """Return everything that a fingerprint depends on, as plain data.

    Parameters
    ----------
    settings
        Resolved settings, with every option filled in.
    components
        The component of each role in `RECIPE_ROLES`, with a fitted weighter; several normalizers are combined in a
        ``Chain``. If a component has a method ``recipe()``, its items replace the options of the same name or are added
        to them: for example, the checksum of a dictionary replaces its path.
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
    if settings.compare != COMPARED_BEFORE:
        parts |= {"compare": settings.compare, "body": BODY_FORMAT}
    plain: dict[str, Any] = json.loads(json.dumps(parts, default=to_plain))
    return plain


def _part(chosen: ComponentSettings, component: Any) -> dict[str, Any]:
    recipe = getattr(component, "recipe", None)
    return {**chosen.to_dict(), **(recipe() if callable(recipe) else {})}


def hash_recipe(parts: Mapping[str, Any]) -> str:
    """Return the recipe id: 32 hexadecimal digits, equal for equal parts; the order of keys does not matter."""
    return xxhash.xxh3_128_hexdigest(_canonical(parts).encode())


def compare_recipes(ours: Any, other: Any, where: str, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield a sentence for each difference; it calls the value in ``ours`` "here" and the value in ``other`` ``where``.

    ``path``: the keys that lead to the two values, if they are parts of recipes.

    Examples
    --------
    >>> list(compare_recipes({"hasher": {"use": "xxh3", "seed": 0}}, {"hasher": {"use": "xxh3", "seed": 7}}, "there"))
    ['hasher.seed is 0 here and 7 there']
    """
    if isinstance(ours, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys([*ours, *other]):
            yield from compare_recipes(ours.get(key), other.get(key), where, (*path, key))
    elif ours != other:
        yield f"{spell(path)} is {_canonical(ours)} here and {_canonical(other)} {where}"


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=to_plain)


@dataclass(frozen=True)
class LearnedRecipe:
    """Learned data by component, and the configuration that it depends on."""

    parts: dict[str, Any]
    """Configuration of the fingerprint (normalizer, tokenizer, weighter, hasher, bits), block index and verifiers."""
    learned: dict[str, Arrays] = field(default_factory=dict, repr=False)
    """Learned arrays by component and name; components are `WEIGHTS`, `BLOCKS`, and verifiers (see `verifier_part`)."""

    @cached_property
    def id(self) -> str:
        """32 hexadecimal digits, equal if and only if the recipes are equal."""
        digest = xxhash.xxh3_128(json.dumps([LEARNED_FORMAT, self.parts], sort_keys=True).encode())
        for part, arrays in sorted(self.learned.items()):
            for name, array in sorted(arrays.items()):
                digest.update(f"{part}/{name} {array.dtype.str} {array.shape}".encode() + array.tobytes())
        return digest.hexdigest()

    def write(self, file: BinaryIO) -> None:
        """Write the recipe to an open file."""
        arrays = {f"{part}/{name}": array for part, named in self.learned.items() for name, array in named.items()}
        parts = json.dumps(self.parts, sort_keys=True)
        # writing an archive needs seeking, which a stream may not support
        file.write(pack_arrays({"format": np.array(LEARNED_FORMAT), PARTS: np.array(parts), **arrays}))

    def save(self, path: str | Path) -> None:
        """Write the recipe to a file, atomically."""
        save_whole(path, self.write)


def load_recipe(path: str | Path) -> LearnedRecipe:
    """Return a recipe that `LearnedRecipe.save` wrote; raise ConfigError if the file is unreadable or not a recipe."""
    try:
        with Path(path).open("rb") as stream:
            return read_recipe(stream, str(path))
    except OSError as error:
        raise ConfigError(f"recipe: cannot read {path}: {error.strerror or error}. {REMEDY}") from error


def read_recipe(stream: BinaryIO, name: str) -> LearnedRecipe:
    """Return a recipe that `LearnedRecipe.write` wrote.

    Raises ConfigError, which mentions ``name``, if the stream has no recipe.
    """
    try:
        with np.load(stream, allow_pickle=False) as file:
            if (found := int(file["format"])) != LEARNED_FORMAT:
                raise ConfigError(f"recipe: {name} has format {found}, not {LEARNED_FORMAT}. Learn it anew.")
            parts = json.loads(str(file[PARTS]))
            learned: dict[str, dict[str, NDArray[Any]]] = {}
            for key in file.files:
                part, _, of_part = key.rpartition("/")
                if part:
                    learned.setdefault(part, {})[of_part] = file[key]
    except (KeyError, ValueError, EOFError, BadZipFile) as error:
        raise ConfigError(f"recipe: {name} is not a learned recipe. {REMEDY}") from error
    return LearnedRecipe(parts, dict(learned))


def verifier_part(key: str) -> str:
    """Return a verifier's key in `LearnedRecipe.learned`; ``key`` consists of its name and options."""
    return f"{VERIFIER} {key}"


def pack_arrays(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Serialize named arrays to bytes; raise PluginError if they are not arrays of numbers or strings.

    Examples
    --------
    >>> unpack_arrays(pack_arrays({"n": np.array(3)}))
    {'n': array(3)}
    """
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.hasobject:
            raise PluginError(f"learned must return arrays of numbers or strings; {name!r} is {array!r:.80}.")
    file = BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(file, **named)
    return file.getvalue()


def unpack_arrays(packed: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays that `pack_arrays` packed."""
    with np.load(BytesIO(packed), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
