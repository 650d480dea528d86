"""The application: its global options and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import config, dedupe, evaluate, explain, learn, plan, plugins, serve, warm_up, watch
from hybriddup.cli.commands import Commands
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
    add_completion=False,
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
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Take the options that stand before a subcommand."""


app.command("dedupe", epilog=dedupe.EPILOG, short_help="Remove repeated posts from files.")(dedupe.dedupe)
app.command("watch", epilog=watch.EPILOG, short_help="Decide posts as they come, line by line.")(watch.watch)
app.command("serve", epilog=serve.EPILOG, short_help="Decide posts over HTTP.")(serve.serve)
app.command("explain", epilog=explain.EPILOG, short_help="Show why two texts match or not.")(explain.explain)
app.command("evaluate", epilog=evaluate.EPILOG, short_help="Measure precision and recall on labeled pairs.")(
    evaluate.evaluate
)
app.command("learn", epilog=learn.EPILOG, short_help="Learn from posts what runs and windows share.")(learn.learn)
app.command("plan", epilog=plan.EPILOG, short_help="Show which block index suits how many posts.")(plan.plan)
app.command("plugins", short_help="List plugins and what they bring.")(plugins.plugins)
app.command("warm-up", epilog=warm_up.EPILOG, short_help="Compile the kernels before the first run.")(warm_up.warm_up)
app.add_typer(config.app, name="config")
