"""Options of a component: their base class, and the messages about invalid ones."""

from __future__ import annotations

import ast
import inspect
import json
import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler, ValidationError
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import CoreSchema

RESERVED_NAMES = frozenset({"use", "options", "threshold", "all", "any"})
"""Keys with a meaning of their own in the configuration of a component; its options cannot have these names."""

WRITTEN_FORM = "x-written-form"
"""Extra key in the JSON Schema of a model whose fields are not exactly the keys in a file. Its value is an example of
the mapping in a file, such as ``{use: NAME}``, for error messages."""

Path = tuple[str | int, ...]
"""Location of a value in a configuration: keys and zero-based list positions."""


class Described(BaseModel):
    """A model whose JSON Schema describes each field by the docstring below it.

    pydantic's ``use_attribute_docstrings`` also does this, but parses the source of every model at import. That takes
    0.06 of the 0.95 seconds of CPU time in which the command line starts.
    """

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema, with the docstrings of the fields."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, docstring in _docstrings_of(cls).items():
            properties.get(name, {}).setdefault("description", docstring)
        return schema


def _docstrings_of(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of the fields by name, each on one line."""
    owners = (owner for owner in reversed(model.__mro__) if issubclass(owner, Described))
    return {name: docstring for owner in owners for name, docstring in _own_docstrings(owner).items()}


@cache  # Python 3.11 and 3.12 parse a whole module to find a class
def _own_docstrings(model: type[Described]) -> dict[str, str]:
    """Return the docstrings of the fields that a class itself declares; none if the source is not available."""
    try:
        source = inspect.getsource(model)
    except (OSError, TypeError):
        return {}
    # the source of a class inside a class or a function is indented
    tree = ast.parse(f"if True:\n{source}" if source[:1].isspace() else source)
    definition = next((node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)), tree)
    found = {}
    for field, below in pairwise(definition.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(docstring))):
                found[name] = inspect.cleandoc(docstring).replace("\n", " ")
    return found


class Options(Described):
    """Base class for the options of a component: one typed field per option, with a default, a range and a docstring.

    Examples
    --------
    >>> from pydantic import Field
    >>> class ShoutOptions(Options):
    ...     volume: int = Field(3, ge=1, le=9)
    ...     '''Repetitions of each token.'''
    >>> ShoutOptions().volume
    3
    """

    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(NamedTuple):
    """An error in a configuration: its location, and a sentence that begins with the location."""

    path: Path
    message: str


def fault_at(path: Path, rest: str) -> Fault:
    """Return a fault whose message is the path followed by ``rest``."""
    return Fault(path, f"{spell(path)} {rest}")


def parse_options(model: type[BaseModel], given: Mapping[str, Any], path: Path = ()) -> BaseModel | list[Fault]:
    """Parse options with the model that declares them; return the options or all faults.

    Values are interpreted as JSON: a list is accepted for a tuple, but a string never for a number. ``path`` is the
    location of the options in the configuration.
    """
    try:
        return model.model_validate_json(json.dumps(dict(given), default=to_plain), strict=True)
    except TypeError as error:
        return [Fault(path, f"{spell(path) or 'options'} must be made of plain data as in YAML: {error}.")]
    except ValidationError as error:
        return _faults_of(error, model, path)


def to_plain(value: object) -> object:
    """Convert a path or a numpy scalar for JSON; the ``default`` of `json.dumps`."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "item"):  # numpy scalars
        return value.item()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def _faults_of(error: ValidationError, model: type[BaseModel], path: Path) -> list[Fault]:
    schema = model.model_json_schema(mode="validation")
    faults = [_fault(details, schema, path) for details in error.errors(include_url=False)]
    inner = {fault.path[:end] for fault in faults for end in range(len(fault.path))}
    return [fault for fault in faults if fault.path not in inner]  # the fault of an item is not one of its list too


def spell(path: Path) -> str:
    """Return a path in its usual notation, such as ``lengths[1].verifier.threshold``."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def written(value: object) -> str:
    """Return the ``repr`` of a value, or a description if the value is a number too long to print."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} that is too long to print"


def quote(value: object) -> str:
    """Return a value in YAML notation, cut to 60 characters."""
    if isinstance(value, str):
        text = repr(value)
    else:
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError):
            text = written(value)
    return text if len(text) <= 60 else text[:57] + "..."


def suggest(name: object, choices: Sequence[str]) -> str:
    """Return `` Did you mean 'x'?`` if one of the choices resembles the name, else an empty text."""
    close = get_close_matches(str(name), choices, n=1, cutoff=0.7)
    return f" Did you mean {close[0]!r}?" if close else ""


def _fault(details: ErrorDetails, schema: dict[str, Any], path: Path) -> Fault:
    where, fragment = _locate(schema, details["loc"])
    place = (*path, *where)
    spelled, kind = spell(place), details["type"]
    if kind == "extra_forbidden":
        holder = _locate(schema, details["loc"][:-1])[1]
        return Fault(place, unknown_key(place, _keys(holder, schema)))
    if kind == "missing":
        return fault_at(place, f"is missing; it must be {describe(fragment, schema)}.")
    if kind in {"value_error", "assertion_error"}:
        return Fault(place, _rule_broken(spelled or "options", str(details["ctx"]["error"]), details["input"]))
    return Fault(place, f"{spelled or 'options'} must be {describe(fragment, schema)}; got {quote(details['input'])}.")


