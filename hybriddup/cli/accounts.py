"""`hybriddup accounts`: find pairs of accounts that post the same text within a given time."""

from __future__ import annotations

from typing import Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES, option

EPILOG = f"""\b
Examples:
  hybriddup accounts posts.jsonl --user user.id --within 60s -o pairs.csv
      writes one row for each pair of accounts that posted the same within a minute
  hybriddup accounts posts.csv --user author --within 1h --min-texts 3 --time-field date
      prints the pairs that have three different texts in common, as JSON Lines

Columns: account_a, account_b, n_pairs (pairs of posts, one of each, that repeat each other), n_texts (different texts
among them), first_seen and last_seen. Pairs with the most texts come first. Posts repeat each other as in dedupe.

{EXIT_CODES}"""


def accounts(
    inputs: options.PostFiles,
    user: Annotated[str, option("FIELD", "Field with the account, or a path: user.id.", show_default=False)],
    within: Annotated[str, option("TIME", "Longest time between two posts: a number with s, m, h or d.")] = "60s",
    output: Annotated[
        str, option("PAIRS", "File for the pairs: .csv, .tsv, .jsonl or .parquet; - to print.", "--output -o")
    ] = "-",
    min_texts: Annotated[int, option("N", "Different texts that two accounts must have in common.", min=1)] = 1,
    force: options.Force = False,
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    time_field: Annotated[str, option("FIELD", "Field with the time of a post.")] = "created_at",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
) -> None:
    """Find pairs of accounts that post the same text, or nearly the same, within a given time of each other."""
    from hybriddup.cli.stopping import on_stop
    from hybriddup.cli.summary_view import print_bad_records
    from hybriddup.config import open_session
    from hybriddup.files.formats import Fields
    from hybriddup.files.inputs import open_inputs
    from hybriddup.files.outputs import ACCOUNTS, Outputs
    from hybriddup.files.tables import need_writer, write_table
    from hybriddup.run.accounts import accounts_table, find_accounts
    from hybriddup.run.file_inputs import files_of, read_posts
    from hybriddup.run.terminal import COURSE_OF_A_RUN, show_progress

    settings, manager = open_session(config, plugins or ())
    reading = options.reading(format_name, max_line, encoding, delimiter)
    inputs = files_of(inputs, manager.registry, reading)
    need_writer(output)
    with Outputs(inputs, force=force) as outputs:
        on_stop(outputs.abandon)
        target = outputs.add(output, "-o", ACCOUNTS)
        with show_progress(quiet=False, course=COURSE_OF_A_RUN) as progress:
            with open_inputs(inputs, manager.registry, reading) as opened:
                corpus, _ = read_posts(opened, Fields(text_field), progress, optional=(user, time_field))
            pairs, n_left_out = find_accounts(
                corpus, settings, manager.registry, user, time_field, within, min_texts, workers, progress
            )
        with target.open() as stream:
            write_table(stream, output, accounts_table(pairs))
        outputs.commit()
    typer.echo(f"{len(pairs):,} pairs of accounts among {len(corpus.texts):,} posts, within {within}", err=True)
    if n_left_out:
        typer.echo(f"note: left out {n_left_out:,} posts without {user!r} or a time in {time_field!r}", err=True)
    options.exit_with(print_bad_records(corpus.bad_records, corpus.n_bad_records, "left out"))
