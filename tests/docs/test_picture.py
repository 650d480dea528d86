"""The picture of rates in README.md shows the numbers of the table above it."""

import pytest

pytest.importorskip("jinja2")

from tests.docs import rates


def test_the_picture_is_that_of_the_table() -> None:
    """Run python -m tests.docs.rates after a change of the table."""
    found = rates.tools(rates.README.read_text(encoding="utf-8"))
    assert [tool.name for tool in found][:2] == ["hybriddup, benchmark", "rensa + rapidfuzz"]
    assert len(found) == 6
    assert rates.PICTURE.read_text(encoding="utf-8") == rates.draw(found)
