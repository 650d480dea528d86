"""`hybriddup evaluate`: measure precision and recall of a configuration on labeled pairs."""

from __future__ import annotations

from typing import Annotated

from hybriddup.cli import options
from hybriddup.cli.options import DEFAULT_CONFIG, EXIT_CODES, flag

EPILOG = f"""\b
Examples:
  hybriddup evaluate pairs.jsonl
  hybriddup evaluate pairs.csv --config mine.yaml --json
  hybriddup evaluate pairs.jsonl --curve --wrong wrong.jsonl

PAIRS has three fields or columns: a and b, the texts, and label: 1, true or "duplicate" if they should match; 0, false
or "different" if not. Recall of stage 1 bounds the recall of the decision: a pair it misses is never compared. The
curve shows the measures for each threshold, used for all length bands.

{EXIT_CODES}"""

MEASURES = ("precision", "recall", "F1")
HEADERS = ("length", "pairs", "duplicates", *MEASURES, *(f"stage 1 {measure}" for measure in MEASURES))
CURVE_HEADERS = ("threshold", "duplicates found", *MEASURES)


def evaluate(
    pairs: options.Pairs,
    config: options.Config = DEFAULT_CONFIG,
    curve: Annotated[
        bool, flag("--curve", "Also print precision and recall for every threshold from 0.05 to 1.")
    ] = False,
    wrong: options.Wrong = None,
    force: options.Force = False,
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
    """Measure precision, recall and F1 on labeled pairs, by length of text.

    The measures are given for the decision, and for the search for candidate pairs alone (stage 1).
    """
    import numpy as np

    from hybriddup.cli.labeled import shares, write_wrong_pairs
    from hybriddup.cli.printing import print_json, print_table
    from hybriddup.cli.summary_view import print_bad_records
    from hybriddup.config import open_session
    from hybriddup.files.outputs import WRONG_PAIRS, Outputs
    from hybriddup.files.pairs import PairFields, read_pairs
    from hybriddup.run.terminal import show_progress
    from hybriddup.steps.parallel import available_workers
    from hybriddup.study.evaluate import curve_of, score_labeled, thresholds_of
    from hybriddup.study.evaluate import evaluate as judge

    settings, manager = open_session(config, plugins or ())
    reading = options.reading(format_name, max_line, encoding, delimiter)
    with Outputs([pairs], force=force) as outputs:
        target = None if wrong is None else outputs.add(wrong, "--wrong", WRONG_PAIRS)
        labeled, bad = read_pairs(pairs, manager.registry, reading, PairFields(a_field, b_field, label_field))
        with show_progress(quiet=as_json) as progress:
            evaluation = judge(labeled, settings, manager.registry, workers=workers, progress=progress)
        points = []
        if curve or target is not None:
            scored = score_labeled(labeled, settings, manager.registry, workers or available_workers())
            points = list(curve_of(scored)) if curve else []
            if target is not None:
                places = np.sort(np.concatenate([evaluation.missed, evaluation.mistaken]))
                write_wrong_pairs(target, labeled, scored, thresholds_of(settings), places)
        outputs.commit()
    if as_json:
        more = {"curve": [point._asdict() for point in points]} if curve else {}
        print_json({"config": config, "n_bad_lines": len(bad), **evaluation.to_dict(), **more})
    else:
        bands = [evaluation.total, *evaluation.bands]
        counts = [[band.length_band, f"{band.n_pairs:,}", f"{band.decision.n_wanted:,}"] for band in bands]
        rows = [[*n, *shares(band.decision), *shares(band.stage_1)] for n, band in zip(counts, bands, strict=True)]
        print_table(rows, headers=HEADERS, right=range(1, len(HEADERS)))
        print_table([["config", config], ["recipe id", evaluation.recipe_id]])
        if points:
            rows = [[f"{point.threshold:.2f}", f"{point.n_found:,}", *shares(point)] for point in points]
            print_table(rows, headers=CURVE_HEADERS, right=range(len(CURVE_HEADERS)))
    options.exit_with(print_bad_records(bad, len(bad), "left out of the measures"))
