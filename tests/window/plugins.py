"""Plugins made from what the tests of windows have."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hybriddup.plugin.registry import Registry
from hybriddup.plugin.spec import hookimpl


def plugin(component: Any, role: str = "block_index", name: str = "own") -> ModuleType:
    """A plugin with a component."""
    module = ModuleType("tests_window")

    @hookimpl
    def hybriddup_register(registry: Registry) -> None:
        getattr(registry, f"add_{role}")(name, component)

    module.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    return module
