"""The picture of rates in README.md shows what the table beside it says."""

from __future__ import annotations

import pytest

pytest.importorskip("hybriddup.run.report.charts", reason="the package pygal is not installed")  # and puts it right

from tests.docs import rates


def test_the_picture_is_that_of_the_table() -> None:
    """Drawn anew from the table, it says the same: run python -m tests.docs.rates after a change."""
    found = rates.tools(rates.README.read_text(encoding="utf-8"))
    assert [tool.name for tool in found][:2] == ["hybriddup, benchmark", "rensa + rapidfuzz"]
    assert len(found) == 6
    drawn = rates.words(rates.PICTURE.read_text(encoding="utf-8"))
    assert drawn == rates.words(rates.draw(found))
    assert sum(": 0." in word for word in drawn) == len(found)
