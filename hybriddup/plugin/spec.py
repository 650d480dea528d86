"""Every hook that a plugin may implement, and nothing else.

A hook may gain arguments, never lose one; an implementation may take fewer arguments than its hook has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import typer

    from hybriddup.plugin.registry import Registry
    from hybriddup.run.result import Result

PROJECT = "hybriddup"
"""Name of the markers, and of the entry-point group in which installed plugins are found."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a function of a plugin as the implementation of the hook of the same name."""


@hookspec
def hybriddup_register(registry: Registry) -> None:
    """Add components by name: ``registry.add_tokenizer("shout", shout)``.

    Called once per plugin manager, when the plugin is loaded: built-ins first, then installed plugins by name,
    then the modules that were asked for, in the order given; always before settings are resolved.
    """


@hookspec
def hybriddup_add_commands(app: typer.Typer) -> None:
    """Add subcommands to the command line: ``app.command("stats")(print_stats)``.

    Called once by the command line when it starts, after every plugin has registered and before arguments are
    parsed; never called by the Python API.
    """


@hookspec
def hybriddup_run_finished(result: Result) -> None:
    """Look at the result of a run, to send its counts to a monitor for example.

    Called once after each run that decided its posts, before anything is written; the result must not be changed.
    """
