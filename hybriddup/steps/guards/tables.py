"""The word lists of guards, which are YAML files next to their modules."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return the content of a file such as ``numbers.yaml``."""
    text = files("hybriddup.steps.guards").joinpath(f"{name}.yaml").read_text("utf-8")
    read: dict[str, Any] = yaml.safe_load(text)
    return read
