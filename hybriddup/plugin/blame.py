"""Blaming plugins: what goes wrong in a plugin's code becomes an error that names the plugin.

A plugin may raise anything, ``SystemExit`` too, which would otherwise end the program without a word. An error of
hybriddup's own family is meant for the user and passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from hybriddup.errors import HybriddupError, PluginError
from hybriddup.plugin.registered import Registered


@contextmanager
def blamed_on(culprit: object, what: str) -> Iterator[None]:
    """Turn what is raised inside into a `PluginError` that says who did what, such as ``cannot be imported``."""
    try:
        yield
    except (HybriddupError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{culprit} {what}: {type(error).__name__}: {error}") from error


class PluginPart:
    """A function or a component of a plugin, which is called with its faults blamed on it and its answers checked."""

    def __init__(self, part: Any, found: Registered) -> None:
        self.part = part
        """What the plugin made."""
        self._label = found.label
        self._owner = found.owner

    def recipe(self) -> dict[str, Any]:
        """Return what the part adds to the recipe id: its own ``recipe()``, or `Owner.recipe`."""
        own = getattr(self.part, "recipe", None)
        return dict(own()) if callable(own) else self._owner.recipe(self.part)

    def _call(self, function: Callable[..., Any], what: str, *arguments: Any) -> Any:
        with blamed_on(self._label, what):
            return function(*arguments)

    def _wrong(self, method: str, allowed: str, given: object, arguments: str = "") -> PluginError:
        """Return the error to raise where an answer is not what is allowed."""
        who = f"{self._label}: {method}" if method else self._label
        case = f"for {arguments} " if arguments else ""
        return PluginError(f"{who} must return {allowed}; {case}it returned {given}.")


def kind_of(value: object) -> str:
    """Return the type of a value with its article, such as ``an int``."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
