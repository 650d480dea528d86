"""`hybriddup dedupe`: read posts, decide them, write the kept ones, report what was removed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES, argument, flag, option

EPILOG = f"""\b
Examples:
  hybriddup dedupe posts.jsonl
      writes posts.kept.jsonl, and prints how many posts were removed
  hybriddup dedupe posts.csv.gz --text-field body --removed removed.jsonl
      also writes each removed post with the kept post that it repeats, and their score
  hybriddup dedupe posts.jsonl --report report.html
      also writes an HTML report of the removed posts, side by side with the posts that they repeat
  hybriddup dedupe mon.jsonl tue.jsonl -o week.jsonl.zst --config twitter
      reads several files as one corpus
  hybriddup dedupe crawl/ -o kept.csv --encoding gb18030 --delimiter ';' --text-field 'title + body'
      reads all tables of a directory; the text of a post is two columns
  hybriddup dedupe 'sqlite:///posts.db?table=posts' -o 'sqlite:///kept.db?table=kept'
      reads a table of an SQLite database, and writes one
  hybriddup dedupe posts.jsonl --threshold 0.7
      uses another threshold than the configuration: a higher one removes less
  hybriddup dedupe posts.jsonl --mark
      writes every post, with the fields duplicate_of, score and cluster added
  hybriddup dedupe posts.jsonl --counts --authors user.id
      adds to each kept post how often it was repeated, when it was first and last seen, and who posted it
  hybriddup dedupe today.jsonl --against yesterday.csv --against-text-field body
      also removes posts that repeat a post of another file, which is only read
  cat posts.jsonl | hybriddup dedupe - --quiet > kept.jsonl
      reads standard input as JSON Lines and writes to standard output

A post is removed when it matches an earlier post that is kept; `hybriddup explain` shows why two texts match or not.

