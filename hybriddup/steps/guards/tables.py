"""Loads YAML files next to the modules that use them: word lists of guards, models of the verifier `post`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import yaml

SAFE_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
"""YAML loader for the tables: libyaml's if installed, because Python's takes ten times as long."""


@cache
def read_table(name: str, package: str = "hybriddup.steps.guards") -> dict[str, Any]:
    """Return the content of ``NAME.yaml``, such as ``numbers.yaml``, in a package."""
    text = files(package).joinpath(f"{name}.yaml").read_text("utf-8")
    read: dict[str, Any] = yaml.load(text, SAFE_LOADER)  # noqa: S506 - safe in both cases
    return read
