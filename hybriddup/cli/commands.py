"""The group of subcommands, to which plugins may add more; it reports an error as a message and an exit code.

Long-running subcommands are `LongCommand`s, which signals stop without raising an exception in the command's code.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from hybriddup.cli import options
from hybriddup.cli.stopping import raise_signals, work_beside
from hybriddup.errors import HybriddupError, PluginError

if TYPE_CHECKING:
    from collections.abc import Mapping


GROUPS = {
    "Outputs": "output mark counts authors removed clusters bad summary report save_recipe wrong force dry_run",
    "Fields": "text_field id_field time_field per user a_field b_field label_field against_text_field",
    "Comparing": "against config threshold plugins workers",
    "Reading": "format_name encoding delimiter max_line strict",
    "Messages": "as_json verbose quiet debug help",
}
"""Headings of ``--help`` for commands with many options, each with the names of the parameters below it."""
MANY_OPTIONS = 12


class GroupedCommand(TyperCommand):
    """A subcommand whose ``--help`` groups options under headings if there are many, and omits argument types."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and then the options of each group."""
        parameters, heading_of = self.get_params(ctx), dict[str, str]()
        if len(parameters) > MANY_OPTIONS:
            heading_of = {name: heading for heading, names in GROUPS.items() for name in names.split()}
        groups: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ("Arguments", "Options", *GROUPS)}
        for parameter in parameters:
            record = parameter.get_help_record(ctx)
            if record is not None and parameter.param_type_name == "argument":
                groups["Arguments"].append((re.sub(" <.*", "", record[0]), record[1]))
            elif record is not None:
                groups[heading_of.get(str(parameter.name), "Options")].append(record)
        for heading, records in groups.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


class LongCommand(GroupedCommand):
    """A subcommand that runs in a worker thread, while the main thread handles signals."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command in the worker thread, with click's context active there."""

        def work() -> Any:
            with ctx.scope(cleanup=False):
                return super(LongCommand, self).invoke(ctx)

        return work_beside(work)


OWN: dict[str, tuple[type[TyperCommand], str]] = {
    "dedupe": (LongCommand, "Remove repeated posts from files."),
    "watch": (LongCommand, "Answer line by line whether posts of a stream are repeats."),
    "explain": (LongCommand, "Show why two texts match or not."),
    "evaluate": (LongCommand, "Measure precision and recall on labeled pairs."),
    "tune": (LongCommand, "Fit a configuration to labeled pairs."),
    "learn": (LongCommand, "Learn a recipe from posts, for runs and windows to share."),
    "accounts": (LongCommand, "Find accounts that post the same text within a given time."),
    "plan": (LongCommand, "Compare block indexes for a number of posts."),
    "warm-up": (LongCommand, "Compile the kernels before the first run."),
    "serve": (GroupedCommand, "Answer over HTTP whether posts are repeats."),
    "label": (GroupedCommand, "Label pairs of your own posts, for tune."),
    "plugins": (TyperCommand, "List plugins and their components."),
    "config": (TyperCommand, "Print and check configurations."),
}
"""Class and short help of each built-in subcommand, in the order of ``--help``; ``config`` has subcommands of its own.

The module of the same name has the function and the epilog."""


class Commands(TyperGroup):
    """The subcommands of hybriddup and its plugins; each is built only when used, because building is slow."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = cast("Any", dict.fromkeys(OWN))  # only the names, of which one is suggested for a typing error

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the subcommands: first the built-in ones, then those that plugins add."""
        try:
            return [*OWN, *self._plugin_commands(ctx)]
        except HybriddupError as error:
            typer.echo(f"note: commands of plugins are not listed. {error}", err=True)
            return list(OWN)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a subcommand by name; plugins are loaded only if it is not built in.

        A built-in subcommand also gets the global option ``--debug``.
        """
        if cmd_name not in OWN:
            return self._plugin_commands(ctx).get(cmd_name)
        command = _own_command(cmd_name)
        for one in getattr(command, "commands", {cmd_name: command}).values():
            one.params.extend(option for option in self.params if option.name == "debug")
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a line for each subcommand."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, names))
        added = {name: self.get_command(ctx, name).get_short_help_str(width) for name in names if name not in OWN}
        with formatter.section("Commands"):
            formatter.write_dl([(name, OWN[name][1] if name in OWN else added[name]) for name in names])

    def _plugin_commands(self, ctx: Any) -> Mapping[str, Any]:
        if "hybriddup.commands" not in ctx.meta:
            ctx.meta["hybriddup.commands"] = _load_plugin_commands()
        found: Mapping[str, Any] = ctx.meta["hybriddup.commands"]
        return found

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen subcommand; print an error as a message, and exit with its code."""
        raise_signals()
        try:
            answer = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except KeyboardInterrupt:
            typer.echo("interrupted; nothing was written", err=True)
            raise typer.Exit(options.EXIT_INTERRUPTED) from None
        except BrokenPipeError:
            _silence_standard_output()
            raise typer.Exit(options.EXIT_CLOSED_PIPE) from None
        except Exception as error:
            if hasattr(error, "format_message"):  # a usage error: typer shows it
                raise
            show(error, debug=ctx.meta.get(options.DEBUG, False))
            raise typer.Exit(options.EXIT_ERROR) from None
        return answer


def _own_command(name: str) -> Any:
    module = import_module(f"hybriddup.cli.{name.replace('-', '_')}")
    if hasattr(module, "app"):
        return typer.main.get_group(module.app)
    built = typer.Typer(add_completion=False, rich_markup_mode=None)
    (cls, short_help), function = OWN[name], getattr(module, name.replace("-", "_"))
    built.command(name, cls=cls, epilog=getattr(module, "EPILOG", None), short_help=short_help)(function)
    return typer.main.get_command(built)


def _load_plugin_commands() -> Mapping[str, Any]:
    from importlib.metadata import entry_points

    if not entry_points(group="hybriddup"):
        return {}
    from hybriddup.plugin.manager import create_plugin_manager

    app = typer.Typer()
    create_plugin_manager().add_commands(app)
    commands: Mapping[str, Any] = typer.main.get_group(app).commands
    if taken := sorted(OWN.keys() & commands.keys()):
        raise PluginError(
            f"a plugin adds the command {taken[0]!r}, but hybriddup already has one of this name; rename it."
        )
    return commands


def show(error: Exception, *, debug: bool) -> None:
    """Print an error on standard error, as one message, or as a traceback if ``debug``."""
    if debug:
        import traceback

        traceback.print_exception(error)
    elif isinstance(error, HybriddupError):
        typer.echo(f"error: {error}", err=True)
    elif isinstance(error, OSError):
        typer.echo(f"error: {_refusal(error)}", err=True)
    elif isinstance(error, MemoryError):
        typer.echo("error: not enough memory; dedupe fewer posts at once, or on a larger machine", err=True)
    else:
        what = " ".join(str(error).split()) or "no further details"
        typer.echo(f"error: unexpected {type(error).__name__}: {what}", err=True)
        typer.echo(
            "This is a bug in hybriddup or in a plugin; run again with --debug and report what it prints.", err=True
        )
    try:
        sys.stdout.flush()
    except OSError:
        _silence_standard_output()


def _refusal(error: OSError) -> str:
    """Return the message for an error of the operating system."""
    if error.errno == errno.EBADF:
        return "standard input or output, which this command needs, is closed; leave it open, or name a file"
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}the operating system refuses: {error.strerror or error}"


def _silence_standard_output() -> None:
    """Redirect standard output to the null device, so that the flush at exit does not fail on a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
