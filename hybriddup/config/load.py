"""Resolves a user's configuration to `Settings`: loads plugins, fills in defaults, and reports all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

from hybriddup.config.guards import MUST_AGREE, guards_that_see
from hybriddup.config.read import Written, read_config
from hybriddup.config.rules import STEP_ROLES, chosen_components, setting_faults, thaw
from hybriddup.config.settings import CombinedVerifier, Settings
from hybriddup.config.shorthands import spell_out, with_lines_of_guards
from hybriddup.errors import ConfigError
from hybriddup.plugin.manager import PluginManager, create_plugin_manager
from hybriddup.plugin.registry import Registry
from hybriddup.steps.options import Fault, Path, fault_at, parse_options, quote, spell

Config = str | FilePath | Mapping[str, Any] | Settings
"""The name of a shipped configuration, a path, a mapping of the keys to change, or resolved settings."""
DEFAULT_CONFIG = "posts"
"""Name of the shipped configuration that is used by default."""

LARGEST = 2**63 - 1
"""Largest int in a configuration; the smallest is its negative."""
_MERGED_SECTIONS = ("fingerprint", "audit")
"""Sections in which a configuration may set only some keys; the other keys keep their defaults."""


def open_session(
    config: Config, plugins: Iterable[str | ModuleType] = (), entry_points: bool = True
) -> tuple[Settings, PluginManager]:
    """Resolve a configuration; return its settings and a new plugin manager with every plugin they need.

    ``plugins`` are modules to load in addition to those that the configuration names. Installed plugins are also
    loaded, unless ``entry_points`` is false.
    """
    manager = create_plugin_manager(entry_points, plugins)
    return load_settings(config, manager), manager


def load_settings(config: Config, manager: PluginManager | None = None) -> Settings:
    """Resolve a configuration to settings, with all defaults and component options filled in.

    Parameters
    ----------
    config
        The name of a shipped configuration, a path, a mapping of the keys to change, or settings.
    manager
        Manager of the plugins whose components may be used; None = a new one, with all installed plugins. It first
        loads the modules under the key ``plugins``: importable modules, and files next to the configuration.

    Raises
    ------
    ConfigError
        The configuration is invalid; the message lists every fault, one per line, each with its file and line.
    PluginError
        A plugin named by the configuration cannot be loaded.
    """
    manager = create_plugin_manager() if manager is None else manager
    written = _as_written(config)
    modules = written.data.get("plugins")
    if isinstance(modules, (list, tuple)):
        manager.load_modules([name for name in modules if isinstance(name, str)], written.directory)
    return _resolve(written, manager.registry)


def _as_written(config: Config) -> Written:
    if isinstance(config, Settings):
        return Written(config.to_dict(), remarks=config.remarks)
    if isinstance(config, Mapping):
        return Written(thaw(config))
    if isinstance(config, (str, FilePath)):
        return read_config(config)
    raise ConfigError(f"config must be a name, a path, a mapping or Settings; got {type(config).__name__}.")


def _resolve(written: Written, registry: Registry) -> Settings:
    _raise_faults(_large_numbers(written.data), written)
    defaults = Settings().to_dict()
    spelled = spell_out(written.data, defaults)
    written = replace(written, lines=with_lines_of_guards(written.lines))
    merged = _merge(defaults, spelled.data)
    if MUST_AGREE not in spelled.data:  # so that masking digits works without changing the guards
        merged[MUST_AGREE] = guards_that_see(merged)
    in_keys = (*_key_faults(merged), *setting_faults(merged), *_fill_components(merged, registry))
    _raise_faults([*spelled.faults, *in_keys], written)
    settings = Settings.model_validate(merged).with_remarks([*written.remarks, *spelled.remarks])
    _raise_faults(_component_faults(settings, registry), written)
    return settings


def _raise_faults(faults: Iterable[Fault], written: Written) -> None:
    """Raise one error that lists the faults in the order of the file, with only the first fault of each value."""
    by_path: dict[Path, Fault] = {}
    for fault in faults:
        by_path.setdefault(fault.path, fault)
    if by_path:
        order = sorted(by_path.values(), key=lambda fault: written.line_of(fault.path))
        raise ConfigError("\n".join(written.locate(fault.path) + fault.message for fault in order))


def _merge(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Override the defaults with the given values.

    If a step names another component, the options of the default component are dropped; if it names the same component
    or no component, only the given options change. ``lengths``, ``must_agree``, ``keep`` and ``plugins`` are replaced
    as a whole.
    """
    merged = {**defaults, **given}
    for key in (*STEP_ROLES, *_MERGED_SECTIONS):
        value, default = given.get(key), defaults[key]
        if isinstance(value, Mapping):
            same_component = value.get("use", default.get("use")) == default.get("use")
            merged[key] = {**default, **value} if same_component else dict(value)
    return merged


