"""Imports inside the package go one way."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import hybriddup
from tests.processes import run_python

ROOT = Path(hybriddup.__file__).parent
MODULES = {".".join(("hybriddup", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}
FACADE = "hybriddup.__init__"
"""Hands out what other modules hold when it is asked for, and imports nothing itself."""
FLOORS = [
    *({"errors"}, {"data"}, {"kernels"}, {"steps"}, {"plugin"}, {"config"}, {"files"}, {"run"}, {"study"}),
    *({"__init__", "api", "estimators"}, {"window"}, {"shared_windows"}, {"testing"}, {"service"}),
    {"cli", "__main__"},
]
"""Modules and packages of the root, each importing only from its own floor and those before it."""
FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def statements_in(node: ast.AST) -> Iterator[ast.AST]:
    """The statements directly in a node, and its handlers and cases; no expression has an import in it."""
    for name in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, name, ())


def statements_below(node: ast.AST) -> Iterator[ast.AST]:
    for child in statements_in(node):
        yield from (child, *statements_below(child))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, at its top, in a function, or for types alone."""
    return imported_by(statements_below(parsed(path)))


def imported_by(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield str(node.module)


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Every statement below, but for those that only a type checker sees."""
    for child in statements_in(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield from (other, *running(other))
        else:
            yield from (child, *running(child))


def floor_of(name: str) -> int:
    """The number of the floor on which a module of `MODULES` stands."""
    return FLOOR_OF[name.split(".")[1]]


def module_named(name: str) -> str:
    """The name by which `MODULES` has a module or package."""
    return name if name in MODULES else f"{name}.__init__"


def test_every_part_of_the_package_has_a_floor() -> None:
    """So that a new one is given its place."""
    assert {name.split(".")[1] for name in MODULES} == FLOOR_OF.keys()


def test_no_floor_imports_from_a_later_one() -> None:
    """Not inside a function either; what is imported for types alone does not count."""
    upward = [
        f"{name} imports {other}"
        for name, path in MODULES.items()
        for other in sorted({module_named(other) for other in imported_by(running(parsed(path)))})
        if other in MODULES and floor_of(other) > floor_of(name)
    ]
    assert upward == []


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


POSIX_ONLY = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "tty"}


def imported_on_windows(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every module that is imported there; what follows ``if sys.platform == "win32"`` as ``else`` is not."""
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "sys.platform == 'win32'":
            yield from imported_on_windows(node.body)
        else:
            yield from imported_by([node])
            yield from imported_on_windows(statements_in(node))


def test_no_module_needs_one_that_windows_lacks() -> None:
    needing = {
        name: found
        for name, path in MODULES.items()
        if (found := POSIX_ONLY & set(imported_on_windows([parsed(path)])))
    }
    assert needing == {}


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        ("from hybriddup import hookimpl", {"numpy", "pydantic", "typer", "numba", "yaml"}),
        (
            "from hybriddup.plugin import manager; manager.create_plugin_manager(entry_points=False).describe()",
            {"numba", "numpy", "jieba", "scipy", "sklearn"},
        ),
        (
            "from hybriddup.data import frames; frames.corpus_from_posts(['a', 'b'], 'text', 'id')",
            {"pandas", "polars", "numba", "sklearn", "scipy", "jieba"},
        ),
    ],
    ids=["marking hooks", "listing plugins", "reading posts"],
)
def test_what_is_needed_often_loads_nothing_heavy(code: str, heavy: set[str]) -> None:
    ran = run_python("-c", f"{code}; import sys; print(*sys.modules)")
    assert heavy & set(ran.stdout.split()) == set()
