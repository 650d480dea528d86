"""The hooks that a plugin may implement.

Later versions may add arguments to a hook, but never remove one; an implementation may omit arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import typer

    from hybriddup.plugin.registry import Registry

PROJECT = "hybriddup"
"""Name of the hook markers and of the entry-point group of installed plugins."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator that marks a function of a plugin as the implementation of the hook with the same name."""


@hookspec
def hybriddup_register(registry: Registry) -> None:
    """Add components by name: ``registry.add_tokenizer("shout", shout)``.

    Called once per plugin manager, when the plugin is loaded and before settings are resolved: built-ins first, then
    installed plugins by name, then the requested modules in the order given.
    """


@hookspec
def hybriddup_add_commands(app: typer.Typer) -> None:
    """Add subcommands to the command line: ``app.command("stats")(print_stats)``.

    Called once when the command line starts, after every plugin has registered and before arguments are parsed. Never
    called by the Python API.
    """


@hookspec
def hybriddup_run_finished(result: object) -> None:
    """Process the result of a run, for example send its counts to a monitor.

    Called once after each run that decided its posts, before any output appears. ``result`` is a `hybriddup.Result`,
    which must not be changed.
    """
