"""The example of README.md does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_it_says(session: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """In the session of the tests, which is on this machine, too."""
    assert session.version
    found = re.search(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    exec(found[1], {})  # noqa: S102  our own example
    assert capsys.readouterr().out == found[2]
