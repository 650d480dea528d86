"""What tests of windows make and look into: plugins, classes with a fault, and what is behind a window."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from hybriddup.plugin.registry import Registry
from hybriddup.plugin.spec import hookimpl
from hybriddup.window import Window

LEARN_AT = 60
"""Posts after which windows learn in tests with the fixture `learns_early`."""


def plugin(component: Any, role: str = "block_index", name: str = "own") -> ModuleType:
    module = ModuleType("tests_window")

    @hookimpl
    def hybriddup_register(registry: Registry) -> None:
        getattr(registry, f"add_{role}")(name, component)

    module.hybriddup_register = hybriddup_register  # type: ignore[attr-defined]
    return module


def with_fault(kind: type, method: str, fault: Callable[..., Any]) -> Any:
    """The class with another method in place of its own, which is given that, and then what it is called with."""
    right = getattr(kind, method)

    def wrong(self: Any, *given: Any, **named: Any) -> Any:
        return fault(partial(right, self), *given, **named)

    return type(f"Faulty{kind.__name__}", (kind,), {method: wrong})


def nothing(*_: object) -> None:
    """Do nothing."""


def connections_made(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """A list that gets every connection to SQLite that is made from now on."""
    connect, made = sqlite3.connect, list[sqlite3.Connection]()

    def noted(*given: Any, **named: Any) -> sqlite3.Connection:
        made.append(connect(*given, **named))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", noted)
    return made


def state_of(window: Window) -> Any:
    return window._state
