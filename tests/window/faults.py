"""Classes with a fault, by which it is told that a check finds it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any


def with_fault(kind: type, method: str, fault: Callable[..., Any]) -> Any:
    """The class with another method in place of its own, which is given that, and then what it is called with."""
    right = getattr(kind, method)

    def wrong(self: Any, *given: Any, **named: Any) -> Any:
        return fault(partial(right, self), *given, **named)

    return type(f"Faulty{kind.__name__}", (kind,), {method: wrong})


def nothing(*_: object) -> None:
    """Do nothing."""
