"""A component as it was registered, and who brought it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
