"""Output of `hybriddup evaluate` and `hybriddup tune`: measures as text, and wrongly judged pairs."""

from __future__ import annotations

import json

import numpy as np

from hybriddup.data.records import Float64s, Int64s, LabeledPairs
from hybriddup.files.outputs import Output
from hybriddup.study.evaluate import CurvePoint, Measures, ScoredPairs


def shares(measures: Measures | CurvePoint) -> list[str]:
    """Return precision, recall and F1 as texts; an undefined value is a dash."""
    values = (measures.precision, measures.recall, measures.f1)
    return ["-" if value is None else f"{value:.3f}" for value in values]


def write_wrong_pairs(
    target: Output, pairs: LabeledPairs, scored: ScoredPairs, thresholds: Float64s, places: Int64s
) -> None:
    """Write the pairs at the indices ``places`` as JSON Lines, each with texts, label, score and threshold of its band.

    The score is null if the pair is not a candidate, or if its length band has no verifier or a combination of several.
    """
    with target.open() as stream:
        for place in places.tolist():
            score, threshold = float(scored.scores[place]), float(thresholds[scored.bands[place]])
            line = {
                "a": pairs.a[place],
                "b": pairs.b[place],
                "label": int(pairs.labels[place]),
                "score": None if np.isnan(score) else score,
                "threshold": None if np.isnan(threshold) else threshold,
            }
            stream.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
