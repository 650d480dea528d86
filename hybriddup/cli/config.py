"""`hybriddup config`: print and check configurations."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_ERROR, argument

app = typer.Typer(
    help="Print and check configurations.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog="""\b
Examples:
  hybriddup config init twitter > mine.yaml
  hybriddup config show twitter
  hybriddup config check mine.yaml
  hybriddup config schema > hybriddup.schema.json""",
)


@app.command(short_help="Print a shipped configuration, with comments, to edit.")
def init(name: Annotated[str, argument("[NAME]", "A shipped configuration; default: posts.")] = DEFAULT_CONFIG) -> None:
    """Print the file of a shipped configuration, with its comments, as a start for your own.

    Its first line points editors to the JSON Schema, so that they complete and check the keys.
    """
    from hybriddup.config.read import shipped_text

    typer.echo(shipped_text(name), nl=False)


@app.command(short_help="Print resolved settings as YAML.")
def show(
    name: Annotated[str, argument("[NAME|FILE]", "A shipped configuration, or a YAML file.")] = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    as_json: options.Json = False,
) -> None:
    """Print the resolved settings of a configuration, including all defaults, as YAML."""
    import yaml

    from hybriddup.cli.printing import print_json
    from hybriddup.config import open_session
    from hybriddup.config.read import shipped_names

    settings, _ = open_session(name, plugins or ())
    if as_json:
        print_json(settings.to_dict())
        return
    typer.echo(f"# settings of {name!r}; shipped: {', '.join(shipped_names())}")
    typer.echo(
        yaml.safe_dump(settings.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None), nl=False
    )


@app.command(short_help="Report every fault of YAML files.")
def check(
    files: Annotated[list[str], argument("FILE...", "YAML files, or names of shipped ones.")],
    plugins: options.Plugins = None,
) -> None:
    """Check configurations and report every fault with its line; the exit code is 2 if there is one.

    Settings that work but are probably a mistake give a warning.
    """
    from hybriddup.config import open_session
    from hybriddup.errors import HybriddupError

    n_faulty = 0
    for file in files:
        try:
            settings, _ = open_session(file, plugins or ())
            typer.echo(f"{file}: ok")
            for warning in settings.warnings():
                typer.echo(f"warning: {file}: {warning}", err=True)
        except HybriddupError as error:
            n_faulty += 1
            typer.echo(f"error: {error}", err=True)
    options.exit_with(EXIT_ERROR if n_faulty else 0)


@app.command(short_help="Print the JSON Schema, for editors.")
def schema() -> None:
    """Print the JSON Schema of configurations, for editors that complete and check YAML."""
    from hybriddup.cli.printing import print_json
    from hybriddup.config.schema import config_schema
    from hybriddup.plugin.manager import create_plugin_manager

    print_json(config_schema(create_plugin_manager().registry))
