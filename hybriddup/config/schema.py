"""Generates the JSON Schema of a configuration file, for editors: keys, ranges, descriptions and component options.

It is generated from the pydantic models that validate a file, so that the schema and the validation always agree.
"""

from __future__ import annotations

from typing import Any

from hybriddup.config.rules import CHAINS, STEP_ROLES
from hybriddup.config.settings import Settings
from hybriddup.plugin.registry import Registry
from hybriddup.plugin.roles import RoleName

WORDS = "words"
"""Name of the guard that may be written without ``use``: ``{words: [buy, sell]}``."""
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def config_schema(registry: Registry) -> dict[str, Any]:
    """Return the JSON Schema of a configuration file, including the options of all components in the registry.

    Every key is optional, because a file contains only the keys to change.
    """
    schema = Settings.model_json_schema(mode="validation")
    definitions, properties, defaults = schema["$defs"], schema["properties"], Settings().to_dict()
    for key, role in STEP_ROLES.items():
        names, default = registry.names(role), defaults[key]
        # without ``use``, the options belong to the default component
        branches = [_component(role, name, registry, required=name != default["use"]) for name in names]
        if key in CHAINS:
            members = [_component(role, name, registry, required=True) for name in names]
            branches.append({"type": "array", "minItems": 1, "items": {"oneOf": [*members, {"enum": list(names)}]}})
        branches.append({"enum": list(names), "description": "The name alone: the component with its default options."})
        properties[key] = {"oneOf": branches, "description": properties[key]["description"], "default": default}
    guards = _guards(registry)
    for holder, what in ((properties, "all length bands"), (definitions["LengthBand"]["properties"], "the band")):
        holder["must_agree"] = {**guards, "description": holder["must_agree"]["description"]}
        about = f"Lowest score of duplicates for {what}, inclusive; short for the threshold of the verifier."
        holder["threshold"] = {"type": "number", "minimum": 0, "maximum": 1, "description": about}
    for key in ("must_agree", "lengths"):
        properties[key]["default"] = defaults[key]
    definitions["SingleVerifier"] = _verifier(definitions["SingleVerifier"], registry)
    for combined in ("AllVerifiers", "AnyVerifier"):
        definitions[combined]["additionalProperties"] = False
    del definitions["ComponentSettings"], definitions["GuardSettings"]
    about = "What hybriddup does; keys that are left out keep their defaults."
    return {"$schema": DIALECT, **schema, "title": "hybriddup configuration", "description": about}


def _component(role: RoleName, name: str, registry: Registry, *, required: bool) -> dict[str, Any]:
    use = {"const": name, "description": f"The {role.replace('_', ' ')} {name!r}."}
    model = registry.find(role, name).options_model()
    schema = {} if model is None else model.model_json_schema(mode="validation")
    # references are inlined, since definitions of different models may have the same name
    properties = {"use": use, **_inlined(schema.get("properties", {}), schema.get("$defs", {}))}
    branch = {"type": "object", "title": name, "properties": properties, "additionalProperties": False}
    return {**branch, "required": ["use"]} if required else branch


def _inlined(fragment: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(fragment, list):
        return [_inlined(item, definitions) for item in fragment]
    if not isinstance(fragment, dict):
        return fragment
    if "$ref" in fragment:
        target = definitions[fragment["$ref"].rsplit("/", 1)[1]]
        return {**_inlined(target, definitions), **{key: fragment[key] for key in fragment if key != "$ref"}}
    return {key: _inlined(value, definitions) for key, value in fragment.items()}


def _guards(registry: Registry) -> dict[str, Any]:
    names = registry.names("guard")
    written = [_component("guard", name, registry, required=name != WORDS) for name in names]
    return {"type": "array", "items": {"anyOf": [{"enum": names}, *written]}}


def _verifier(model: dict[str, Any], registry: Registry) -> dict[str, Any]:
    branches = []
    for name in registry.names("verifier"):
        branch = _component("verifier", name, registry, required=True)
        branch["properties"]["threshold"] = model["properties"]["threshold"]
        branches.append({**branch, "required": ["use", "threshold"]})
    return {"title": model["title"], "description": model["description"], "oneOf": branches}
