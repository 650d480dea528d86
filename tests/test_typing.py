"""What type checkers say of code that uses the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import hybriddup

hybriddup.dedup(["a"])
hybriddup.dedupe(["a"]).kept.append("row")
"""


@pytest.mark.slow
def test_misspelled_names_are_errors_for_mypy(tmp_path: Path) -> None:
    """Though names are loaded when they are first used; and those that exist have their types."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = os.environ | {"MYPYPATH": str(ROOT)}
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", "program.py"]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    misspelled, wrong_type, total = ran.stdout.splitlines()
    assert misspelled.startswith('program.py:4: error: Module has no attribute "dedup"')
    assert wrong_type.startswith('program.py:5: error: Argument 1 to "append" of "list" has incompatible type')
    assert total.startswith("Found 2 errors")
