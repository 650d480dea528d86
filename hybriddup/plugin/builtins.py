"""The built-in components, registered through the same hook as the components of plugins.

They are listed in ``builtins.txt`` by import path, so that listing them loads neither numba nor jieba.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hybriddup.plugin.spec import hookimpl

if TYPE_CHECKING:
    from hybriddup.plugin.registry import Registry


@hookimpl
def hybriddup_register(registry: Registry) -> None:
    """Register every built-in component, in the order of the pipeline."""
    for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            role, name, path = line.split()
            getattr(registry, f"add_{role}")(name, f"hybriddup.{path}")
