"""Plugins made from what the tests of windows have."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hybriddup.plugin.registry import Registry
from hybriddup.plugin.spec import hookimpl


def plugin(component: Any) -> ModuleType:
    """A plugin with a block index, ``own``."""
    module = ModuleType("tests_block_index")

    @hookimpl
    def hybriddup_register(registry: Registry) -> None:
        registry.add_block_index("own", component)

    module.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    return module
