"""Printing data for machines on standard output."""

from __future__ import annotations

import json
import sys
from typing import Any


def print_json(data: Any) -> None:
    """Print data as indented JSON; lone surrogates come out as escapes."""
    text = json.dumps(data, ensure_ascii=False, indent=2, default=str)
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