def _rule_broken(spelled: str, message: str, given: object) -> str:
    """Turn a validator's message, which may begin with ``must``, into a sentence that also shows the given value."""
    if message.startswith("must "):
        return f"{spelled} {message.rstrip('.')}; got {quote(given)}."
    return f"{spelled}: {message.rstrip('.')}."


def unknown_key(place: Path, known: Sequence[str]) -> str:
    """Return the error message for an unknown key."""
    guess = suggest(place[-1], known)
    return f"{spell(place)} is not a key here{'.' + guess if guess else ''} (allowed: {', '.join(known) or 'none'})."


def _locate(schema: dict[str, Any], loc: Sequence[str | int]) -> tuple[Path, dict[str, Any]]:
    """Return the configuration path of a pydantic location, and the schema of the value there.

    Pydantic locations contain the names of union members, which are not keys; the path omits them.
    """
    where: list[str | int] = []
    fragment, may_name_member = _follow(schema, schema), True
    for part in loc:
        inner = _inside(fragment, part, schema)
        if inner is None and may_name_member and isinstance(part, str) and len(_branches(fragment)) > 1:
            may_name_member = False
            continue
        where.append(part)
        fragment, may_name_member = _follow(inner or {}, schema), True
    return tuple(where), fragment


def _branches(fragment: dict[str, Any]) -> list[dict[str, Any]]:
    branches: list[dict[str, Any]] = fragment.get("anyOf") or fragment.get("oneOf") or [fragment]
    return branches


def _inside(fragment: dict[str, Any], part: str | int, schema: dict[str, Any]) -> dict[str, Any] | None:
    """Return the schema of the value at ``part``, a key or list index; None if ``fragment`` allows no such value."""
    for branch in _branches(fragment):
        inner = _follow(branch, schema)
        if len(_branches(inner)) > 1:
            found = _inside(inner, part, schema)
            if found is not None:
                return found
        properties, ahead = inner.get("properties", {}), inner.get("prefixItems", [])
        if part in properties:
            return dict(properties[part])
        if isinstance(part, int) and ("items" in inner or ahead):
            return dict(ahead[part] if part < len(ahead) else inner.get("items") or {})
    return None


def _keys(fragment: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    """Return the allowed keys of a mapping, from all branches of its schema."""
    branches = (_follow(branch, schema) for branch in _branches(_follow(fragment, schema)))
    return [key for branch in branches for key in branch.get("properties", {})]


def _follow(fragment: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in fragment:
        fragment = schema["$defs"][fragment["$ref"].rsplit("/", 1)[1]]
    return fragment


def describe(fragment: dict[str, Any], schema: dict[str, Any]) -> str:
    """Describe in words the values that a JSON Schema allows, such as ``a number in [0, 1]``."""
    fragment = _follow(fragment, schema)
    if len(branches := _branches(fragment)) > 1:
        return _describe_choices([describe(branch, schema) for branch in branches if branch.get("type") != "null"])
    if "enum" in fragment or "const" in fragment:
        return " or ".join(quote(choice) for choice in fragment.get("enum", [fragment.get("const")]))
    if WRITTEN_FORM in fragment:
        return f"a mapping such as {fragment[WRITTEN_FORM]}"
    kind = fragment.get("type", "")
    if kind in {"integer", "number"}:
        return _describe_number(fragment)
    if kind == "array":
        return _describe_list(fragment, schema)
    if kind == "object":
        keys = ", ".join(fragment.get("properties", {}))
        return f"a mapping with {keys}" if keys else "a mapping"
    if kind == "string":
        pattern = f" that matches {fragment['pattern']}" if "pattern" in fragment else ""
        return f"text{' that is not empty' if fragment.get('minLength') else ''}{pattern}"
    return {"boolean": "true or false", "null": "nothing"}.get(kind, "something else")


def _describe_choices(choices: Sequence[str]) -> str:
    """Join descriptions with "or"; a list of the other choices is shortened: ``an int or a list of these``."""
    alone = " or ".join(dict.fromkeys(one for one in choices if not one.startswith("a list")))
    described = " or ".join(dict.fromkeys(choices))
    return described.replace(f", each item {alone}", " of these") if alone else described


def _describe_number(fragment: dict[str, Any]) -> str:
    noun = "an int" if fragment["type"] == "integer" else "a number"
    if "multipleOf" in fragment:
        noun = f"a multiple of {fragment['multipleOf']}"
    low, above = fragment.get("minimum"), fragment.get("exclusiveMinimum")
    high, below = fragment.get("maximum"), fragment.get("exclusiveMaximum")
    if (low is not None or above is not None) and (high is not None or below is not None):
        opening = f"[{low}" if low is not None else f"({above}"
        closing = f"{high}]" if high is not None else f"{below})"
        return f"{noun} in {opening}, {closing}"
    limits = {" of at least {}": low, " above {}": above, " of at most {}": high, " below {}": below}
    return noun + "".join(words.format(limit) for words, limit in limits.items() if limit is not None)


def _describe_list(fragment: dict[str, Any], schema: dict[str, Any]) -> str:
    fewest, most = fragment.get("minItems"), fragment.get("maxItems")
    size = "" if fewest is None else f" of {fewest} items" if fewest == most else f" of at least {fewest}"
    items = fragment.get("prefixItems") or [fragment.get("items", {})]
    inside = " or ".join(dict.fromkeys(describe(item, schema) for item in items if item))
    return f"a list{size}" + (f", each item {inside}" if inside else "")
