"""From a registered component to an instance: whether it can fill its role, its options, and making it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from hybriddup.errors import ConfigError, PluginError
from hybriddup.plugin.registered import Registered, blamed_on
from hybriddup.plugin.roles import ROLES, Role
from hybriddup.steps.options import RESERVED_NAMES, Fault, Options, Path, parse_options, spell

BUILTINS = "hybriddup.plugin.builtins"
"""The module, and the plugin name, of the built-in components."""


def check_registered(new: Registered) -> None:
    """Refuse a name that configurations cannot hold and a component that cannot fill its role."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", str(new.name)):
        raise PluginError(f"{new.label}: a name is a letter, then letters, digits, '_' or '-'.")
    if isinstance(new.component, str):
        if not re.fullmatch(r"[\w.]+:\w+", new.component):
            raise PluginError(f"{new.label}: an import path looks like 'package.module:Name'; got {new.component!r}.")
    else:
        _check_kind(new, new.component)


def _check_kind(new: Registered, component: Any) -> None:
    role = ROLES[new.role]
    is_class = isinstance(component, type)
    if _missing_methods(component, role):
        if not (role.per_text and _is_called(component)):
            raise PluginError(f"{new.label} must be {_allowed(role)}; got {component!r}{_lacking(component, role)}.")
    elif role.new_each_run and not is_class:
        raise PluginError(f"{new.label}: register the class, not an instance of it, because each run needs a new one.")


def _missing_methods(component: Any, role: Role) -> list[str]:
    return [name for name in role.methods if not callable(getattr(component, name, None))]


def _is_called(component: Any) -> bool:
    """Return whether the component, or the instances of the class, can be called like a function."""
    if isinstance(component, type):
        return any("__call__" in ancestor.__dict__ for ancestor in component.__mro__)
    return callable(component)


def _allowed(role: Role) -> str:
    function = f"a function {role.per_text}, or " if role.per_text else ""
    methods = " and ".join(f"{name}()" for name in role.methods)
    return f"{function}a class{'' if role.new_each_run else ' or instance'} with {methods}"


def _lacking(component: Any, role: Role) -> str:
    missing = _missing_methods(component, role)
    return f", which has no {', '.join(missing)}" if len(missing) < len(role.methods) else ""


def load(found: Registered) -> Any:
    """Return the function, instance or class itself, importing it where only its path was registered."""
    if not isinstance(found.component, str):
        return found.component
    module_name, _, attribute = found.component.partition(":")
    with blamed_on(found.label, f"cannot be imported from {found.component!r}"):
        component = getattr(importlib.import_module(module_name), attribute)
    _check_kind(found, component)
    return component


def options_model(found: Registered) -> type[BaseModel] | None:
    """Return the model of a component's options, or None where it takes none."""
    component = load(found)
    model = getattr(component, "Options", None) if isinstance(component, type) else None
    if model is None:
        return None
    if not (isinstance(model, type) and issubclass(model, Options)):
        raise PluginError(f"{found.label}: its Options must be a subclass of hybriddup.Options; got {model!r}.")
    if taken := sorted(RESERVED_NAMES & set(model.model_fields)):
        raise PluginError(f"{found.label}: its Options cannot have a field named {', '.join(taken)}.")
    return model


def read_options(found: Registered, given: Mapping[str, Any], path: Path = ()) -> BaseModel | list[Fault] | None:
    """Return a component's options with the defaults filled in, None where it takes none, or every fault."""
    model = options_model(found)
    if model is None:
        places = [(*path, key) for key in given]
        return [
            Fault(place, f"{spell(place)} is not a key: {found.label} takes no options.") for place in places
        ] or None
    parsed = parse_options(model, given, path)
    if isinstance(parsed, list):
        declared_by = "" if found.owner.plugin == BUILTINS else f" The options are those of {found.label}."
        return [Fault(fault.path, fault.message + declared_by) for fault in parsed]
    return parsed


def check_settings(found: Registered, settings: Any) -> list[str]:
    """Return what the ``check`` of a component's class finds wrong with the settings as a whole."""
    component = load(found)
    check = getattr(component, "check", None) if isinstance(component, type) else None
    if check is None:
        return []
    with blamed_on(found.label, "failed in check()"):
        return list(check(settings))


def make_batch_component(found: Registered, component: Any) -> Any:
    """Return an instance that has its role's batch methods: what a plugin made, guarded, or its function, adapted."""
    from hybriddup.plugin.adapters import adapt  # these bring numpy, which listing components does without
    from hybriddup.plugin.guards import guard

    role = ROLES[found.role]
    missing = _missing_methods(component, role)
    if not missing:
        if absent := [name for name in role.attributes if not hasattr(component, name)]:
            raise PluginError(f"{found.label} made {component!r}, which has no {', '.join(absent)}.")
        return component if found.owner.plugin == BUILTINS else guard(found, component)
    if not (role.per_text and callable(component)):
        raise PluginError(f"{found.label} made {component!r}, which has no {', '.join(missing)}.")
    return adapt(found, component)


def construct(found: Registered, given: Mapping[str, Any]) -> Any:
    """Return the function or instance that fills the role, not yet adapted to batches."""
    options = read_options(found, given)
    if isinstance(options, list):
        raise ConfigError("\n".join(fault.message for fault in options))
    component = load(found)
    if not isinstance(component, type):
        return component
    with blamed_on(found.label, "cannot be constructed"):
        return component() if options is None else component(options)
