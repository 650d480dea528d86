"""`hybriddup spark dedupe`: its options and help. The job is imported when it runs."""

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
      on a cluster, with an environment packed by venv-pack

Removes the same posts for the same keepers as `hybriddup dedupe` with the same recipe and order."""

spark = typer.Typer(help="Runs on Apache Spark, for corpora beyond one machine.", no_args_is_help=True)


@spark.callback()
def commands() -> None:
    """Runs on Apache Spark, for corpora beyond one machine."""


@spark.command("dedupe", epilog=EPILOG)
def dedupe_files(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT", show_default=False, help="Paths or URLs that Spark can read, one corpus."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="URL",
            help="Directory for the results: kept, removed, bad (Parquet) and summary (JSON).",
        ),
    ],
    order_by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that orders the posts; may be given several times. Required. Numbers and times in text are "
            "compared as numbers and times.",
        ),
    ] = None,
    per: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column such as the author: a post repeats only posts with the same value. Several columns together "
            "if given several times.",
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLD",
            help="Path or URL of posts that were kept earlier, with the same columns: posts that repeat one of them "
            "are removed. They are only read; may be given several times.",
        ),
    ] = None,
    mark: Annotated[
        bool,
        typer.Option(
            "--mark",
            help="Write all posts to marked instead of kept, with the columns duplicate_of (id of the kept post), "
            "score and cluster.",
        ),
    ] = False,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File on this machine for an HTML report of about 20,000 posts: some kept posts, and all that were "
            "removed for them. Needs the extra hybriddup[report].",
        ),
    ] = None,
    config: Annotated[
        str, typer.Option("--config", "-c", help="Name of a shipped configuration, or a YAML file.")
    ] = DEFAULT_CONFIG,
    text_field: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    id_field: Annotated[
        str, typer.Option(help="Column of the ids, which order posts of the same time and name keepers.")
    ] = "id",
    format_name: Annotated[
        str | None, typer.Option("--format", help="parquet, jsonl or csv. Default: by the name of the first input.")
    ] = None,
    work: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Directory for intermediate results that all executors can reach. Required on a cluster; delete it "
            "after the run.",
        ),
    ] = None,
    plugin: Annotated[
        list[str] | None, typer.Option(help="Module to load as a plugin; executors must have it, too.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Remove repeated posts on Spark; input and output are files or URLs of any file system that Spark supports."""
    from hybriddup_spark.job import perform

    perform(
        inputs,
        output,
        config=config,
        text_field=text_field,
        id_field=id_field,
        order_by=order_by or [],
        per=per or [],
        against=against or [],
        mark=mark,
        report=report,
        format_name=format_name,
        work=work,
        plugins=plugin or [],
        quiet=quiet,
    )
