"""The application: its global options and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import (
    accounts,
    config,
    dedupe,
    evaluate,
    explain,
    label,
    learn,
    plan,
    plugins,
    serve,
    tune,
    warm_up,
    watch,
)
from hybriddup.cli.commands import Commands, GroupedCommand, LongCommand
from hybriddup.cli.options import EXIT_CODES, Debug

EPILOG = f"""\b
Examples:
  hybriddup dedupe posts.jsonl
  hybriddup explain "first post" "second post"
  hybriddup dedupe --help

{EXIT_CODES}"""

app = typer.Typer(
    name="hybriddup",
    cls=Commands,
    help="Remove repeated and nearly repeated short texts: posts, tweets, comments, messages, headlines.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from hybriddup import __version__

        typer.echo(f"hybriddup {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Parse the global options, which come before the subcommand."""


LONG_COMMANDS = (
    ("dedupe", dedupe.dedupe, dedupe.EPILOG, "Remove repeated posts from files."),
    ("watch", watch.watch, watch.EPILOG, "Decide posts from a stream, line by line."),
    ("explain", explain.explain, explain.EPILOG, "Show why two texts match or not."),
    ("evaluate", evaluate.evaluate, evaluate.EPILOG, "Measure precision and recall on labeled pairs."),
    ("tune", tune.tune, tune.EPILOG, "Fit a configuration to labeled pairs."),
    ("learn", learn.learn, learn.EPILOG, "Learn a recipe from posts, for runs and windows to share."),
    ("accounts", accounts.accounts, accounts.EPILOG, "Find accounts that post the same text within a given time."),
    ("plan", plan.plan, plan.EPILOG, "Compare block indexes for a number of posts."),
    ("warm-up", warm_up.warm_up, warm_up.EPILOG, "Compile the kernels before the first run."),
)
for name, function, epilog, short_help in LONG_COMMANDS:
    app.command(name, cls=LongCommand, epilog=epilog, short_help=short_help)(function)
app.command("serve", cls=GroupedCommand, epilog=serve.EPILOG, short_help="Decide posts over HTTP.")(serve.serve)
LABEL = "Label pairs of your own posts, for tune."
app.command("label", cls=GroupedCommand, epilog=label.EPILOG, short_help=LABEL)(label.label)
app.command("plugins", short_help="List plugins and their components.")(plugins.plugins)
app.add_typer(config.app, name="config")