def _large_numbers(value: Any, path: Path = ()) -> Iterator[Fault]:
    """Yield a fault for each int whose magnitude exceeds `LARGEST`.

    Call this before other checks, whose messages may contain the value: Python cannot print huge ints.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _large_numbers(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _large_numbers(inner, (*path, place))
    elif isinstance(value, int) and abs(value) > LARGEST:
        yield fault_at(path, f"must be within {LARGEST:,} of 0; got {quote(value)}.")


def _key_faults(merged: Mapping[str, Any]) -> list[Fault]:
    """Return the faults in keys and their values, except options of components."""
    parsed = parse_options(Settings, merged)
    return [fault for fault in parsed if fault.path] if isinstance(parsed, list) else []


def _fill_components(merged: dict[str, Any], registry: Registry) -> Iterator[Fault]:
    """Fill in the default options of every component, in place; yield the faults in the given options."""
    for chosen in chosen_components(merged):
        name = chosen.written.get("use")
        if not isinstance(name, str):
            continue
        if name not in registry.names(chosen.role):
            path = (*chosen.path, "use")
            yield Fault(path, f"{spell(path)}: {registry.explain_missing(chosen.role, name)}")
            continue
        given = {key: value for key, value in chosen.written.items() if key not in chosen.keys}
        filled = registry.fill_options(chosen.role, name, given, chosen.path)
        if isinstance(filled, list):
            yield from filled
        else:
            chosen.written.update(filled)


def _component_faults(settings: Settings, registry: Registry) -> Iterator[Fault]:
    """Yield the faults that components find when they check the settings as a whole."""
    for key, role in STEP_ROLES.items():
        chosen = settings.normalizers if key == "normalizer" else (getattr(settings, key),)
        for component in chosen:
            for message in registry.find(role, component.use).check_settings(settings):
                yield Fault((key,), message)


def with_threshold(settings: Settings, threshold: float, config: str) -> tuple[Settings, str]:
    """Set the threshold of all length bands with a verifier; return the settings, and a description of the bands.

    Raises ConfigError if the threshold is out of range, if a band has several verifiers, or if no band has a verifier.
    ``config`` is the name of the configuration, for the message.
    """
    if not 0 <= threshold <= 1:
        percent = f" {threshold:g} % is {threshold / 100:g}." if 1 < threshold <= 100 else ""
        raise ConfigError(f"the threshold must be from 0.0 to 1.0 (the same text); got {threshold:g}.{percent}")
    meaning: list[str] = []
    for lower, band in settings.bands():
        texts = f"up to {band.up_to} characters" if band.up_to else "longer" if lower else "all texts"
        if isinstance(band.verifier, CombinedVerifier):
            raise ConfigError(
                f"one threshold is not enough: {config} has several verifiers for a text. Set theirs in your own "
                f"configuration; `hybriddup config init NAME > mine.yaml` writes one to start from."
            )
        meaning.append(f"{texts}: {f'{band.verifier.use} {threshold:g}' if band.verifier else 'only equal ones'}")
    if not settings.thresholds:
        raise ConfigError(f"a threshold has no effect: with {config}, only equal texts are duplicates.")
    return settings.map_thresholds(lambda _: threshold), "; ".join(meaning)
