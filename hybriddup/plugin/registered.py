"""A component as it was registered, who brought it, and who is to blame where it fails.

A plugin may raise anything, ``SystemExit`` too, which would otherwise end the program without a word. It becomes an
error that names the plugin. An error of hybriddup's own family is meant for the user and passes unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hybriddup.errors import HybriddupError, PluginError
from hybriddup.plugin.roles import ROLES, RoleName
from hybriddup.plugin.source import source_recipe


@dataclass(frozen=True)
class Owner:
    """The plugin that brought a component."""

    plugin: str
    distribution: str = ""
    """Installed distribution, empty for a module that is not packaged."""
    version: str = ""

    def __str__(self) -> str:
        """Return the owner as error messages name it."""
        packaged = f" of {self.distribution} {self.version}".rstrip() if self.distribution else ", not packaged"
        return f"plugin {self.plugin!r}{packaged}"

    def recipe(self, component: Any) -> dict[str, str]:
        """Return what stands for a component that says nothing of its own recipe.

        The release that brought it; of a module that is not packaged, and of the calling program, a checksum of its
        source, so that fingerprints made before an edit are not compared with those made after it.
        """
        if self.distribution:
            return {"distribution": self.distribution, "version": self.version}
        return source_recipe(component)


@dataclass(frozen=True)
class Registered:
    """A component as it was registered: a function, an instance, a class, or the import path of one of these."""

    role: RoleName
    name: str
    component: Any
    owner: Owner

    @property
    def label(self) -> str:
        """The component as error messages name it."""
        return f"{ROLES[self.role].label} {self.name!r} ({self.owner})"


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