{EXIT_CODES}"""


def dedupe(
    inputs: Annotated[
        list[str],
        argument(
            "INPUT",
            "Files of posts, one corpus in this order: .jsonl, .json (an array), .csv, .tsv (with header), .txt "
            "(one post per line), .parquet, each also .gz, .zst, .bz2 or .xz; directories of such files, without "
            "those that an earlier run wrote (such as .kept.); sqlite:///FILE?table=TABLE; - for standard input.",
        ),
    ],
    output: Annotated[
        str | None,
        option(
            "KEPT",
            "File for the kept posts, in the input's format; - for standard output. Default: INPUT.kept.EXT "
            "next to a single input file, the table TABLE_kept next to an input table; standard output if the input is "
            "standard input.",
            "--output -o",
        ),
    ] = None,
    mark: Annotated[
        bool,
        flag(
            "--mark",
            "Write every post, with more fields: duplicate_of (id of the post it repeats, null for a kept one), "
            "score, cluster (a number shared by duplicates), and those of --counts. Default output: INPUT.marked.EXT.",
        ),
    ] = False,
    counts: Annotated[
        bool,
        flag(
            "--counts",
            "Add to each kept post n_copies (posts removed for it) and, if posts have a time, first_seen and "
            "last_seen (UTC).",
        ),
    ] = False,
    authors: Annotated[
        str | None, option("FIELD", "As --counts, and add authors: the distinct values of this field.")
    ] = None,
    time_field: Annotated[
        str, option("FIELD", "Field with the time of a post, for --counts and the report.")
    ] = "created_at",
    against: Annotated[
        list[str] | None,
        option(
            "OLD",
            "File of posts that were kept earlier: posts that repeat one of them are removed. The file is only "
            "read, and may have another format, encoding and delimiter; may be given several times.",
        ),
    ] = None,
    against_text_field: Annotated[
        str | None, option("FIELD", "Field with the posts in the files of --against. Default: --text-field.")
    ] = None,
    removed: Annotated[
        str | None,
        option(
            "FILE",
            "File for the removed posts, each with the kept post it repeats and why: JSON Lines (.jsonl or no "
            "suffix), .csv, .tsv or .parquet, also .gz and .zst; or a table, sqlite:///FILE?table=TABLE.",
        ),
    ] = None,
    clusters: Annotated[
        str | None,
        option(
            "FILE",
            "File for the clusters of duplicates, in the formats of --removed: cluster, row, id, and whether it "
            "is the keeper, which comes first.",
        ),
    ] = None,
    bad: Annotated[str | None, option("FILE", "File for the bad lines, unchanged, so that you can fix them.")] = None,
    summary: Annotated[str | None, option("FILE", "File for the summary, .json; - for standard output.")] = None,
    report: Annotated[
        str | None,
        option(
            "FILE",
            "File for an HTML report, .html: charts, removed posts next to their keepers, nearest misses; needs "
            "the extra hybriddup[report].",
        ),
    ] = None,
    save_recipe: Annotated[
        str | None,
        option(
            "FILE", "File for the data learned from the posts, .npz, for `recipe:` (see learn --help) and for explain."
        ),
    ] = None,
    force: options.Force = False,
    config: options.Config = DEFAULT_CONFIG,
    threshold: Annotated[
        float | None,
        option(
            "SCORE",
            "Lowest score of duplicates, 0.0 to 1.0 (the same text), instead of the configuration's; lower "
            "removes more. The score is by the verifier of the configuration.",
        ),
    ] = None,
    plugins: options.Plugins = None,
    text_field: options.TextField = "text",
    id_field: options.IdField = "id",
    per: Annotated[
        str | None,
        option(
            "FIELD",
            "Field or column, a path such as user.id, or several such as 'user.id + city'; only posts with "
            "the same values are compared.",
        ),
    ] = None,
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
    strict: Annotated[
        bool, flag("--strict", "Stop at the first bad line, and write nothing, instead of counting it.")
    ] = False,
    dry_run: Annotated[
        bool, flag("--dry-run -n", "Write no files; only show the summary of what would be removed.")
    ] = False,
    verbose: Annotated[bool, flag("--verbose -v", "Show tables of counts, steps and settings as well.")] = False,
    quiet: Annotated[bool, flag("--quiet -q", "Show neither progress nor summary, only errors and bad lines.")] = False,
) -> None:
    """Remove repeated posts from files.

    Kept posts are written unchanged, in input order and in the input's format. The configuration defines which posts
    match, with thresholds by length of text.
    """
    from hybriddup.cli.compiling import compiling_together
    from hybriddup.cli.stopping import on_stop
    from hybriddup.cli.summary_view import report_run
    from hybriddup.config import open_session
    from hybriddup.config.load import with_threshold
    from hybriddup.run.over_files import FileRun, run_over_files
    from hybriddup.run.terminal import COURSE_OF_A_RUN, show_progress

    (settings, manager), notes = open_session(config, plugins or ()), []
    if threshold is not None:
        settings, meaning = with_threshold(settings, threshold, config)
        notes.append(f"--threshold: {meaning}.")
    job = FileRun(
        inputs=inputs, output=output, mark=mark, counts=counts, authors=authors, time_field=time_field,
        against=against or [], against_text_field=against_text_field,
        removed=removed, clusters=clusters, bad=bad, summary=summary, report=report, save_recipe=save_recipe,
        force=force, text_field=text_field, id_field=id_field, per=per, strict=strict, dry_run=dry_run, notes=notes,
        reading=options.reading(format_name, max_line, encoding, delimiter),
    )  # fmt: skip
    with no_collections(), show_progress(quiet=quiet, course=COURSE_OF_A_RUN) as progress, compiling_together(config):
        done = run_over_files(
            job,
            settings,
            manager,
            workers=workers,
            progress=progress,
            config_name=config,
            on_outputs=lambda outputs: on_stop(outputs.abandon),
        )
    options.exit_with(report_run(job, done, verbose=verbose, quiet=quiet))


@contextmanager
def no_collections() -> Iterator[None]:
    """Switch the garbage collector off in the ``with`` block.

    A run makes few cycles of objects, and looking for them among millions of texts takes a thirtieth of its time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # otherwise the next collection looks at all objects of the run
        gc.enable()
