"""Inner kernels are called by compiled code alone: from Python, a call would crash the process."""

import ast
from collections.abc import Iterator
from pathlib import Path

import hybriddup

ROOT = Path(hybriddup.__file__).parent
TREES = {
    ".".join(("hybriddup", *path.relative_to(ROOT).with_suffix("").parts)): ast.parse(path.read_text("utf-8"))
    for path in ROOT.rglob("*.py")
}
"""The syntax tree of each module."""


def is_compiled(function: ast.AST, *, inner: bool = False) -> bool:
    """Whether a function is a kernel; with ``inner``, whether it is an inner one."""
    decorators = map(ast.unparse, getattr(function, "decorator_list", ()))
    return any("njit" in one and (not inner or "inner=True" in one) for one in decorators)


def names_called(node: ast.AST) -> Iterator[str]:
    """The names of the functions that Python calls below a node, methods and attributes left out."""
    for child in ast.iter_child_nodes(node):
        if not is_compiled(child):
            if isinstance(child, ast.Call) and isinstance(child.func, ast.Name):
                yield child.func.id
            yield from names_called(child)


def sources_of(module: str) -> dict[str, str]:
    """For each name that a module imports from another one or defines, that name with its module."""
    imports = (node for node in ast.walk(TREES[module]) if isinstance(node, ast.ImportFrom))
    found = {alias.asname or alias.name: f"{one.module}.{alias.name}" for one in imports for alias in one.names}
    return found | {one.name: f"{module}.{one.name}" for one in TREES[module].body if isinstance(one, ast.FunctionDef)}


def test_python_calls_no_inner_kernel() -> None:
    inner = {
        f"{module}.{one.name}" for module, tree in TREES.items() for one in tree.body if is_compiled(one, inner=True)
    }
    assert "hybriddup.kernels.posts.tokens.put_token" in inner
    called = []
    for module, tree in TREES.items():
        sources = sources_of(module)
        called += [f"{name} by {module}" for name in names_called(tree) if sources.get(name) in inner]
    assert not called, "call these from kernels only, or make them kernels that are not inner ones"
