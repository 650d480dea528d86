"""Tests go through public names, so that what is inside can change.

The test has a ceiling and not a ban: a few faults, such as an interruption between two steps, need a look inside.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

CEILING = 23
"""Number of places in tests that use private names or replace constants now; lower it when the number falls."""
OF_PYTHON = {"_asdict", "_exit", "_fields", "_make", "_replace", "_repr_html_"}
"""Names with an underscore that are public: of named tuples, of `os`, and of notebooks."""
HIDDEN = re.compile(r"(.*\.)?(_[a-z]\w*|[A-Z][A-Z_]+)")
"""Private names and constants, which a test should not replace."""


def test_the_number_of_private_names_in_tests_does_not_grow() -> None:
    folder = Path(__file__).parent
    found = [
        f"{path.relative_to(folder)}:{line}: {name}"
        for path in sorted(folder.rglob("*.py"))
        for line, name in private_names(ast.parse(path.read_text("utf-8")))
    ]
    advice = (
        f"{len(found)} private names or replaced constants in tests, {CEILING} allowed. Check behavior through public "
        "names, give the test more or larger inputs, or make the constant an argument with a default."
    )
    assert len(found) <= CEILING, "\n".join([advice, *found])


def private_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of each private name of another object, and of each constant that is replaced."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and re.match("_[a-z]", node.attr) and node.attr not in OF_PYTHON:
            if not (isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hybriddup"):
            yield from ((node.lineno, one.name) for one in node.names if re.match("_[a-z]", one.name))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            yield from ((node.lineno, name) for name in names_in(node.args[:2]) if HIDDEN.fullmatch(name))


def names_in(arguments: list[ast.expr]) -> list[str]:
    """Return the texts among some arguments; of an f-string, its end."""
    ends = [one.values[-1] if isinstance(one, ast.JoinedStr) else one for one in arguments]
    return [one.value for one in ends if isinstance(one, ast.Constant) and isinstance(one.value, str)]
