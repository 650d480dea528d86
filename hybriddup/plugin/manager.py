"""Loads plugins: the built-ins, installed plugins and requested modules. There is no global state."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pluggy

from hybriddup.errors import PluginError
from hybriddup.plugin import spec
from hybriddup.plugin.registered import BUILTINS, Owner, blamed_on
from hybriddup.plugin.registry import Registry
from hybriddup.steps.options import quote, suggest

if TYPE_CHECKING:
    import typer

DISABLE_VARIABLE = "HYBRIDDUP_DISABLE_PLUGINS"
"""Environment variable with the names of plugins that are not loaded, separated by commas."""


@dataclass(frozen=True)
class PluginDescription:
    """A plugin's name, origin, hooks and components, which `hybriddup plugins` prints."""

    name: str
    distribution: str
    """Name of the installed distribution; empty for a module that is not packaged."""
    version: str
    hooks: list[str]
    components: dict[str, list[str]]
    """Names of the plugin's components by role, except components that another plugin replaced."""


def create_plugin_manager(entry_points: bool = True, modules: Iterable[str | ModuleType] = ()) -> PluginManager:
    """Return a new manager with the built-ins, the installed plugins and ``modules`` loaded, in this order.

    Installed plugins are the entry points in the group ``hybriddup``; ``entry_points`` = False skips them. Modules are
    passed to `PluginManager.load_modules`, with the current directory.
    """
    manager = PluginManager()
    manager.load(Owner(BUILTINS, spec.PROJECT, _own_version()), lambda: importlib.import_module(BUILTINS))
    if entry_points:
        for owner, entry_point in _installed(tuple(sys.path)):
            manager.load(owner, entry_point.load)
    manager.load_modules(modules, Path.cwd())
    return manager


class PluginManager:
    """Loads plugins, which add components to its registry, and calls their hooks; see `create_plugin_manager`."""

    def __init__(self) -> None:
        self.registry = Registry()
        self._pluggy = pluggy.PluginManager(spec.PROJECT)
        self._pluggy.add_hookspecs(spec)
        self._owners: dict[str, Owner] = {}
        names = os.environ.get(DISABLE_VARIABLE, "").split(",")
        self.disabled = frozenset(name.strip() for name in names if name.strip())
        """Names of plugins that are not loaded."""

    def load_modules(self, modules: Iterable[str | ModuleType], directory: Path | None) -> None:
        """Load modules as plugins, given as objects, names or paths of ``.py`` files; skip modules already loaded.

        ``directory`` is searched for modules that are not installed, and is the base of relative paths; None = only
        installed modules. Callers use the current directory for modules that the user names, and the directory of the
        configuration for modules that a configuration lists.
        """
        if isinstance(modules, str):
            raise PluginError(f"plugins must be a list; got {modules!r}. A list with one plugin is [{modules!r}].")
        listed = list(modules) if isinstance(modules, Iterable) else [modules]
        if wrong := [one for one in listed if not isinstance(one, (str, ModuleType))]:
            raise PluginError(f"plugins must be a list of modules or of their names; got {quote(wrong[0])}.")
        for module in listed:
            if not isinstance(module, str):
                self.load(Owner(module.__name__), lambda module=module: module)  # type: ignore[misc]
            elif directory is not None and module.endswith(".py"):
                self.load(Owner(Path(module).stem), partial(_import_file, directory / module))
            else:
                self.load(Owner(module), partial(_import, module, directory))

    def load(self, owner: Owner, obtain: Callable[[], object]) -> None:
        """Load the plugin that ``obtain`` returns, unless it is disabled or loaded already."""
        if owner.plugin in self.disabled:
            return
        with blamed_on(owner, "cannot be imported"):
            plugin = obtain()
        if self._pluggy.is_registered(plugin):
            return
        if taken := self._owners.get(owner.plugin):
            raise PluginError(f"two plugins are named {owner.plugin!r}: {taken} and {owner}; uninstall or block one.")
        self._register(owner, plugin)

    def _register(self, owner: Owner, plugin: object) -> None:
        with blamed_on(owner, "cannot be used"):
            self._pluggy.register(plugin, name=owner.plugin)
        self._owners[owner.plugin] = owner
        self._check_hooks(owner, plugin)
        with blamed_on(owner, "failed to register its components"), self.registry.owned_by(owner):
            self._caller(spec.hybriddup_register.__name__, owner.plugin)(registry=self.registry)

    def _check_hooks(self, owner: Owner, plugin: object) -> None:
        known = [name for name in vars(spec) if name.startswith(f"{spec.PROJECT}_")]
        marked = {name for name in dir(plugin) if self._pluggy.parse_hookimpl_opts(plugin, name)}
        if unknown := sorted(marked - set(known)):
            message = f"{owner} has a hook that does not exist: {', '.join(unknown)}.{suggest(unknown[0], known)}"
            raise PluginError(f"{message} (hooks: {', '.join(known)})")
        if not marked:
            raise PluginError(f"{owner} has no hook: mark a function hybriddup_register with @hybriddup.hookimpl.")

    def _caller(self, hook: str, name: str) -> pluggy.HookCaller:
        """Return a function that calls a hook only in the plugin ``name``, so that errors can be attributed to it."""
        others = [plugin for other, plugin in self._pluggy.list_name_plugin() if other != name and plugin is not None]
        return self._pluggy.subset_hook_caller(hook, others)

    def _hooks_of(self, name: str) -> list[str]:
        callers = self._pluggy.get_hookcallers(self._pluggy.get_plugin(name)) or []
        return sorted(caller.name for caller in callers)

    def _call_each(self, hook: str, **arguments: Any) -> None:
        for name, owner in self._owners.items():
            if hook in self._hooks_of(name):
                with blamed_on(owner, f"failed in {hook}"):
                    self._caller(hook, name)(**arguments)

    def add_commands(self, app: typer.Typer) -> None:
        """Call ``hybriddup_add_commands`` of every plugin, in the order they were loaded."""
        self._call_each(spec.hybriddup_add_commands.__name__, app=app)

    def run_finished(self, result: object) -> None:
        """Call ``hybriddup_run_finished`` of every plugin with a `hybriddup.Result`, in the order they were loaded."""
        self._call_each(spec.hybriddup_run_finished.__name__, result=result)

    def describe(self) -> list[PluginDescription]:
        """Describe each loaded plugin and its components, in the order they were loaded."""
        return list(map(self._describe, self._owners.values()))

    def _describe(self, owner: Owner) -> PluginDescription:
        components: dict[str, list[str]] = {}
        for registered in self.registry.registered():
            if registered.owner == owner:
                components.setdefault(registered.role, []).append(registered.name)
        hooks = self._hooks_of(owner.plugin)
        return PluginDescription(owner.plugin, owner.distribution, owner.version, hooks, components)


