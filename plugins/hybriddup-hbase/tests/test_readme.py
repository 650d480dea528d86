"""The example of README.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from servers import HBase

README = Path(__file__).parents[1] / "README.md"


def test_the_example_keeps_a_post(servers: HBase, capsys: pytest.CaptureFixture[str]) -> None:
    """In the window that it names, on a server of our own."""
    examples = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(examples) == 1
    exec(examples[0].replace("localhost:9090", f"127.0.0.1:{servers.port}"), {})  # noqa: S102  our own example
    assert capsys.readouterr().out == "kept\n"
