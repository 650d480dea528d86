"""Imports inside the package go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import hybriddup

ROOT = Path(hybriddup.__file__).parent
MODULES = {".".join(("hybriddup", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}
FACADE = "hybriddup.__init__"
"""Hands out what other modules hold when it is asked for, and imports nothing itself."""


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, at its top, in a function, or for types alone."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield str(node.module)


def module_named(name: str) -> str:
    """The name by which `MODULES` has a module or package."""
    return name if name in MODULES else f"{name}.__init__"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not even where one of them waits with it until a function is called."""
    needs = {
        name: {module_named(other) for other in imported(path)} & MODULES.keys() - {name, FACADE}
        for name, path in MODULES.items()
        if name != FACADE
    }
    assert sum(map(len, needs.values())) > 300
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as circle:
        pytest.fail(f"imports in a circle: {' <- '.join(circle.args[1])}")
