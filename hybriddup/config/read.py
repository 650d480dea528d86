"""Reads a shipped configuration or the user's YAML file, and records the line of every key.

Only plain YAML is accepted: mappings, lists, text, numbers, true, false and null. Tags for other objects, duplicate
keys and keys that are not text are errors.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

import yaml

from hybriddup.errors import ConfigError
from hybriddup.steps.options import Path, quote, suggest

MAX_NODES = 100_000
"""Maximum number of values in a file. An alias counts each time it is used, as nested aliases could exhaust memory."""

MAX_DEPTH = 50

SCHEMA_FILE = "hybriddup.schema.json"
"""File name of the JSON Schema in the directory of the shipped configurations."""

PACKAGE = FilePath(__file__).parents[1]


@dataclass(frozen=True)
class Written:
    """A configuration as its author wrote it, without defaults for missing keys."""

    data: dict[str, Any]
    name: str = ""
    """Name of the file or of the shipped configuration; empty for a mapping."""
    lines: dict[Path, int] = field(default_factory=dict)
    """One-based line of each value, by path."""
    directory: FilePath | None = None
    """Directory of the file; None for mappings and shipped configurations."""
    remarks: tuple[str, ...] = ()
    """Deprecation warnings of the resolved `Settings` from which this configuration was made; empty for a file."""

    def line_of(self, path: Path) -> int:
        """Return the one-based line of a value, or of the innermost enclosing value whose line is known, else 0."""
        known = (self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines)
        return next(known, 0)

    def locate(self, path: Path) -> str:
        """Return the prefix ``file:line: `` for messages about a value; empty for a mapping, which has no file."""
        line = self.line_of(path)
        place = f"{self.name}:{line}" if line else self.name
        return f"{place}: " if place else ""


def shipped_directory(package: FilePath = PACKAGE) -> FilePath:
    """Return the directory of the shipped configurations, in the installed package or the source tree."""
    installed = package / "configs"
    return installed if installed.is_dir() else package.parent / "configs"


def shipped_names() -> list[str]:
    """Return the names of the shipped configurations, in alphabetical order."""
    return sorted(path.stem for path in shipped_directory().glob("*.yaml"))


def shipped_text(name: str) -> str:
    """Return the text of a shipped configuration, with an absolute address of the JSON Schema."""
    if name not in shipped_names():
        raise _not_shipped(name, f"no shipped configuration is called {name!r}")
    directory = shipped_directory()
    text = (directory / f"{name}.yaml").read_text("utf-8")
    return text.replace(f"$schema={SCHEMA_FILE}", f"$schema={(directory / SCHEMA_FILE).as_uri()}", 1)


def _not_shipped(name: object, problem: str) -> ConfigError:
    shipped = shipped_names()
    return ConfigError(f"{problem}.{suggest(name, shipped)} (shipped: {', '.join(shipped)})")


def read_config(config: str | FilePath) -> Written:
    """Read a configuration by shipped name or by path."""
    if isinstance(config, str) and config in shipped_names():
        return read_file(shipped_directory() / f"{config}.yaml", config)
    path = FilePath(config)
    try:
        is_there = path.exists()
    except OSError:  # such as a directory without permission: reading the file then reports the reason
        is_there = True
    if not is_there:
        raise _not_shipped(config, f"config {str(config)!r} is neither a file nor a shipped configuration")
    return replace(read_file(path, str(path)), directory=path.parent)


def read_file(path: FilePath, name: str) -> Written:
    """Read a configuration from a YAML file; error messages refer to it as ``name``."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{name}: must be UTF-8; byte {error.start} is not.") from error
    return parse_yaml(text, name)


def parse_yaml(text: str, name: str) -> Written:
    """Parse a configuration; raise ConfigError unless it is plain YAML with a mapping at the top.

    ``name`` is the file's name for messages.
    """
    parsed = _parse(text, name)
    return replace(parsed, data=deepcopy(parsed.data))


