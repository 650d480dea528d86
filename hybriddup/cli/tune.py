"""`hybriddup tune`: fit a configuration to labeled pairs, write it, and print its measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES, option

if TYPE_CHECKING:
    from hybriddup.study.tune import Interval, Reached, Tuned

EPILOG = f"""\b
Examples:
  hybriddup tune pairs.jsonl -o mine.yaml
  hybriddup tune pairs.csv --config twitter -o mine.yaml --precision 0.98 --wrong wrong.jsonl
  hybriddup dedupe posts.jsonl --config mine.yaml

PAIRS is as for `hybriddup evaluate`; a hundred pairs are enough to begin with, if they are of all kinds: repeats,
near misses, and pairs that have little in common. Thresholds are fitted for each length band with enough pairs. For the
verifier post, models of other kinds of posts are tried too, and a new one is fitted if there are enough pairs. Settings
change only if the result is clearly better. The measures after tuning come from pairs that were not used for fitting.

{EXIT_CODES}"""


def tune(
    pairs: options.Pairs,
    output: Annotated[str, option("YAML", "File for the new configuration, .yaml.", "--output -o", show_default=False)],
    precision: Annotated[
        float | None,
        option(
            "SHARE", "Lowest precision to accept, such as 0.98. Default: maximize F1.", min=0, max=1, show_default=False
        ),
    ] = None,
    wrong: options.Wrong = None,
    force: options.Force = False,
    config: options.Config = DEFAULT_CONFIG,
    plugins: options.Plugins = None,
    a_field: options.AField = "a",
    b_field: options.BField = "b",
    label_field: options.LabelField = "label",
    format_name: options.Format = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    max_line: options.MaxLine = options.DEFAULT_MAX_LINE,
    workers: options.Workers = None,
    as_json: options.Json = False,
) -> None:
    """Fit thresholds, or the model of the verifier ``post``, to labeled pairs, and write the configuration."""
    import yaml

    from hybriddup.cli.labeled import write_wrong_pairs
    from hybriddup.cli.printing import print_json
    from hybriddup.cli.stopping import on_stop
    from hybriddup.cli.summary_view import print_bad_records
    from hybriddup.config import open_session
    from hybriddup.files.outputs import CONFIGURATION, WRONG_PAIRS, Outputs
    from hybriddup.files.pairs import PairFields, read_pairs
    from hybriddup.study import tune as study
    from hybriddup.study.evaluate import thresholds_of

    settings, manager = open_session(config, plugins or ())
    reading = options.reading(format_name, max_line, encoding, delimiter)
    with Outputs([pairs], force=force) as outputs:
        on_stop(outputs.abandon)
        target = outputs.add(output, "-o", CONFIGURATION)
        wrong_target = None if wrong is None else outputs.add(wrong, "--wrong", WRONG_PAIRS)
        labeled, bad = read_pairs(pairs, manager.registry, reading, PairFields(a_field, b_field, label_field))
        tuned = study.tune(labeled, settings, manager.registry, precision=precision, workers=workers)
        text = yaml.safe_dump(tuned.settings.to_dict(), sort_keys=False, allow_unicode=True, default_flow_style=None)
        with target.open() as stream:
            stream.write(f"# Fitted by `hybriddup tune {pairs} --config {config}`: {tuned.way}.\n{text}".encode())
        if wrong_target is not None:
            write_wrong_pairs(wrong_target, labeled, tuned.scored, thresholds_of(tuned.settings), tuned.wrong)
        outputs.commit()
    if as_json:
        print_json({"config": config, "n_bad_lines": len(bad), **tuned.to_dict()})
    else:
        print_tuned(tuned, output)
    options.exit_with(print_bad_records(bad, len(bad), "not learned from"))


def print_tuned(tuned: Tuned, output: str) -> None:
    """Print the measures before and after tuning, with 95 % intervals and by length of text."""
    from hybriddup.cli.labeled import shares
    from hybriddup.cli.printing import print_table
    from hybriddup.study.tune import AS_IT_IS

    print_table(
        [["before", *_intervals(tuned.before)], ["after", *_intervals(tuned.after)]],
        headers=("95 % intervals", "precision", "recall", "F1"),
    )
    headers = ("length", "pairs", "precision before", "recall", "F1", "precision after", "recall", "F1")
    rows = [[band.length_band, f"{band.n_pairs:,}", *shares(band.before), *shares(band.after)] for band in tuned.bands]
    print_table(rows, headers=headers, right=range(1, len(headers)))
    changed = "no other way was clearly better" if tuned.way == AS_IT_IS else "measured by cross-validation"
    still_wrong = (
        f"{len(tuned.wrong):,} of these pairs, judged by the configuration that was fitted to them; "
        "for new pairs, expect the measures after tuning"
    )
    print_table([["changed", f"{tuned.way}; {changed}"], ["written to", output], ["still wrong", still_wrong]])
    for warning in tuned.warnings:
        typer.echo(f"note: {warning}", err=True)


def _intervals(reached: Reached) -> list[str]:
    measures = reached.measures
    values = (measures.precision, measures.recall, measures.f1)
    return list(map(_with_interval, values, (reached.precision, reached.recall, reached.f1)))


def _with_interval(value: float | None, interval: Interval | None) -> str:
    return "-" if value is None or interval is None else f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"
