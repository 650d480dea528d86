"""Registered components: their owners, checks that they fit their roles, their options, and their construction.

Any exception in a plugin becomes an error that names the plugin; even ``SystemExit``, which would otherwise end the
program silently. hybriddup's own exceptions are written for the user and pass unchanged, as does Ctrl-C.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from hybriddup.errors import ConfigError, HybriddupError, PluginError
from hybriddup.plugin.roles import ROLES, Role, RoleName
from hybriddup.plugin.source import source_recipe
from hybriddup.steps.options import RESERVED_NAMES, Fault, Options, Path, fault_at, parse_options

PASSED_ON = (HybriddupError, MemoryError, KeyboardInterrupt)
"""Exceptions that are not attributed to the plugin whose code raised them."""

BUILTINS = "hybriddup.plugin.builtins"
"""Module name and plugin name of the built-in components."""


@dataclass(frozen=True)
class Owner:
    """The plugin that registered a component, with its distribution."""

    plugin: str
    distribution: str = ""
    """Name of the installed distribution; empty for a module that is not packaged."""
    version: str = ""

    def __str__(self) -> str:
        """Describe the plugin for error messages."""
        packaged = f" of {self.distribution} {self.version}".rstrip() if self.distribution else " of no package"
        return f"plugin {self.plugin!r}{packaged}"

    def recipe(self, component: Any) -> dict[str, str]:
        """Return data for the recipe id, the hash of all components, if ``component`` has no method ``recipe``.

        This is the name and version of the distribution. For a module that is not packaged, or the calling program, it
        is a checksum of the source, so that fingerprints from before and after an edit are not compared.
        """
        if self.distribution:
            return {"distribution": self.distribution, "version": self.version}
        return source_recipe(component)


@dataclass(frozen=True)
class Registered:
    """A registered component: a function, an instance, a class, or the import path of any of these."""

    role: RoleName
    name: str
    component: Any
    owner: Owner

    @property
    def label(self) -> str:
        """Name of the component for error messages."""
        return f"{ROLES[self.role].label} {self.name!r} ({self.owner})"

    def load(self) -> Any:
        """Return the registered function, instance or class; import it if only its path is registered."""
        if not isinstance(self.component, str):
            return self.component
        module_name, _, attribute = self.component.partition(":")
        with blamed_on(self.label, f"cannot be imported from {self.component!r}"):
            component = getattr(importlib.import_module(module_name), attribute)
        _check_kind(self, component)
        return component

    def options_model(self) -> type[BaseModel] | None:
        """Return the pydantic model of a component's options; None if it takes no options."""
        component = self.load()
        model = getattr(component, "Options", None) if isinstance(component, type) else None
        if model is None:
            return None
        if not (isinstance(model, type) and issubclass(model, Options)):
            raise PluginError(f"{self.label}: its Options must be a subclass of hybriddup.Options; got {model!r}.")
        if taken := sorted(RESERVED_NAMES & set(model.model_fields)):
            raise PluginError(f"{self.label}: its Options cannot have a field named {', '.join(taken)}.")
        return model

    def read_options(self, given: Mapping[str, Any], path: Path = ()) -> BaseModel | list[Fault] | None:
        """Return the options with defaults filled in, or the faults in ``given``; None if there are no options.

        ``path`` is the path of the component in the configuration, for the faults.
        """
        model = self.options_model()
        if model is None:
            wrong = f"is not a key: {self.label} takes no options."
            return [fault_at((*path, key), wrong) for key in given] or None
        parsed = parse_options(model, given, path)
        if isinstance(parsed, list):
            declared_by = "" if self.owner.plugin == BUILTINS else f" The options are those of {self.label}."
            return [Fault(fault.path, fault.message + declared_by) for fault in parsed]
        return parsed

    def check_settings(self, settings: Any) -> list[str]:
        """Call the method ``check`` of a component's class, if it has one, to check all settings; return the faults.

        ``check(settings) -> list[str]`` is a static or class method. Each fault is a sentence that names the key, such
        as ``blocks.n_blocks must be at least 4 because max_hamming_distance is 3; got 3.``
        """
        component = self.load()
        check = getattr(component, "check", None) if isinstance(component, type) else None
        if check is None:
            return []
        with blamed_on(self.label, "failed in check()"):
            return list(check(settings))

    def construct(self, given: Mapping[str, Any]) -> Any:
        """Return the registered function or instance, or a new instance of the registered class, without an adapter.

        ``given`` are the options.
        """
        options = self.read_options(given)
        if isinstance(options, list):
            raise ConfigError("\n".join(fault.message for fault in options))
        component = self.load()
        if not isinstance(component, type):
            return component
        with blamed_on(self.label, "cannot be constructed"):
            return component() if options is None else component(options)


@contextmanager
def blamed_on(culprit: object, what: str) -> Iterator[None]:
    """Turn any exception except `PASSED_ON` into a `PluginError`; its message begins with ``culprit`` and ``what``."""
    try:
        yield
    except PASSED_ON:
        raise
    except BaseException as error:
        raise PluginError(f"{culprit} {what}: {type(error).__name__}: {error}") from error


def kind_of(value: object) -> str:
    """Return the type of a value with its article, such as ``an int``."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def check_registered(new: Registered) -> None:
    """Raise PluginError if the name is not valid in configurations, or the component cannot fill its role."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", str(new.name)):
        raise PluginError(f"{new.label}: a name is a letter, then letters, digits, '_' or '-'.")
    if isinstance(new.component, str):
        if not re.fullmatch(r"[\w.]+:\w+", new.component):
            raise PluginError(f"{new.label}: an import path looks like 'package.module:Name'; got {new.component!r}.")
    else:
        _check_kind(new, new.component)


def _check_kind(new: Registered, component: Any) -> None:
    role, is_class = ROLES[new.role], isinstance(component, type)
    missing = missing_methods(component, role)
    if missing and not (role.per_text and _is_called(component)):
        function = f"a function {role.per_text}, or " if role.per_text else ""
        instance = "" if role.new_each_run else " or instance"
        allowed = f"{function}a class{instance} with {' and '.join(f'{name}()' for name in role.methods)}"
        lacking = f", which has no {', '.join(missing)}" if len(missing) < len(role.methods) else ""
        raise PluginError(f"{new.label} must be {allowed}; got {component!r}{lacking}.")
    if not missing and role.new_each_run and not is_class:
        raise PluginError(f"{new.label}: register the class, not an instance of it, because each run needs a new one.")


def missing_methods(component: Any, role: Role) -> list[str]:
    """Return the names of the role's batch methods that the component lacks."""
    return [name for name in role.methods if not callable(getattr(component, name, None))]


def _is_called(component: Any) -> bool:
    """Return whether a component can be called like a function; for a class, whether its instances can be."""
    if isinstance(component, type):
        return any("__call__" in ancestor.__dict__ for ancestor in component.__mro__)
    return callable(component)