@cache
def _installed(path: tuple[str, ...]) -> list[tuple[Owner, metadata.EntryPoint]]:  # noqa: ARG001  only a key of the cache
    """Return the installed plugins with their owners, sorted by name; cached because the search takes 10 ms."""
    found = sorted(metadata.entry_points(group=spec.PROJECT), key=lambda each: (each.name, each.value))
    return [(_owner_of(entry_point), entry_point) for entry_point in found]


@cache
def _own_version() -> str:
    return metadata.version(spec.PROJECT)


def _owner_of(entry_point: metadata.EntryPoint) -> Owner:
    distribution = entry_point.dist
    if distribution is None:
        return Owner(entry_point.name)
    return Owner(entry_point.name, distribution.name, distribution.version)


def _import(name: str, directory: Path | None) -> ModuleType:
    """Import a module by name, from ``directory`` if it is not installed.

    If ``directory`` was used, it stays on ``sys.path``, because worker processes import the module again.
    """
    if _is_importable(name):
        module = importlib.import_module(name)
        if directory is not None:
            _check_not_hidden(module, directory.joinpath(*name.split(".")))
        return module
    if directory is None:
        raise PluginError(f"plugin module {name!r} is not installed; if it is a file of yours, name it with --plugin.")
    here = str(directory.resolve())
    sys.path.append(here)
    importlib.invalidate_caches()
    if _is_importable(name):
        return importlib.import_module(name)
    sys.path.pop()
    raise PluginError(f"plugin module {name!r} is not installed and not in {here}.")


def _check_not_hidden(module: ModuleType, place: Path) -> None:
    """Raise PluginError if another module of this name is at ``place``: the user may have meant that module."""
    found = getattr(module, "__file__", None) or "built into Python"
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file() and not (Path(found).exists() and file.samefile(found)):
            raise PluginError(f"plugin module {module.__name__!r} is {found}, not {file}; rename one of them.")


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise PluginError(f"plugin {path} is not a file; name a Python file, or a module without '.py'.")
    if not path.stem.isidentifier():
        raise PluginError(f"plugin {path} cannot be imported; name it with letters, digits and '_' only.")
    return _import(path.stem, path.parent)


def _is_importable(name: str) -> bool:
    if not all(part.isidentifier() for part in name.split(".")):
        return False
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # the parent package of a dotted name
        return False
