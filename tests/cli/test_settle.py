"""What a process that answers for days was started with is not looked at by the garbage collector."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import gc
from hybriddup.cli.settle import settle
print(gc.get_freeze_count())
settle()
print(gc.get_freeze_count())
"""


def test_settling_takes_what_there_is_out_of_sight() -> None:
    """In a process of its own, because it cannot be taken back."""
    before, after = map(
        int, subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True).stdout.split()
    )
    assert before == 0
    assert after > 1000
