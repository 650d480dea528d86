"""The application: its global options and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli.commands import Commands
from hybriddup.cli.options import EXIT_CODES, Debug, flag

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
        bool, flag("--version -V", "Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Debug = False,
) -> None:
    """Parse the global options, which come before the subcommand."""