@lru_cache(maxsize=16)
def _parse(text: str, name: str) -> Written:
    """Parse a configuration; cached because a program that calls the API often reads the same one each time."""
    try:
        loader = _PlainLoader(text)
        node = loader.get_single_node()
        lines = {} if node is None else _lines_of(node)
        data = {} if node is None else loader.construct_document(node)
    except yaml.YAMLError as error:
        raise ConfigError(_explain(error, name)) from error
    except RecursionError as error:
        raise ConfigError(f"{name}: is nested too deeply.") from error
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise ConfigError(f"{name}:{lines.get((), 1)}: the top must be a mapping of keys; got {quote(data)}.")
    return Written(data, name, lines)


class _PlainLoader(yaml.SafeLoader):
    """A safe loader that keeps dates as text and rejects sets, binary data, duplicate keys and non-text keys."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - how PyYAML is extended
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {  # noqa: RUF012
        tag: constructor
        for tag, constructor in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rsplit(":", 1)[1] in {"null", "bool", "int", "float", "str", "seq", "map"}
    }

    def construct_yaml_int(self, node: yaml.ScalarNode) -> Any:
        return _number(super().construct_yaml_int, node)

    def construct_yaml_float(self, node: yaml.ScalarNode) -> Any:
        return _number(super().construct_yaml_float, node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first_lines: dict[str, int] = {}
        for key_node, _ in node.value:
            key, line = key_node.value, key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            if key_node.tag != "tag:yaml.org,2002:str":
                raise _fail(key_node, f"a key must be text; got {_source(key_node)}. Put it in quotes if it is meant.")
            if key in first_lines:
                raise _fail(key_node, f"the key {key!r} is written twice, first in line {first_lines[key]}.")
            first_lines[key] = line
        return super().construct_mapping(node, deep)


_PlainLoader.add_constructor("tag:yaml.org,2002:int", _PlainLoader.construct_yaml_int)
_PlainLoader.add_constructor("tag:yaml.org,2002:float", _PlainLoader.construct_yaml_float)


def _number(construct: Callable[[yaml.ScalarNode], Any], node: yaml.ScalarNode) -> Any:
    try:
        return construct(node)
    except (ValueError, OverflowError):  # also more digits than Python converts
        message = f"the number {quote(node.value)} cannot be read; write a smaller one, in digits."
        raise _fail(node, message) from None


def _source(node: yaml.Node) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else "a list or mapping"


def _fail(node: yaml.Node, message: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, message, node.start_mark)


def _explain(error: yaml.YAMLError, name: str) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"{name}:{mark.line + 1}" if mark is not None else name
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or error).rstrip(".")
    if "could not determine a constructor" in problem:
        tag = problem.split("'")[1].replace("tag:yaml.org,2002:", "!!")
        problem = f"the tag {tag} is not allowed, only plain mappings, lists, text, numbers, true, false and null"
    elif not isinstance(error, yaml.constructor.ConstructorError):
        problem = f"is not YAML: {problem}"
    return f"{place}: {problem}."


def _lines_of(root: yaml.Node) -> dict[Path, int]:
    """Map the path of every value to its one-based line; the value of a key has the line of the key."""
    lines: dict[Path, int] = {}
    pending: list[tuple[Path, yaml.Node, int]] = [((), root, root.start_mark.line + 1)]
    while pending:
        path, node, line = pending.pop()
        lines.setdefault(path, line)
        if len(path) > MAX_DEPTH:
            raise _fail(root, f"the file is nested more than {MAX_DEPTH} deep, aliases followed.")
        if len(lines) + len(pending) > MAX_NODES:
            raise _fail(root, f"the file holds more than {MAX_NODES} values, aliases counted each time.")
        if isinstance(node, yaml.MappingNode):
            scalar_keys = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
            pending += [((*path, key.value), value, key.start_mark.line + 1) for key, value in scalar_keys]
        elif isinstance(node, yaml.SequenceNode):
            pending += [((*path, place), item, item.start_mark.line + 1) for place, item in enumerate(node.value)]
    return lines
