"""`hybriddup spark dedupe`: its options, and the help that teaches them. What it does is imported where it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli.options import DEFAULT_CONFIG

EPILOG = """\b
Examples:
  hybriddup spark dedupe posts.parquet -o decided --order-by created_at
      on all cores of this machine
  spark-submit --master yarn --archives env.tar.gz#env \\
      $(python -c 'import hybriddup_spark.submit as s; print(s.__file__)') spark dedupe \\
      s3a://bucket/posts/*.parquet -o s3a://bucket/decided --work s3a://bucket/tmp --order-by created_at
      on a cluster, with an environment that venv-pack has packed

The same posts go for the same keepers as by `hybriddup dedupe`, with the same recipe and order."""

spark = typer.Typer(help="Runs on Apache Spark, for corpora beyond one machine.", no_args_is_help=True)


@spark.callback()
def commands() -> None:
    """Runs on Apache Spark, for corpora beyond one machine."""


@spark.command("dedupe", epilog=EPILOG)
def dedupe_files(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT", show_default=False, help="Paths or URLs as Spark reads them, all one corpus."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="URL",
            help="Directory for the results, in which kept, removed, bad (Parquet) and summary (JSON) come to be.",
        ),
    ],
    order_by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column by which posts are in order; may be given several times. Needed. Text that holds numbers or "
            "times is compared as these.",
        ),
    ] = None,
    config: Annotated[
        str, typer.Option("--config", "-c", help="Name of a shipped configuration, or a YAML file.")
    ] = DEFAULT_CONFIG,
    text_field: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    id_field: Annotated[
        str, typer.Option(help="Column of the ids, which order posts of one moment and name keepers.")
    ] = "id",
    format_name: Annotated[
        str | None, typer.Option("--format", help="parquet, jsonl or csv. Default: what the first input's name says.")
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Directory that all executors reach, for what is decided meanwhile. Needed on a cluster; delete it "
            "afterwards.",
        ),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option(help="Module to load as a plugin; executors must have it, too.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Remove repeated posts on Spark; input and output are files or URLs of any file system that Spark knows."""
    from hybriddup_spark.job import perform

    perform(
        inputs,
        output,
        config=config,
        text_field=text_field,
        id_field=id_field,
        order_by=order_by or [],
        format_name=format_name,
        work=work,
        plugins=plugin or [],
        quiet=quiet,
    )
