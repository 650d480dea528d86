"""Examples in docstrings give what they show."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import hybriddup

PACKAGE = Path(hybriddup.__file__).parent
WITH_EXAMPLES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_examples_of_a_module_give_what_they_show(path: Path) -> None:
    """As text, character by character."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    n_failed, n_tried = doctest.testmod(import_module(name))
    assert n_failed == 0
    assert n_tried > 0
